package reduce_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/histogram"
)

// histograms reduces a trace, writes the result and reads it again.
func histograms(t *testing.T, r *trace.Reader) (*trace.Histograms, int) {
	t.Helper()
	made, err := reduce.Histograms(context.Background(), r, 1000)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, trace.WriteHistograms(&file, made))
	h, err := trace.OpenHistograms(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	return h, file.Len()
}

// The calls of two ranks, counted by hand.
func TestHistogramsKnown(t *testing.T) {
	b := tracetest.New(2)
	b.Meta().Final = true
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		for k := range 4 {
			at := 10 * float64(k+1)
			if i == 0 {
				r.Call("MPI_Send", at, at+1, tracetest.Args{"dest": 1, "tag": k % 2, "count": 8 << k})
			} else {
				r.Call("MPI_Recv", at, at+2, tracetest.Args{"source": 0, "tag": k % 2, "count": 100,
					"status": tracetest.Status{Source: 0, Tag: k % 2, Bytes: 4 * (8 << k)}})
			}
		}
		r.Finalize(100, 101)
	})
	r := tracetest.Open(t, b.Content())
	h, _ := histograms(t, r)
	require.Equal(t, r.Threads().Calls(), h.Calls())
	require.Len(t, h.Clusters, 2)
	require.Equal(t, "0", h.Clusters[0].Ranks.String())
	send, recv := callOf(t, h, 0, "MPI_Send"), callOf(t, h, 1, "MPI_Recv")
	require.Equal(t, []uint64{4, 4}, []uint64{send.Calls, recv.Calls})
	require.Equal(t, int64(4e6), send.Durations.Sum)
	require.Equal(t, int64(8e6), recv.Durations.Sum)
	require.Equal(t, []histogram.Range{{Low: 8, High: 8, Count: 1}, {Low: 16, High: 16, Count: 1}, {Low: 32, High: 32, Count: 1}, {Low: 64, High: 64, Count: 1}},
		argumentOf(t, send, "count").Numbers.Bins)
	require.Equal(t, []histogram.Range{{Low: 0, High: 0, Count: 2}, {Low: 1, High: 1, Count: 2}}, argumentOf(t, send, "tag").Numbers.Bins)
	always, constant := argumentOf(t, recv, "status.source").Numbers.Constant()
	require.True(t, constant)
	require.Zero(t, always)
	require.Len(t, send.Gaps, 2) // after MPI_Init, and after itself
	sum := int64(0)
	for _, g := range send.Gaps {
		sum += g.Gaps.Sum
	}
	require.Equal(t, int64(9e6+3*9e6), sum)
	require.Equal(t, uint64(4), send.Unsized) // of a datatype that is not known
	require.Equal(t, []trace.TrafficBin{{Low: 1, High: 1, Messages: 4, Unsized: 4}}, h.Clusters[0].Traffic)
	require.Equal(t, int64(101e6), h.DurationNS)
	require.Contains(t, h.Meta.Notes[len(h.Meta.Notes)-1], "the order of calls")
	require.Equal(t, trace.HistogramsFrom{Bytes: 1000, Calls: r.Threads().Calls(), Signatures: len(r.Signatures()), Rules: len(r.Grammar().Rules)}, h.From)
}

func callOf(t *testing.T, h *trace.Histograms, cluster int, function string) *trace.CallHistogram {
	t.Helper()
	for i := range h.Clusters[cluster].Calls {
		if c := &h.Clusters[cluster].Calls[i]; h.Function(c.Function).Name == function {
			return c
		}
	}
	require.Fail(t, "no call of "+function)
	return nil
}

func argumentOf(t *testing.T, c *trace.CallHistogram, name string) *trace.ArgumentHistogram {
	t.Helper()
	for i := range c.Arguments {
		if c.Arguments[i].Name == name {
			return &c.Arguments[i]
		}
	}
	require.Fail(t, "no argument "+name)
	return nil
}

// plainCount is what the calls of a trace add up to, taken from their text as JSON: the oracle that
// shares nothing with the histograms.
type plainCount struct {
	calls, ns, counts, tags map[string]int64
}

func countPlainly(t *testing.T, r *trace.Reader) plainCount {
	t.Helper()
	p := plainCount{map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}}
	for _, th := range r.Threads().All() {
		cursor, err := r.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			var call struct {
				Function string
				Duration int64 `json:"duration_ns"`
				Args     map[string]any
			}
			require.NoError(t, json.Unmarshal(cursor.Event().AppendJSON(nil), &call))
			p.calls[call.Function]++
			p.ns[call.Function] += call.Duration
			if x, number := call.Args["count"].(float64); number {
				p.counts[call.Function] += int64(x)
			}
			if x, number := call.Args["tag"].(float64); number {
				p.tags[call.Function] += int64(x)
			}
		}
		require.NoError(t, cursor.Err())
	}
	return p
}

