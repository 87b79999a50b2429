package reduce_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/replay"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/internal/simulate"
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
	content, err := whole.StreamedContent()
	require.NoError(t, err)
	require.NoError(t, reduce.Leads(content, found.LeadOf))
	return tracetest.Open(t, content), len(found.Leads)
}

// Chameleon reports 87% to 98% (§V.A); 95% are asked for here, on machines whose ranks do not compute equally long.
func TestAccuracy(t *testing.T) {
	for _, test := range []struct {
		name  string
		c     simulate.Config
		leads int
	}{
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
			clocks, err := clock.Analyze(context.Background(), timeline.Of(whole))
			require.NoError(t, err)
			measured, modelled, err := reduce.Compare(context.Background(), timeline.Of(whole), clocks.Clocks, timeline.Of(leads), replay.Network{Latency: 2000, PerByte: 0.1})
			require.NoError(t, err)
			t.Logf("as measured %.4g s and %.4g s, ACC %.4f; on another network %.4g s and %.4g s, ACC %.4f",
				measured.Whole, measured.Leads, measured.ACC, modelled.Whole, modelled.Leads, modelled.ACC)
			assert.GreaterOrEqual(t, measured.ACC, 0.95)
			assert.GreaterOrEqual(t, modelled.ACC, 0.95)
		})
	}
}

// Ranks that a lead stands for make its calls with their own peers: where clusters are alike but for the place, that is
// what they made.
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
	assert.Contains(t, leads.Meta().Notes[0], "that stand for all 32")
	timing := func(r *trace.Reader) int64 { return r.Sizes().Timing }
	assert.Less(t, timing(leads), timing(whole)*int64(n+1)/32+200)
	_, err := leads.StreamedContent()
	require.ErrorIs(t, err, trace.ErrLeads, "it cannot be written again")

	content, err := whole.Content()
	require.NoError(t, err)
	content.Meta.Final = false
	require.Error(t, reduce.Leads(content, func(int) int { return 0 }), "a shard")
	content.Meta.Final = true
	require.Error(t, reduce.Leads(content, func(rank int) int { return rank / 2 }), "a lead with a lead")
}

// Of ranks that were clustered while they ran a lead may have another rank's times, which are not kept: it gets its own.
func TestLeadsOfClusteredRanks(t *testing.T) {
	content := tracetest.Simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Iterations: 12, Periodic: true, Imbalance: simulate.Imbalance{Noise: 20}})
	from, to := uint64(30), uint64(60)
	content.Threads.Change(5, func(th *trace.Thread) {
		s := trace.StandIn{Vote: 1, Lead: 4}
		for k := from; k < to; k++ {
			s.Gap, s.Duration = s.Gap+th.Gaps[k], s.Duration+th.Durations[k]
			th.Gaps[k], th.Durations[k] = 0, 0
		}
		th.StandIns = []trace.StandIn{s}
	})
	for i := range content.Threads.Len() {
		content.Threads.Change(i, func(th *trace.Thread) { th.Marks = []uint64{from, to} })
	}
	content.Meta.Clustering = &trace.Clustering{Votes: make([]trace.Vote, 2)}
	whole := tracetest.Open(t, content)
	streamed, err := whole.StreamedContent()
	require.NoError(t, err)
	require.NoError(t, reduce.Leads(streamed, func(int) int { return 5 }))
	leads := tracetest.Open(t, streamed)
	assert.Equal(t, moments(t, whole, 5), moments(t, leads, 5))
	assert.Equal(t, moments(t, whole, 5), moments(t, leads, 4))
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
