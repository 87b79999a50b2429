package detail_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

const unit = tracetest.Unit

func take(t *testing.T, b *tracetest.Builder, w detail.Window) *detail.Detail {
	t.Helper()
	tr := timeline.Of(b.Open(t))
	j, err := eventlog.Record(t.Context(), tr, nil)
	require.NoError(t, err)
	t.Cleanup(j.Close)
	d, err := detail.Take(t.Context(), j, func(function uint16, site uint32) (string, string) {
		return tr.Function(function).Name, ""
	}, w)
	require.NoError(t, err)
	return d
}

// TestCallsAndMessagesOfAWindow: a late sender, with calls before, after and on another rank.
func TestCallsAndMessagesOfAWindow(t *testing.T) {
	b := tracetest.New(3)
	b.Rank(0).Init(0, 5).Send(10, 11, 1).Send(40, 41, 1).Send(50, 51, 2).Finalize(90, 91)
	b.Rank(1).Init(0, 5).Recv(10, 12, 0, 0).Recv(20, 42, 0, 0).Finalize(90, 91)
	b.Rank(2).Init(0, 5).Recv(30, 52, 0, 0).Finalize(90, 91)
	d := take(t, b, detail.Window{Start: 0, From: 25 * unit, To: 60 * unit, Ranks: []int{1, 0}})
	assert.Equal(t, []detail.Call{
		{Rank: 1, Function: "MPI_Recv", BeginNS: 20 * unit, EndNS: 42 * unit},
		{Rank: 0, Function: "MPI_Send", BeginNS: 40 * unit, EndNS: 41 * unit},
		{Rank: 0, Function: "MPI_Send", BeginNS: 50 * unit, EndNS: 51 * unit},
	}, d.Calls)
	require.Len(t, d.Messages, 1, "rank 2 is not shown")
	m := d.Messages[0]
	assert.Equal(t, []int64{1, 0, 40 * unit, 42 * unit}, []int64{int64(m.From), int64(m.To), m.SentNS, m.ReceivedNS})
	assert.Equal(t, []int{1, 0}, d.Ranks)
}

// TestCollectivesAreNoMessages: dependencies between participants of a collective are not shown as
// messages.
func TestCollectivesAreNoMessages(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 5).Collective("MPI_Barrier", 10+float64(i), 20).Finalize(30, 31)
	})
	d := take(t, b, detail.Window{From: 0, To: 40 * unit, Ranks: []int{0, 1, 2, 3}})
	assert.Len(t, d.Calls, 12)
	assert.Empty(t, d.Messages)
}

// TestWindowIsNarrowed: the window is narrowed around its middle to the maximum number of calls.
func TestWindowIsNarrowed(t *testing.T) {
	d := take(t, tracetest.Stencil{Ranks: 4, Iterations: 5000, Work: func(int, int) float64 { return 5 }}.Build(),
		detail.Window{From: 0, To: 25_000 * unit, Ranks: []int{0, 1, 2, 3}})
	assert.LessOrEqual(t, len(d.Calls), detail.MaxCalls)
	assert.Greater(t, len(d.Calls), detail.MaxCalls*9/10)
	assert.InDelta(t, 12_500*unit, float64(d.FromNS+d.ToNS)/2, 10*unit)
	for _, c := range d.Calls {
		assert.True(t, c.EndNS >= d.FromNS && c.BeginNS <= d.ToNS)
	}
	for _, m := range d.Messages {
		assert.Equal(t, 1, max(d.Calls[m.From].Rank-d.Calls[m.To].Rank, d.Calls[m.To].Rank-d.Calls[m.From].Rank), "between neighbors")
	}
}