func countHistograms(h *trace.Histograms) plainCount {
	p := plainCount{map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}}
	for i := range h.Clusters {
		for k := range h.Clusters[i].Calls {
			c := &h.Clusters[i].Calls[k]
			name := h.Function(c.Function).Name
			p.calls[name] += int64(c.Calls)
			p.ns[name] += c.Durations.Sum
			for _, a := range c.Arguments {
				if a.Name == "count" && a.Numbers.Count > 0 {
					p.counts[name] += a.Numbers.Sum
				}
				if a.Name == "tag" && a.Numbers.Count > 0 {
					p.tags[name] += a.Numbers.Sum
				}
			}
		}
	}
	return p
}

// Whatever the program, sums are those of a plain count, and so is the sum of the matrix.
func TestHistogramsOfRandomPrograms(t *testing.T) {
	var traces []*trace.Reader
	for seed := range int64(4) {
		traces = append(traces, tracetest.Open(t, tracetest.Random(t, seed, 2+int(seed), 40, time.Millisecond)))
	}
	for seed := range uint64(2) {
		traces = append(traces, simulated(t, simulate.Config{Pattern: "random", Ranks: 6, Iterations: 60, Seed: seed, Imbalance: simulate.Imbalance{Noise: 40}}),
			simulated(t, simulate.Config{Pattern: "irregular", Ranks: 9, Iterations: 30, Seed: seed, Imbalance: simulate.Imbalance{Noise: 40}}))
	}
	for n, r := range traces {
		require.True(t, r.Meta().Final, n)
		h, _ := histograms(t, r)
		want, got := countPlainly(t, r), countHistograms(h)
		require.Equal(t, want.calls, got.calls, n)
		require.Equal(t, want.ns, got.ns, n)
		for name, sum := range want.counts {
			require.Equal(t, sum, got.counts[name], "%d %s", n, name)
		}
		for name, sum := range want.tags {
			require.Equal(t, sum, got.tags[name], "%d %s", n, name)
		}
		matrix, err := traffic.Matrix(r)
		require.NoError(t, err)
		estimate, known := traffic.Estimate(h, 1<<20)
		require.True(t, known)
		require.Equal(t, sumOf(matrix), sumOf(estimate), n)
		accuracy, err := reduce.CompareHistograms(r, h)
		require.NoError(t, err)
		require.Equal(t, []float64{0, 0, 0, 0}, []float64{accuracy.Calls, accuracy.Bytes, accuracy.Time, accuracy.Run}, n)
		require.LessOrEqual(t, accuracy.Medians, 0.25, n)
	}
}

func sumOf(list []traffic.Pair) (sum [3]uint64) {
	for _, t := range list {
		sum[0] += t.Messages
		sum[1] += t.Bytes
		sum[2] += t.Unsized
	}
	return sum
}

// The size does not grow with the run, nor with the number of ranks; the trace does.
func TestHistogramsDoNotGrow(t *testing.T) {
	size := func(pattern string, ranks, iterations int) int {
		_, n := histograms(t, simulated(t, simulate.Config{Pattern: pattern, Ranks: ranks, Iterations: iterations, Imbalance: simulate.Imbalance{Noise: 30}}))
		return n
	}
	for _, pattern := range []string{"irregular", "master-worker"} {
		small := size(pattern, 8, 40)
		require.LessOrEqual(t, float64(size(pattern, 8, 400)), 1.1*float64(small), pattern)
		require.LessOrEqual(t, float64(size(pattern, 32, 40)), 1.25*float64(small), pattern)
	}
}

// A rank that computes longer is not lost among the others.
func TestSlowRankIsItsOwnCluster(t *testing.T) {
	r := simulated(t, simulate.Config{Pattern: "irregular", Ranks: 12, Iterations: 40, Imbalance: simulate.Imbalance{SlowRank: 5, SlowPercent: 100}})
	h, _ := histograms(t, r)
	require.Len(t, h.Clusters, 2)
	require.Equal(t, "5", h.Clusters[1].Ranks.String())
}

// Of aggregated times the sums are exact.
func TestHistogramsOfAggregatedTimes(t *testing.T) {
	r := simulated(t, simulate.Config{Pattern: "master-worker", Ranks: 5, Iterations: 20, Imbalance: simulate.Imbalance{Noise: 30}, Timing: "aggregated"})
	h, _ := histograms(t, r)
	sum, want := int64(0), int64(0)
	for _, f := range h.Totals() {
		sum += f.DurationNS
	}
	for i, th := range r.Threads().All() {
		list, err := r.Aggregates(i)
		require.NoError(t, err)
		clock := r.Rank(th.Rank).Clock.Nanoseconds()
		for k := range list {
			want += clock(th.FirstTick+list[k].Durations.Sum) - clock(th.FirstTick)
		}
	}
	require.InEpsilon(t, want, sum, 0.001)
	a, err := reduce.CompareHistograms(r, h)
	require.NoError(t, err)
	require.Less(t, a.Time, 0.001)
	require.False(t, a.MediansKnown)
}
