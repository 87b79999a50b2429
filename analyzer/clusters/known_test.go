package clusters_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

func simulated(t testing.TB, config simulate.Config) *trace.Reader {
	t.Helper()
	return tracetest.Open(t, tracetest.Simulated(t, config))
}

// sixPoint is NPB BT's and SP's exchange: each rank of a periodic n x n grid sends
// to six neighbors.
func sixPoint(n int) *tracetest.Builder {
	b := tracetest.New(n * n)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("bt.f:1").Init(0, 1)
		for k := range 4 {
			now := 2 + 10*float64(k)
			for _, o := range [][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, -1}} {
				peer := (i/n+o[0]+n)%n*n + (i%n+o[1]+n)%n
				r.At("bt.f:2").Irecv(now, now, peer, 0)
				r.At("bt.f:3").Send(now, now, peer)
				r.At("bt.f:4").Waitall(now, now+1, tracetest.Requests{0}, tracetest.Status{Source: peer, Bytes: 8})
			}
		}
		r.At("bt.f:5").Finalize(60, 61)
	})
	return b
}

// Chameleon's table I: BT 3, LU 9, SP 3, Sweep3D 9, master and workers 2.
func TestChameleonsK(t *testing.T) {
	sweep := simulate.Config{Pattern: "wavefront", Ranks: 36, Iterations: 5, Bytes: 64, CallSites: "caller"}
	workers := simulate.Config{Pattern: "master-worker", Ranks: 16, Iterations: 5, Bytes: 64, CallSites: "caller"}
	large := sweep
	large.Ranks, large.NoReplay = 1024, true
	for _, test := range []struct {
		name  string
		trace *trace.Reader
		leads int
	}{
		{"BT, SP on 16", sixPoint(4).Open(t), 3},
		{"BT, SP on 36", sixPoint(6).Open(t), 3},
		{"BT, SP on 256", sixPoint(16).Open(t), 3},
		{"LU, Sweep3D on 36", simulated(t, sweep), 9},
		{"LU, Sweep3D on 1024", simulated(t, large), 9},
		{"master and 15 workers", simulated(t, workers), 2},
	} {
		f, err := clusters.Analyze(context.Background(), timeline.Of(test.trace), clusters.Options{})
		require.NoError(t, err)
		assert.Len(t, f.Leads, test.leads, test.name)
	}
}

func analyzeTimed(t *testing.T, r *trace.Reader) clusters.Findings {
	t.Helper()
	clocks, err := clock.Analyze(context.Background(), timeline.Of(r))
	require.NoError(t, err)
	f, err := clusters.Analyze(context.Background(), timeline.Of(r), clusters.Options{Clock: clocks})
	require.NoError(t, err)
	return f
}

// A rank that is slow in one loop only is distinguished there, and named.
func TestSlowInOnePhase(t *testing.T) {
	const ranks = 8
	b := tracetest.New(ranks)
	now := make([]float64, ranks)
	meet := func(site string, work func(rank int) float64) {
		last := 0.0
		for i := range ranks {
			now[i] += work(i)
			last = max(last, now[i])
		}
		for i := range ranks {
			b.Rank(i).At(site).Collective("MPI_Allreduce", now[i], last+0.01)
			now[i] = last + 0.01
		}
	}
	b.Ranks(func(i int, r *tracetest.Rank) { r.At("a.c:1").Init(0, 1); now[i] = 1 })
	for range 50 {
		meet("a.c:10", func(int) float64 { return 1 })
	}
	for range 50 {
		meet("a.c:20", func(rank int) float64 {
			if rank == 5 {
				return 2.5
			}
			return 1
		})
	}
	b.Ranks(func(i int, r *tracetest.Rank) { r.At("a.c:99").Finalize(now[i], now[i]+1) })
	f := analyzeTimed(t, b.Open(t))
	var loops []clusters.Phase
	for _, p := range f.Phases {
		if p.Loop {
			loops = append(loops, p)
		}
	}
	require.Len(t, loops, 2)
	assert.Len(t, loops[0].Timing, 1)
	require.Len(t, loops[1].Timing, 2)
	assert.Equal(t, "5", loops[1].Timing[1].Ranks)
	assert.InDelta(t, 0.125, *loops[1].Timing[1].Computation, 0.001)
	assert.InDelta(t, 0.075, *loops[1].Timing[0].Waiting, 0.001)
	require.Len(t, loops[1].Outliers, 1)
	assert.Equal(t, "Rank 5 computes 75 ms longer and waits 75 ms shorter than rank 0, which represents its group.", loops[1].Outliers[0].Text)
}

