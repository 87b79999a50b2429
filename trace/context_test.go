package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// withContext is a trace of two ranks with all that the context block holds.
func withContext() *Content {
	c := stencil(2, 12, true)
	c.Meta.Excluded = []string{"io", "rma"}
	c.Communicators[1].RemoteWorld = "another"
	c.Ranks.Change(0, func(r *Rank) {
		r.Context = []ContextSample{
			{MonotonicNS: 1 << 30, CPUNS: 5 << 20, VoluntarySwitches: 3, ThrottledPeriods: -1, ThrottledNS: -1, CPU: 7},
			{MonotonicNS: 2 << 30, CPUNS: 9 << 27, VoluntarySwitches: 4, InvoluntarySwitches: 90, ThrottledPeriods: -1, ThrottledNS: -1, CPU: -1, RunDelayNS: 4 << 26, StealNS: 7 << 26},
		}
	})
	c.Ranks.Change(1, func(r *Rank) {
		r.Context = []ContextSample{{MonotonicNS: 5 << 24, CPUNS: 1 << 16, ThrottledPeriods: 12, ThrottledNS: 3 << 26, StealNS: Unknown}}
		r.EndedEarly, r.End = "killed in MPI_Recv", &End{
			Ticks: 1 << 40, Signal: 9, ExitCode: -1, Order: 3, CalledExit: true, OutOfMemory: true, MemoryLimit: 2 << 30, MemoryUsed: math.MaxInt64 - 1,
			Look: Look{Age: 1, Watched: 1 << 30, Ran: math.MaxInt64 - 1, State: 'S'},
		}
	})
	c.Meta.Launcher = &Launcher{ExitCode: 137, Signal: 9, Asked: 15}
	return c
}

func TestContextIsKept(t *testing.T) {
	c := withContext()
	got, err := opened(t, written(t, c)).Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty(), listed))
	require.Nil(t, got.Ranks.At(0).End)
	require.Equal(t, c.Ranks.At(1).End, got.Ranks.At(1).End)
}

// Machines without steal, or where nothing is stolen, cost next to nothing.
func TestNoStealIsSmall(t *testing.T) {
	of := func(steal int64) int {
		c := stencil(64, 12, true)
		for i := range c.Ranks.Len() {
			c.Ranks.Change(i, func(r *Rank) {
				r.Context = make([]ContextSample, 32)
				for k := range r.Context {
					r.Context[k] = ContextSample{MonotonicNS: int64(k) * 1e8, StealNS: steal}
				}
			})
		}
		return len(written(t, c))
	}
	require.InDelta(t, of(Unknown), of(0), 64)
}

func TestStealOfARank(t *testing.T) {
	for name, test := range map[string]struct {
		samples []int64
		want    int64
		known   bool
	}{
		"none":              {nil, 0, false},
		"one sample":        {[]int64{0}, 0, false},
		"unknown":           {[]int64{-1, -1}, 0, false},
		"unknown after all": {[]int64{0, -1, -1}, 0, false},
		"some":              {[]int64{0, -1, 5, 5, 9}, 9, true},
		"zero":              {[]int64{0, 0}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var r Rank
			for _, ns := range test.samples {
				r.Context = append(r.Context, ContextSample{StealNS: ns})
			}
			ns, known := r.StealNS()
			require.Equal(t, test.known, known)
			require.Equal(t, test.want, ns)
		})
	}
}

// The first sample's time is in steps of 2^24 ns; everything else is its growth, rounded. Unknown
// values stay unknown, and decreasing values stay constant.
func TestContextIsRounded(t *testing.T) {
	table := NewRankTable(Rank{Context: []ContextSample{
		{MonotonicNS: 3<<24 + 1<<19 - 1, CPUNS: 3<<16 + 32768, VoluntarySwitches: 12345, ThrottledPeriods: -1, ThrottledNS: -1, CPU: -1, StealNS: Unknown},
		{MonotonicNS: 4<<24 + 1<<19 + 1<<15, CPUNS: 32767, VoluntarySwitches: 12385, ThrottledNS: 0, CPU: 3, StealNS: 1},
		{MonotonicNS: 5<<24 + 1<<40, CPUNS: 4<<16 + 1000<<16, VoluntarySwitches: 12385, ThrottledNS: 9 << 16, StealNS: Unknown},
	}})
	require.Equal(t, []ContextSample{
		{MonotonicNS: 3 << 24, CPUNS: 4 << 16, VoluntarySwitches: 12288, ThrottledPeriods: -1, ThrottledNS: -1, CPU: -1, StealNS: Unknown},
		{MonotonicNS: 4 << 24, CPUNS: 4 << 16, VoluntarySwitches: 12385, ThrottledNS: 0, CPU: 3},
		{MonotonicNS: 4<<24 + 1<<40, CPUNS: 4<<16 + 1000<<16, VoluntarySwitches: 12385, ThrottledNS: 9 << 16, StealNS: Unknown},
	}, table.At(0).Context)
}

