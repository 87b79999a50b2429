package reduce_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

func simulated(t testing.TB, config simulate.Config) *trace.Reader {
	t.Helper()
	return tracetest.Open(t, tracetest.Simulated(t, config))
}

// reduced is the trace of the leads, and how many there are.
func reduced(t *testing.T, whole *trace.Reader) (*trace.Reader, int) {
	t.Helper()
	found, err := clusters.Groups(context.Background(), timeline.Of(whole), clusters.Options{})
	require.NoError(t, err)
	choice, err := reduce.Choose(context.Background(), whole, &found)
	require.NoError(t, err)
	return tracetest.Open(t, ledBy(t, whole, choice.Of)), len(choice.Leads())
}

func ledBy(t *testing.T, whole *trace.Reader, lead func(rank int) int) *trace.Content {
	t.Helper()
	content, err := whole.StreamedContent()
	require.NoError(t, err)
	clocks, err := clock.Analyze(context.Background(), timeline.Of(whole))
	require.NoError(t, err)
	roles, err := timeline.Roles(context.Background(), timeline.Of(whole))
	require.NoError(t, err)
	require.NoError(t, reduce.Leads(content, clocks.Clocks, roles, lead))
	return content
}

// Chameleon reports 87% to 98% (§V.A); 95% are asked for here, on machines whose ranks do not
// compute equally long.
func TestAccuracy(t *testing.T) {
	for _, test := range []struct {
		name  string
		c     simulate.Config
		leads int
	}{
		// neighbors are functions of coordinates; at the first and last row they are farther away
		{"stencil", simulate.Config{Pattern: "stencil2d", Ranks: 36, Periodic: true}, 3},
		{"LU", simulate.Config{Pattern: "wavefront", Ranks: 36, Steps: 8}, 9},
		{"master and workers", simulate.Config{Pattern: "master-worker", Ranks: 16}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.c.Iterations, test.c.Bytes, test.c.CallSites, test.c.Compute = 40, 1024, "caller", 1_000_000
			test.c.Imbalance.Noise = 5
			whole := simulated(t, test.c)
			leads, n := reduced(t, whole)
			assert.Equal(t, test.leads, n)
			for _, a := range accuracies(t, whole, leads) {
				assert.GreaterOrEqual(t, a.ACC, 0.95)
			}
		})
	}
}

// networks are others than those that runs are simulated on: ideal, fast, slow.
var networks = []predict.Network{{}, {Latency: 2000, PerByte: 0.1}, {Latency: 50_000, PerByte: 1}}

func accuracies(t *testing.T, whole, leads *trace.Reader) []reduce.Accuracy {
	t.Helper()
	clocks, err := clock.Analyze(context.Background(), timeline.Of(whole))
	require.NoError(t, err)
	var all []reduce.Accuracy
	for _, n := range networks {
		a, err := reduce.Compare(context.Background(), timeline.Of(whole), clocks.Clocks, timeline.Of(leads), n)
		require.NoError(t, err)
		all = append(all, a)
	}
	return all
}

func judged(t *testing.T, r *trace.Reader) verdict.Verdict {
	t.Helper()
	found, err := pass.Find(t.Context(), timeline.Of(r), blame.Pass)
	require.NoError(t, err)
	return found
}

// TestLeadsSayWhatTheRunSays: for random programs with planted slow ranks, the leads' trace has the
// load balance, the verdict and, on networks that were not measured, the run time of the whole
// trace. 95% of the cases are required; the known answer is what was planted.
func TestLeadsSayWhatTheRunSays(t *testing.T) {
	patterns := []string{"stencil2d", "ring", "wavefront", "multipartition", "butterfly", "hypercube", "transpose", "tree"}
	const cases = 48
	random := rand.New(rand.NewPCG(12, 2)) //nolint:gosec // repeatable
	agree, accurate := 0, 0
	for i := range cases {
		c := simulate.Config{Pattern: patterns[i%len(patterns)], Ranks: 16, Iterations: 12, Bytes: 1024, CallSites: "caller",
			Compute: 500_000, Periodic: random.IntN(2) == 0, Cartesian: random.IntN(2) == 0, Seed: uint64(i)}
		c.Imbalance.Noise = 4 * random.Float64()
		planted := "balanced"
		switch random.IntN(4) {
		case 0:
			c.Imbalance.SlowRank, c.Imbalance.SlowPercent = random.IntN(16), 30+100*random.Float64()
			planted = fmt.Sprintf("rank %d computes %.0f%% longer", c.Imbalance.SlowRank, c.Imbalance.SlowPercent)
		case 1:
			c.RanksPerNode, c.Imbalance.SlowNode, c.Imbalance.SlowNodePercent = 4, random.IntN(4), 40+60*random.Float64()
			planted = fmt.Sprintf("node %d computes %.0f%% longer", c.Imbalance.SlowNode, c.Imbalance.SlowNodePercent)
		case 2:
			c.Imbalance.Linear = 100 * random.Float64()
			planted = fmt.Sprintf("the last rank computes %.0f%% longer than the first, the others in between", c.Imbalance.Linear)
		}
		whole := simulated(t, c)
		leads, n := reduced(t, whole)
		ok := true
		for _, a := range accuracies(t, whole, leads) {
			if ok = ok && a.Enough(); !a.Enough() {
				t.Logf("case %d, %s, %s, %d leads: %+v", i, c.Pattern, planted, n, a)
			}
		}
		if ok {
			accurate++
		}
		one, other := judged(t, whole), judged(t, leads)
		slow := fmt.Sprint(c.Imbalance.SlowRank)
		names := slices.ContainsFunc(one.Causes, func(c verdict.Cause) bool { return c.Ranks == slow })
		if one.Blames == other.Blames && one.Ranks == other.Ranks && (c.Imbalance.SlowPercent == 0 || names) {
			agree++
		} else {
			t.Logf("case %d, %s, %s, %d leads: %q, the leads: %q", i, c.Pattern, planted, n, one.Text, other.Text)
		}
	}
	t.Logf("verdicts that agree: %d of %d; times and load balances within 5%%: %d", agree, cases, accurate)
	assert.GreaterOrEqual(t, accurate, cases*95/100)
	assert.GreaterOrEqual(t, agree, cases*95/100)
}

