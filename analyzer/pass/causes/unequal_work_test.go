package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUpperQuarter(t *testing.T) {
	assert.Len(t, upperQuarter(workersOf(0, 2, 2, 2, 2, 2, 2, 2, 2)), 1, "at least one")
	assert.Len(t, upperQuarter(workersOf(0, 1, 1, 1, 9, 1, 1, 1, 1)), 1, "only those above the mean")
	assert.Len(t, upperQuarter(workersOf(0, 1, 8, 1, 9, 1, 7, 1, 1)), 2)
	assert.Len(t, upperQuarter(workersOf(0, 1, 3)), 1)
}