// For any samples, the error of each count is at most the rounding error of its last step.
func TestContextIsNear(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var samples []ContextSample
		s := ContextSample{CPU: Unknown, MonotonicNS: random.Int64N(1 << 50)}
		for range 1 + random.IntN(40) {
			step := func() int64 { return random.Int64N(1 << random.IntN(40)) }
			s.MonotonicNS, s.CPUNS, s.RunDelayNS, s.VoluntarySwitches = s.MonotonicNS+step(), s.CPUNS+step(), s.RunDelayNS+step(), s.VoluntarySwitches+step()
			samples = append(samples, s)
		}
		table := NewRankTable(Rank{Context: samples})
		got := table.At(0).Context
		require.Len(t, got, len(samples))
		require.InDelta(t, samples[0].MonotonicNS, got[0].MonotonicNS, 1<<23)
		for i := range got {
			before := ContextSample{MonotonicNS: samples[0].MonotonicNS}
			if i > 0 {
				before = samples[i-1]
			}
			for _, c := range [][4]int64{
				{before.CPUNS, samples[i].CPUNS, got[i].CPUNS, 1 << 15}, {before.RunDelayNS, samples[i].RunDelayNS, got[i].RunDelayNS, 1 << 15},
				{before.VoluntarySwitches, samples[i].VoluntarySwitches, got[i].VoluntarySwitches, 0},
			} {
				// the step starts from the sample before as a reader knows it, which has an error
				// of its own
				require.InDelta(t, c[1], c[2], float64(c[1])/128+float64(c[3])+1, i)
				require.GreaterOrEqual(t, c[1], c[0])
			}
		}
		again := NewRankTable(Rank{Context: got})
		require.Equal(t, got, again.At(0).Context)
	}
}

// Missing data takes no space.
func TestNoContextNoBlock(t *testing.T) {
	entries, _ := blocksOf(t, written(t, stencil(2, 12, true)))
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.NotEqual(t, blockContext, e.Kind)
	}
}

// An ignored status is recorded, together with the fact that it was ignored.
func TestIgnoredStatus(t *testing.T) {
	status := Value{Form: Status, List: []Value{{Form: Int, Int: 1}, {Form: Int, Int: 7}, {Form: Int}, {Form: Int}, {Form: Int, Int: 16}}}
	c := one([]Function{{ID: 1, Name: "MPI_Probe", Class: "probe", Return: "int", Parameters: []Parameter{
		{Name: "source", Kind: "rank", Direction: In}, {Name: "status", Kind: "status", Direction: Out},
	}}}, []Signature{
		{Function: 1, OwnRank: -1, In: []Value{{Form: Int, Int: 1}}, Out: []Value{status}, Return: Value{Form: Int}},
		{Function: 1, OwnRank: -1, StatusIgnored: true, In: []Value{{Form: Int, Int: 1}}, Out: []Value{status}, Return: Value{Form: Int}},
	}, nil)
	cursor, err := opened(t, written(t, c)).Cursor(0, 0)
	require.NoError(t, err)
	require.True(t, cursor.Next())
	require.Equal(t, "MPI_Probe(source=1, status={source=1, tag=7, bytes=16}) = MPI_SUCCESS", cursor.Event().Text())
	require.NotContains(t, string(cursor.Event().AppendJSON(nil)), "status_ignored")
	require.True(t, cursor.Next())
	require.Equal(t, "MPI_Probe(source=1, status=MPI_STATUS_IGNORE→{source=1, tag=7, bytes=16}) = MPI_SUCCESS", cursor.Event().Text())
	require.Contains(t, string(cursor.Event().AppendJSON(nil)), `"status_ignored":true`)
}

func TestCallbacksAndUntracedCalls(t *testing.T) {
	c := one([]Function{{ID: 1, Name: "MPI_Op_create", Class: "op-create", Return: "int", Parameters: []Parameter{
		{Name: "user_fn", Kind: "function", Direction: In}, {Name: "op", Kind: "op", Direction: Out},
	}}}, []Signature{
		{Function: 1, OwnRank: -1, In: []Value{{Form: Code, Int: 1}}, Out: []Value{{Form: Handle}}, Return: Value{Form: Int}},
		{Function: 1, OwnRank: -1, Untraced: true, In: []Value{{Form: Code, Int: 2}}, Out: []Value{{Form: Handle}}, Return: Value{Form: Int}},
	}, nil)
	c.Sites = []Site{{Module: "app", Offset: 0x1001, Function: "add"}, {Module: "app", Offset: 0x2001}}
	cursor, err := opened(t, written(t, c)).Cursor(0, 0)
	require.NoError(t, err)
	require.True(t, cursor.Next())
	require.False(t, cursor.Event().Signature.Untraced)
	require.Equal(t, "MPI_Op_create(user_fn=add, op=op#0) = MPI_SUCCESS", cursor.Event().Text())
	require.True(t, cursor.Next())
	require.True(t, cursor.Event().Signature.Untraced)
	require.Equal(t, "MPI_Op_create(user_fn=app+0x2000, op=op#0) = MPI_SUCCESS", cursor.Event().Text())
	require.Contains(t, string(cursor.Event().AppendJSON(nil)), `"untraced":true`)

	c.Sites = c.Sites[:1]
	require.ErrorContains(t, c.Validate(), "no function at call site 2")
}
