package recent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/internal/recent"
)

// TestAt: keys that push each other out of their slots, and one whose value was made before, have
// the map's values.
func TestAt(t *testing.T) {
	before := 7
	all := map[int]*int{3: &before}
	var c recent.Cache[int, int]
	for range 2 {
		for k := range 40 {
			*c.At(all, k, uint32(k%2))++
		}
	}
	assert.Len(t, all, 40)
	for k, v := range all {
		want := 2
		if k == 3 {
			want = 9
		}
		assert.Equal(t, want, *v, k)
	}
}
