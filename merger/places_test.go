package merger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// placed is a rank that sends a heap buffer from work, called by main. Its
// tables are in the order that order asks for, with an entry that nothing uses.
func placed(t *testing.T, rank int, swapped bool) *trace.Content {
	t.Helper()
	mainSite := trace.Site{BuildID: "aa", Module: "app", Offset: 0x900}
	work := trace.Site{BuildID: "aa", Module: "app", Offset: 0x100}
	allocation := trace.Site{BuildID: "bb", Module: "lib.so", Offset: 0x10}
	c := &trace.Content{
		Meta:      trace.Meta{World: "w", WorldSize: 2, CallSites: "path"},
		Functions: []trace.Function{{ID: 1, Name: "MPI_F", Return: "int", Parameters: []trace.Parameter{{Name: "b", Kind: "buffer", Direction: trace.In}}}},
		Grammar:   grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: 3}}}},
		Ranks:     trace.NewRankTable(trace.Rank{Rank: rank, Host: "h", PID: rank}),
		Threads:   trace.NewThreadTable(trace.Thread{Rank: rank, Calls: 3, Gaps: []int64{0, 1, 1}, Durations: []int64{1, 1, 1}}),
	}
	heap := trace.Allocation{Kind: trace.HeapAllocation, Size: 64, Ordinal: 1}
	stack := trace.Allocation{Kind: trace.StackAllocation}
	var site uint32
	var segment int64
	if swapped {
		work.Caller = 2
		c.Sites, site = []trace.Site{allocation, mainSite, work}, 3
		heap.Site = 1
		c.Allocations, segment = []trace.Allocation{stack, heap}, 2
	} else {
		work.Caller = 1
		c.Sites, site = []trace.Site{mainSite, work, allocation}, 2
		heap.Site = 3
		c.Allocations, segment = []trace.Allocation{heap, stack}, 1
	}
	c.Signatures = []trace.Signature{{
		Function: 1, Site: site, OwnRank: -1, Return: trace.Value{Form: trace.Int},
		In: []trace.Value{{Form: trace.Pointer, Int: segment, Offset: 8}},
	}}
	require.NoError(t, c.Validate())
	return c
}

func TestEqualPlacesBecomeOne(t *testing.T) {
	for _, final := range []bool{false, true} {
		a, err := Merge([]*trace.Content{placed(t, 0, false), placed(t, 1, true)}, Options{Final: final})
		require.NoError(t, err)
		b, err := Merge([]*trace.Content{placed(t, 1, true), placed(t, 0, false)}, Options{Final: final})
		require.NoError(t, err)
		require.Equal(t, a, b, "the order of arrival does not show")
		require.NoError(t, a.Validate())
		require.Len(t, a.Signatures, 1, "both ranks do the same")
		require.Len(t, a.Allocations, 1, "what no call uses is dropped")
		require.Equal(t, trace.Allocation{Kind: trace.HeapAllocation, Size: 64, Ordinal: 1, Site: a.Allocations[0].Site}, a.Allocations[0])
		require.Equal(t, uint64(0x10), a.Sites[a.Allocations[0].Site-1].Offset)
		var offsets []uint64
		for s := range trace.CallPath(a.Sites, &a.Sites[a.Signatures[0].Site-1]) {
			offsets = append(offsets, s.Offset)
		}
		require.Equal(t, []uint64{0x100, 0x900}, offsets)
	}
}

func TestOnePlaceReachedOnTwoPathsIsTwo(t *testing.T) {
	a, b := placed(t, 0, false), placed(t, 1, false)
	b.Sites[0].Offset = 0x901
	merged, err := Merge([]*trace.Content{a, b}, Options{Final: true})
	require.NoError(t, err)
	require.Len(t, merged.Signatures, 2)
	require.Len(t, merged.Sites, 5)
}