// TestAccuracyCanFail: leads by peers alone lose the slow rank, and that shows. On an ideal network
// a run takes as long as its longest computation here: 10 iterations of 0.2 ms on rank 7, of 0.1 ms
// on all others, and the leads are others.
func TestAccuracyCanFail(t *testing.T) {
	whole := simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 25, Grid: []int{5, 5}, Cartesian: true, CallSites: "caller",
		Imbalance: simulate.Imbalance{SlowRank: 7, SlowPercent: 100}})
	byPeers := tracetest.Open(t, ledBy(t, whole, func(rank int) int { return []int{1, 6, 6, 6, 21}[rank/5] }))
	found := accuracies(t, whole, byPeers)
	assert.InDelta(t, 0.002, found[0].Whole.Seconds, 0.00005)
	assert.InDelta(t, 0.001, found[0].Leads.Seconds, 0.00005)
	assert.InDelta(t, 0.5, found[0].ACC, 0.03)
	assert.InDelta(t, 26.0/25/2, found[0].Whole.LoadBalance, 0.001)
	assert.InDelta(t, 1, found[0].Leads.LoadBalance, 0.001)
	for _, a := range found {
		assert.False(t, a.Enough())
	}
	leads, n := reduced(t, whole)
	assert.Equal(t, 10, n, "rank 7, and one for the inner ranks, each corner and each edge of the grid")
	for _, a := range accuracies(t, whole, leads) {
		assert.True(t, a.Enough())
	}
	assert.Equal(t, "7", judged(t, leads).Ranks)
}

// TestSlowAtOtherTimes: two ranks compute for as long in total, one in the first half of the run
// and one in the second, so neither's times represent the other's.
func TestSlowAtOtherTimes(t *testing.T) {
	content := tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 16, Iterations: 40, Compute: 1_000_000, CallSites: "caller"})
	for rank, half := range map[int]int{5: 0, 9: 1} {
		content.Threads.Change(rank, func(th *trace.Thread) {
			for i := 1; i+1 < len(th.Gaps); i++ {
				if 2*i/len(th.Gaps) == half {
					th.Gaps[i] *= 2
					th.EndTick += th.Gaps[i] / 2
				}
			}
		})
	}
	whole := tracetest.Open(t, content)
	found, err := clusters.Groups(context.Background(), timeline.Of(whole), clusters.Options{})
	require.NoError(t, err)
	assert.Equal(t, found.LeadOf(5), found.LeadOf(9), "in all they compute for as long")
	leads, n := reduced(t, whole)
	assert.GreaterOrEqual(t, n, 3)
	for _, a := range accuracies(t, whole, leads) {
		assert.True(t, a.Enough(), "%+v", a)
	}
}

// Ranks with a lead make its calls with their own peers: if clusters differ only in position, these
// are the recorded ones.
func TestPeersAreTransposed(t *testing.T) {
	for _, c := range []simulate.Config{
		{Pattern: "ring", Ranks: 7},
		{Pattern: "wavefront", Ranks: 64, Steps: 3, NoReplay: true},
		{Pattern: "stencil2d", Ranks: 25, Periodic: true, Cartesian: true, NoReplay: true},
	} {
		c.Iterations, c.Bytes, c.CallSites = 6, 64, "caller"
		whole := simulated(t, c)
		leads, _ := reduced(t, whole)
		for rank := range c.Ranks {
			assert.Equal(t, calls(t, whole, rank), calls(t, leads, rank), "%s, rank %d", c.Pattern, rank)
		}
	}
}

