package verify

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/mpi"
)

// The memory limit leaves out arguments: these are no disagreements, but only in such calls.
func TestGeneralizedArguments(t *testing.T) {
	c := &comparison{generalized: true, call: &loggedCall{finished: true}}
	assert.Empty(t, c.absence(&mpi.Param{}, token{form: number}, true))
	c.generalized = false
	assert.NotEmpty(t, c.absence(&mpi.Param{}, token{form: number}, true))
}
