package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEdgesOfCopies: groups of ranks that each form the pattern, numbered in any order, have
// edges of their own.
func TestEdgesOfCopies(t *testing.T) {
	m := Matrix{Order: 16}
	var want [][2]int
	for _, group := range [][]int{{0, 2, 4, 6, 8, 10, 12}, {15, 13, 11, 9, 7, 5, 3}} {
		for i, rank := range group {
			next := group[(i+1)%len(group)]
			m.Traffic = append(m.Traffic, Traffic{From: rank, To: next, Calls: 1, Bytes: 8})
			want = append(want, [2]int{min(rank, next), max(rank, next)})
		}
	}
	found := Identify(m, Options{})
	f := finding(found, m.Order)
	assert.Nil(t, f.Edges(), "without places nothing can be drawn")
	f.Places = places(found)
	assert.Equal(t, "2 of: ring of 7", f.Topology)
	assert.ElementsMatch(t, want, f.Edges())
}
