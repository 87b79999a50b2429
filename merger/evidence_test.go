package merger

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// A finished trace has the largest instances of all ranks, of each kind, in the order in which
// each rank has them.
func TestLargestInstancesOfAllRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		var of processes
		var order []int32
		var walls, without []int64
		for i := range random.IntN(40) {
			r := trace.Rank{Rank: i, Evidence: []trace.EvidenceRow{{EvidenceKey: trace.EvidenceKey{Before: trace.CallSite{Function: 1}}, Count: 1}}}
			for k := range random.IntN(6) {
				e := trace.EvidenceInstance{BeginNS: int64(k+1) << 20, WallNS: (1 + random.Int64N(100)) << 13}
				e.CPUNS = random.Int64N(e.WallNS>>13) << 13
				r.Outliers = append(r.Outliers, e)
				walls, without = append(walls, e.WallNS), append(without, e.WallNS-e.CPUNS)
			}
			of.ranks.Append(r)
			order = append(order, int32(i))
		}
		kept := largestInstances(&of, order)
		var got []trace.EvidenceInstance
		for i, r := range of.ranks.All() {
			mine := kept[int32(i)]
			require.True(t, slices.IsSortedFunc(mine, func(a, b trace.EvidenceInstance) int { return cmp.Compare(a.BeginNS, b.BeginNS) }))
			for _, e := range mine {
				require.Contains(t, r.Outliers, e)
			}
			got = append(got, mine...)
		}
		require.LessOrEqual(t, len(got), 2*maxInstances)
		for _, kind := range []struct {
			all []int64
			of  func(e trace.EvidenceInstance) int64
		}{
			{walls, func(e trace.EvidenceInstance) int64 { return e.WallNS }},
			{without, func(e trace.EvidenceInstance) int64 { return e.WallNS - e.CPUNS }},
		} {
			var sizes []int64
			for _, e := range got {
				sizes = append(sizes, kind.of(e))
			}
			slices.Sort(sizes)
			slices.Sort(kind.all)
			n := min(maxInstances, len(kind.all))
			for k := range n { // rounding may make two equal
				require.InEpsilon(t, kind.all[len(kind.all)-1-k]+1, sizes[len(sizes)-1-k]+1, 0.02)
			}
		}
	}
}

func TestThreadsWorthARow(t *testing.T) {
	r := trace.Rank{
		PID:     10,
		Context: []trace.ContextSample{{}, {MonotonicNS: 1000}},
		Threads: []trace.ThreadUsage{
			{TID: 10, Name: "app", CPUNS: 0, CallsMPI: true},
			{TID: 12, Name: "worker", CPUNS: 5},
			{TID: 13, Name: "progress", CPUNS: 4, RunDelayNS: 900},
		},
	}
	require.Equal(t, []trace.ThreadUsage{
		{TID: 10, Name: "app", CallsMPI: true},
		{TID: 12, Name: "worker", CPUNS: 5},
	}, worthThreads(&r))
	r.Context = nil
	require.Len(t, worthThreads(&r), 3, "how long the run was is not known")
}
