package merger

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// placed is a rank that passes a heap buffer, and a pointer to memory that nothing is known of,
// from work, called by main. Its tables are in one order or, swapped, in another, with an entry
// that nothing uses.
func placed(t *testing.T, rank int, swapped bool) *trace.Content {
	t.Helper()
	mainSite := trace.Site{BuildID: "aa", Module: "app", Offset: 0x900}
	work := trace.Site{BuildID: "aa", Module: "app", Offset: 0x100}
	allocation := trace.Site{BuildID: "bb", Module: "lib.so", Offset: 0x10}
	c := &trace.Content{
		Meta:      trace.Meta{World: "w", WorldSize: 2, CallSites: "path"},
		Functions: []trace.Function{{ID: 1, Name: "MPI_F", Return: "int", Parameters: []trace.Parameter{{Name: "b", Kind: "buffer", Direction: trace.In}, {Name: "c", Kind: "buffer", Direction: trace.In}}}},
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
		In: []trace.Value{{Form: trace.Pointer, Int: segment, Offset: 8}, {Form: trace.Pointer}},
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
		require.Equal(t, []trace.Value{{Form: trace.Pointer, Int: 1, Offset: 8}, {Form: trace.Pointer}}, a.Signatures[0].In)
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

// made is a rank that calls MPI from sites on a call path each, once per entry.
func made(rank int, sites ...[]trace.Site) *trace.Content {
	c := &trace.Content{
		Meta:      trace.Meta{World: "w", WorldSize: 2, CallSites: "path"},
		Functions: []trace.Function{{ID: 1, Name: "MPI_F", Return: "int"}},
		Grammar:   grammar.Grammar{Rules: [][]grammar.Symbol{nil}},
		Ranks:     trace.NewRankTable(trace.Rank{Rank: rank, Host: "h", PID: rank}),
	}
	thread := trace.Thread{Rank: rank}
	for i, path := range sites {
		caller := uint32(0)
		for _, s := range path {
			s.Caller = caller
			c.Sites = append(c.Sites, s)
			caller = uint32(len(c.Sites))
		}
		c.Signatures = append(c.Signatures, trace.Signature{Function: 1, Site: caller, OwnRank: -1, Return: trace.Value{Form: trace.Int}})
		c.Grammar.Rules[0] = append(c.Grammar.Rules[0], grammar.Symbol{Value: int32(i), Count: 1})
		thread.Calls++
		thread.Gaps, thread.Durations = append(thread.Gaps, 1), append(thread.Durations, 1)
	}
	c.Threads = trace.NewThreadTable(thread)
	return c
}

// TestCallsOfOneSourceLineAreOneSite: two ranks make a call each. The oracle is the table.
func TestCallsOfOneSourceLineAreOneSite(t *testing.T) {
	at := func(module string, offset uint64, function string, line int) trace.Site {
		s := trace.Site{BuildID: module, Module: module, Offset: offset, Function: function, Line: line}
		if line > 0 {
			s.File = "/src/a.cc"
		}
		return s
	}
	elsewhere := at("a", 3, "f", 5)
	elsewhere.File = "/other/a.cc"
	detour := at("b", 7, "f", 5)
	detour.File = "/build/../src/a.cc"
	for name, c := range map[string]struct {
		x, y []trace.Site
		one  bool
	}{
		"inlined twice":           {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{at("a", 2, "f", 5)}, true},
		"two binaries":            {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{at("b", 1, "f", 5)}, true},
		"another way to the file": {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{detour}, true},
		"two instances":           {[]trace.Site{at("a", 1, "n::f<int>", 5)}, []trace.Site{at("a", 2, "n::f<std::list<int> >", 5)}, true},
		"two lines":               {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{at("a", 2, "f", 6)}, false},
		"two functions":           {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{at("a", 2, "g", 5)}, false},
		"two files":               {[]trace.Site{at("a", 1, "f", 5)}, []trace.Site{elsewhere}, false},
		"no lines":                {[]trace.Site{at("a", 1, "f", 0)}, []trace.Site{at("a", 2, "f", 0)}, false},
		"no lines, two binaries":  {[]trace.Site{at("a", 1, "f", 0)}, []trace.Site{at("b", 1, "f", 0)}, false},
		"callers are one": {
			[]trace.Site{at("a", 9, "main", 20), at("a", 1, "f", 5)}, []trace.Site{at("a", 8, "main", 20), at("a", 2, "f", 5)}, true,
		},
		"two callers": {
			[]trace.Site{at("a", 9, "main", 20), at("a", 1, "f", 5)}, []trace.Site{at("a", 8, "main", 21), at("a", 1, "f", 5)}, false,
		},
		"one caller is unknown": {
			[]trace.Site{at("a", 9, "", 0), at("a", 1, "f", 5)}, []trace.Site{at("a", 8, "main", 21), at("a", 1, "f", 5)}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := Merge([]*trace.Content{made(0, c.x), made(1, c.y)}, Options{Final: true})
			require.NoError(t, err)
			require.NoError(t, merged.Validate())
			swapped, err := Merge([]*trace.Content{made(1, c.y), made(0, c.x)}, Options{Final: true})
			require.NoError(t, err)
			require.Equal(t, merged, swapped, "the order of arrival does not show")
			if !c.one {
				require.Len(t, merged.Signatures, 2)
				return
			}
			require.Len(t, merged.Sites, len(c.x))
			require.Len(t, merged.Signatures, 1)
			shard, err := Merge([]*trace.Content{made(0, c.x), made(1, c.y)}, Options{})
			require.NoError(t, err)
			require.Len(t, shard.Signatures, 2, "symbols of a shard may come later")
			again, err := Merge([]*trace.Content{shard}, Options{Final: true})
			require.NoError(t, err)
			require.Equal(t, merged, again, "a tree of merges makes the same trace")

			both, err := Merge([]*trace.Content{made(0, c.x, c.y), made(1, c.y, c.y, c.x)}, Options{Final: true})
			require.NoError(t, err)
			require.NoError(t, both.Validate())
			for i := range both.Signatures {
				require.Equal(t, both.Signatures[0].Site, both.Signatures[i].Site, "also on one thread")
			}
		})
	}
}

// TestEvidenceFollowsItsSites: measurements between calls of one line have one
// site, like the calls.
func TestEvidenceFollowsItsSites(t *testing.T) {
	at := func(offset uint64) []trace.Site {
		return []trace.Site{{BuildID: "a", Module: "a", Offset: offset, Function: "f", File: "/a.c", Line: 5}}
	}
	var inputs []*trace.Content
	for rank := range 2 {
		c := made(rank, at(uint64(rank+1)), at(uint64(rank+5)))
		c.Ranks = trace.NewRankTable(trace.Rank{Rank: rank, Host: "h", PID: rank, Evidence: []trace.EvidenceRow{
			{EvidenceKey: trace.EvidenceKey{After: trace.CallSite{Function: 1, Site: 1}, Before: trace.CallSite{Function: 1, Site: 2}}, Count: 1, WallNS: 1 << 30},
			{EvidenceKey: trace.EvidenceKey{After: trace.CallSite{Function: 1, Site: 2}, Before: trace.CallSite{Function: 1, Site: 1}}, Count: 1, WallNS: 1 << 30},
		}})
		inputs = append(inputs, c)
	}
	merged, err := Merge(inputs, Options{Final: true})
	require.NoError(t, err)
	require.NoError(t, merged.Validate())
	require.Len(t, merged.Sites, 1)
	for _, r := range merged.Ranks.All() {
		require.Len(t, r.Evidence, 2)
		for _, row := range r.Evidence {
			require.Equal(t, trace.EvidenceKey{After: trace.CallSite{Function: 1, Site: 1}, Before: trace.CallSite{Function: 1, Site: 1}}, row.EvidenceKey)
		}
	}
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, merged))
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	for _, rank := range r.Ranks().All() {
		require.Len(t, rank.Evidence, 2, "after writing and reading")
	}
}
