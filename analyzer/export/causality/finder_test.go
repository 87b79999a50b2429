package causality

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// times are the corrected enters and exits of all calls, by location.
func times(t *testing.T, r *trace.Reader) (*Correction, [][][2]int64) {
	t.Helper()
	opened := timeline.Of(r)
	f := NewFinder(opened)
	_, err := match.All(t.Context(), opened, nil, f, f.See)
	require.NoError(t, err)
	c := f.Finish()
	all := make([][][2]int64, opened.Threads().Len())
	for i, l := range timeline.Locations(opened) {
		at := c.Of(i)
		require.NoError(t, timeline.EachOf(t.Context(), opened, i, l, nil, func(call *timeline.Call) error {
			enter := at.Enter(call.Enter)
			all[i] = append(all[i], [2]int64{enter, at.Exit(call.Index, call.Exit)})
			return nil
		}))
	}
	return c, all
}

// Known answers, by hand: units since the run began. What is moved ends Latency after its cause,
// and the next call of the thread is moved by 1% less of the time in between.
func TestRepairs(t *testing.T) {
	const u = tracetest.Unit
	known := tracetest.Status{Source: 1, Bytes: 8}
	for name, test := range map[string]struct {
		program  func(b *tracetest.Builder)
		rank     int
		call     int // after MPI_Init
		want     int64
		repaired uint64
	}{
		"nothing to do":            {func(b *tracetest.Builder) { b.Rank(0).Recv(2, 6, 1, 8); b.Rank(1).Send(5, 6, 0) }, 0, 1, 6 * u, 0},
		"received too early":       {func(b *tracetest.Builder) { b.Rank(0).Recv(2, 4, 1, 8); b.Rank(1).Send(5, 6, 0) }, 0, 1, 5*u + 1, 1},
		"a send ends when it does": {func(b *tracetest.Builder) { b.Rank(0).Recv(2, 4, 1, 8); b.Rank(1).Send(5, 6, 0) }, 1, 1, 6 * u, 1},
		"nonblocking": {func(b *tracetest.Builder) {
			b.Rank(0).Irecv(2, 3, 1, 7).Waitall(3, 4, tracetest.Requests{7}, known)
			b.Rank(1).Isend(5, 6, 0, 7).Waitall(6, 7, tracetest.Requests{7})
		}, 0, 2, 5*u + 1, 1},
		"a barrier": {func(b *tracetest.Builder) {
			b.Rank(0).Collective("MPI_Barrier", 2, 4)
			b.Rank(1).Collective("MPI_Barrier", 5, 6)
		}, 0, 1, 5*u + 1, 1},
		"the next call moves along": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 4, 1, 8).Send(14, 15, 1)
			b.Rank(1).Send(5, 6, 0).Recv(16, 17, 0, 8)
		}, 0, 2, 15*u + 1*u + 1 - 11*u/100, 1},
		"and what it causes moves, too": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 4, 1, 8).Send(4, 5, 1)
			b.Rank(1).Send(5, 6, 0).Recv(6, 6, 0, 8)
		}, 1, 2, 6 * u, 1}, // its cause is at 5
		"a chain": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 4, 1, 8).Send(4, 4.25, 1)
			b.Rank(1).Send(5, 5, 0).Recv(5, 5, 0, 8)
		}, 1, 2, 5*u + 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
			test.program(b)
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(100, 101) })
			r := b.Open(t)
			c, all := times(t, r)
			begin, _ := timeline.Of(r).Span(0)
			assert.Equal(t, test.want, all[test.rank][test.call][1]-begin)
			assert.Equal(t, test.repaired, c.Repaired)
		})
	}
}

// Random programs whose times are moved at random, rank by rank and call by call: the correction
// puts every message and barrier in order, no thread's time goes backward, and programs that are in
// order do not change.
func TestRepairsOfRandomPrograms(t *testing.T) {
	for seed := range int64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewSource(seed))
			ranks := 2 + random.Intn(4)
			b, now, calls := tracetest.New(ranks), make([]float64, ranks), make([]int, ranks)
			type order struct{ from, send, to, receive int }
			var causes []order
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 0.5) })
			call := func(i int) (enter, exit float64, n int) {
				now[i] += 1 + random.Float64()
				enter, exit = now[i], now[i]+random.Float64()
				now[i] = exit
				calls[i]++
				return enter, exit, calls[i]
			}
			for range 60 {
				from, to := random.Intn(ranks), random.Intn(ranks)
				if from == to {
					var parts []int
					b.Ranks(func(i int, r *tracetest.Rank) {
						enter, exit, n := call(i)
						r.Collective("MPI_Barrier", enter, exit)
						parts = append(parts, n)
					})
					for i := range parts {
						for k := range parts {
							causes = append(causes, order{i, parts[i], k, parts[k]})
						}
					}
					continue
				}
				enter, exit, n := call(from)
				b.Rank(from).Send(enter, exit, to)
				enter, exit, m := call(to)
				b.Rank(to).Recv(enter, exit, from, 8)
				causes = append(causes, order{from, n, to, m})
			}
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(1000, 1001) })
			c, all := times(t, b.Open(t))
			assert.Positive(t, c.Repaired)
			for _, o := range causes {
				if o.from != o.to {
					assert.Less(t, all[o.from][o.send][0], all[o.to][o.receive][1], "%+v", o)
				}
			}
			for _, one := range all {
				last := int64(0)
				for _, at := range one {
					assert.LessOrEqual(t, last, at[0])
					assert.LessOrEqual(t, at[0], at[1])
					last = at[1]
				}
			}
		})
	}
}

// The result does not depend on the order in which calls of different ranks are processed: slab by
// slab, as Find does, or in order of time.
func TestOrderOfRanksDoesNotMatter(t *testing.T) {
	repaired := uint64(0)
	for name, content := range map[string]*trace.Content{
		"stencil2d": tracetest.Simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 16, Iterations: 40, Imbalance: simulate.Imbalance{Noise: 50}}),
		"ring":      tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 6, Iterations: 60}),
		"wavefront": tracetest.Simulated(t, simulate.Config{Pattern: "wavefront", Ranks: 12, Iterations: 20}),
		"random":    tracetest.Random(t, 5, 5, 100, time.Millisecond),
	} {
		r := tracetest.Open(t, tracetest.Rounded(t, content, "lossy 20"))
		want, _ := times(t, r)
		have, err := Find(t.Context(), timeline.Of(r), nil)
		require.NoError(t, err)
		assert.Equal(t, want.Repairs, have.Repairs, name)
		for i := range want.lines {
			assert.Equal(t, want.lines[i].packed, have.lines[i].packed, "%s, location %d", name, i)
		}
		repaired += have.Repaired
	}
	assert.Greater(t, repaired, uint64(200), "nothing to repair proves nothing")
}