// calls are those of a rank as text.
func calls(t *testing.T, r *trace.Reader, rank int) []string {
	t.Helper()
	cursor, err := r.Cursor(rank, 0)
	require.NoError(t, err)
	var all []string
	for cursor.Next() {
		all = append(all, cursor.Event().Text())
	}
	require.NoError(t, cursor.Err())
	return all
}

func TestReducedTraces(t *testing.T) {
	whole := simulated(t, simulate.Config{Pattern: "ring", Ranks: 32, Iterations: 200, Bytes: 64, CallSites: "caller"})
	leads, n := reduced(t, whole)
	assert.Equal(t, 32, leads.Ranks().Len(), "all ranks are there")
	assert.Contains(t, leads.Meta().Notes[0], "that represent all 32")
	timing := func(r *trace.Reader) int64 { return r.Sizes().Timing }
	assert.Less(t, timing(leads), timing(whole)*int64(n+1)/32+200)
	_, err := leads.StreamedContent()
	require.ErrorIs(t, err, trace.ErrLeads, "it cannot be written again")

	content, err := whole.Content()
	require.NoError(t, err)
	content.Meta.Final = false
	require.Error(t, reduce.Leads(content, nil, make([]int, 32), func(int) int { return 0 }), "a shard")
	content.Meta.Final = true
	require.Error(t, reduce.Leads(content, nil, make([]int, 32), func(rank int) int { return rank / 2 }), "a lead with a lead")
}

// In a run with clustering a lead may have another rank's times, which are removed: it gets a copy.
func TestLeadsOfClusteredRanks(t *testing.T) {
	content := tracetest.Simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Iterations: 12, Periodic: true, Imbalance: simulate.Imbalance{Noise: 20}})
	from, to := uint64(30), uint64(60)
	content.Threads.Change(5, func(th *trace.Thread) {
		s := trace.Extrapolation{Vote: 1, Lead: 4}
		for k := from; k < to; k++ {
			s.Gap, s.Duration = s.Gap+th.Gaps[k], s.Duration+th.Durations[k]
			th.Gaps[k], th.Durations[k] = 0, 0
		}
		th.Extrapolations = []trace.Extrapolation{s}
	})
	for i := range content.Threads.Len() {
		content.Threads.Change(i, func(th *trace.Thread) { th.CallsAtVotes = []uint64{from, to} })
	}
	content.Meta.Clustering = &trace.Clustering{Votes: make([]trace.Vote, 2)}
	whole := tracetest.Open(t, content)
	streamed, err := whole.StreamedContent()
	require.NoError(t, err)
	require.NoError(t, reduce.Leads(streamed, nil, make([]int, 9), func(int) int { return 5 }))
	leads := tracetest.Open(t, streamed)
	assert.Equal(t, moments(t, whole, 5), moments(t, leads, 5))
	assert.Equal(t, moments(t, whole, 5), moments(t, leads, 4))
}

// TestThreadsOfLeadsHaveTheirRoles: a rank's threads made their first calls in another order than
// its lead's; each has the times of the thread that does the same.
func TestThreadsOfLeadsHaveTheirRoles(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		first, second := r.Thread(), r.Thread()
		io, work := first, second
		if i == 1 {
			io, work = second, first
		}
		for k := range 5 {
			io.At("io").Call("MPI_Barrier", float64(10*k+2), float64(10*k+4), tracetest.Args{"comm": "MPI_COMM_SELF"})
		}
		work.At("work").Call("MPI_Get_processor_name", 3, 9, nil)
	})
	whole := b.Open(t)
	content, err := whole.StreamedContent()
	require.NoError(t, err)
	content.Meta.Final = true
	roles, err := timeline.Roles(context.Background(), timeline.Of(whole))
	require.NoError(t, err)
	require.NoError(t, reduce.Leads(content, nil, roles, func(int) int { return 0 }))
	leads := tracetest.Open(t, content)
	for thread := 1; thread <= 2; thread++ {
		want, err := whole.Cursor(1, thread)
		require.NoError(t, err)
		got, err := leads.Cursor(1, thread)
		require.NoError(t, err)
		for want.Next() {
			require.True(t, got.Next())
			assert.Equal(t, want.Event().Function.Name, got.Event().Function.Name)
			assert.Equal(t, want.Event().EnterTicks, got.Event().EnterTicks)
		}
		assert.False(t, got.Next())
	}
}

// moments are the ticks of a rank's calls.
func moments(t *testing.T, r *trace.Reader, rank int) (all []int64) {
	t.Helper()
	cursor, err := r.Cursor(rank, 0)
	require.NoError(t, err)
	for cursor.Next() {
		all = append(all, cursor.Event().EnterTicks, cursor.Event().ExitTicks)
	}
	require.NoError(t, cursor.Err())
	return all
}
