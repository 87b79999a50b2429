package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/trace"
)

// Three of four ranks have a main thread in the trace. The path has 70 of a region in which each
// spends 30 on average: 40 too many. Of another it has less than the mean, and calls do not count.
// The busiest rank computes 100 and the mean is 50, so no more than 50 can be saved.
func TestUnevenOnPath(t *testing.T) {
	uneven := func(path int64) int64 {
		a := newEvidence(&accounts.Accounts{
			Ranks: make([]trace.Rank, 4), MainOf: []int{0, 1, -1, 2},
			Each: []accounts.Account{{Compute: 60}, {Compute: 100}, {Compute: 40}},
			Total: map[accounts.Activity]*accounts.Tally{
				{Function: 1, Next: 2}: {Ns: 120, Path: 70}, {Function: 2, Next: 1}: {Ns: 80, Path: path}, {Function: 1}: {Ns: 40, Path: 1000},
			},
		}, nil)
		return unevenOnPath(a)
	}
	assert.EqualValues(t, 40, uneven(5))
	assert.EqualValues(t, 45, uneven(25))
	assert.EqualValues(t, 50, uneven(60))
}