// A rank that calls something else in one phase only is a behavior of its own in that phase.
func TestBehaviorInOnePhase(t *testing.T) {
	b := tracetest.New(6)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("b.c:1").Init(0, 1)
		for k := range 40 {
			now := float64(k + 2)
			r.At("b.c:10").Collective("MPI_Barrier", now, now)
			r.At("b.c:11").Collective("MPI_Allreduce", now, now)
		}
		for k := range 40 {
			now := float64(k + 50)
			r.At("b.c:20").Collective("MPI_Allgather", now, now)
			if i == 2 {
				r.At("b.c:21").Call("MPI_Iprobe", now, now, tracetest.Args{"source": 0})
			}
			r.At("b.c:22").Collective("MPI_Barrier", now, now)
		}
		r.At("b.c:30").Finalize(100, 101)
	})
	f := analyzeTimed(t, b.Open(t))
	var found []string
	for _, p := range f.Phases {
		for _, g := range p.Behaviors[1:] {
			found = append(found, p.Name+": "+g.Ranks)
		}
	}
	assert.Equal(t, []string{"loop b.c:20–22: 2"}, found)
}

// Chameleon's filter: ranks that differ only in a count are alike when counts are not to count.
func TestIgnoredParameters(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("c.c:1").Init(0, 1)
		r.At("c.c:2").Call("MPI_Bcast", 2, 3, tracetest.Args{"count": 1 + i})
		r.At("c.c:3").Finalize(4, 5)
	})
	r := b.Open(t)
	for _, test := range []struct {
		ignore   []string
		variants int
	}{{nil, 4}, {[]string{"count"}, 1}, {[]string{"root"}, 4}} {
		f, err := clusters.Analyze(context.Background(), timeline.Of(r), clusters.Options{Ignore: test.ignore})
		require.NoError(t, err)
		assert.Equal(t, test.variants, f.Clusters[0].VariantCount, "%v", test.ignore)
	}
}

// ScalaTrace II, Figure 3: solve_x and solve_y do the same, from two places.
func TestCallPathsThatDifferInFrames(t *testing.T) {
	b := tracetest.New(2)
	content := b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("main.c:1").Init(0, 1)
		r.At([]string{"solve_x.c:7", "solve_y.c:7"}[i]).Collective("MPI_Barrier", 2, 3)
		r.At("main.c:9").Finalize(4, 5)
	}).Content()
	// main is at 3 when it calls solve_x and at 4 when it calls solve_y
	for k, line := range map[string]int{"/src/solve_x.c": 3, "/src/solve_y.c": 4} {
		caller := len(content.Sites)
		content.Sites = append(content.Sites, trace.Site{BuildID: "feed", Offset: uint64(line), File: "/src/main.c", Line: line})
		for i := range content.Sites {
			if content.Sites[i].File == k {
				content.Sites[i].Caller, content.Sites[caller].Caller = 0, 0
				// callers come before their callees
				content.Sites[i], content.Sites[caller] = content.Sites[caller], content.Sites[i]
				content.Sites[caller].Caller = uint32(i + 1)
				for s := range content.Signatures {
					if content.Signatures[s].Site == uint32(i+1) {
						content.Signatures[s].Site = uint32(caller + 1)
					}
				}
				break
			}
		}
	}
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, content))
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	for frames, want := range map[int]int{0: 2, 1: 2, 2: 1} {
		f, err := clusters.Analyze(context.Background(), timeline.Of(r), clusters.Options{Frames: frames})
		require.NoError(t, err)
		assert.Len(t, f.Clusters, want, "%d frames", frames)
	}
}
