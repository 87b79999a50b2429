package compare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// exact is a stencil of 8 ranks on 4 nodes and 50 iterations, in which every rank computes
// for work(rank) ms.
func exact(t *testing.T, latency float64, work func(rank int) float64) timeline.Trace {
	t.Helper()
	s := tracetest.Stencil{Ranks: 8, PerNode: 2, Iterations: 50, Reduce: 10, Latency: latency, Work: func(rank, _ int) float64 { return work(rank) }}
	return timeline.Of(s.Build().Open(t))
}

func five(int) float64 { return 5 }

// causeSum checks that causes add up to the difference, and are the runs' times.
func causeSum(t *testing.T, f *compare.Findings) {
	t.Helper()
	a, b := 0.0, 0.0
	for _, c := range f.Causes {
		a, b = a+c.A, b+c.B
	}
	assert.InDelta(t, f.A.Seconds, a, 1e-6)
	assert.InDelta(t, f.B.Seconds, b, 1e-6)
}

// A slower network: messages and reductions take 0.5 instead of 0.01 ms. 50 exchanges are 24.5 ms
// longer, 5 reductions 2.45 ms: MPI_Waitall is where transfers end, and no rank computes longer.
func TestSlowerNetworkIsNamed(t *testing.T) {
	f := compared(t, exact(t, 0.01, five), exact(t, 0.5, five))
	causeSum(t, &f)
	assert.InDelta(t, 0.02695, f.Difference, 1e-4)
	assert.Equal(t, "MPI_Waitall", f.Causes[0].Function)
	assert.InDelta(t, 0.0245, f.Causes[0].Difference, 1e-4)
	assert.Contains(t, f.Text, "Most of that, on the critical path, which never waits: MPI_Waitall at stencil.c:82 (24.5 ms)")
	assert.Contains(t, f.Text, "No rank's computation changed")
}

// A slower rank: 0.5 ms longer in each of 50 iterations, 25 ms in all. The others wait for it
// in MPI_Waitall and MPI_Allreduce, which are not named. It does not wait itself for messages
// that take 0.01 ms any more, in 45 iterations that do not end in a reduction: the run
// is 24.55 ms longer.
func TestSlowerRankIsTheCause(t *testing.T) {
	f := compared(t, exact(t, 0, five), exact(t, 0, func(rank int) float64 {
		if rank == 3 {
			return 5.5
		}
		return 5
	}))
	causeSum(t, &f)
	assert.InDelta(t, 0.02455, f.Difference, 1e-4)
	assert.Equal(t, "computation", f.Causes[0].Function)
	assert.Equal(t, "before MPI_Irecv at stencil.c:70", f.Causes[0].CallSite)
	require.NotNil(t, f.Causes[0].Rank)
	assert.Equal(t, 3, *f.Causes[0].Rank)
	assert.InDelta(t, 0.025, f.Causes[0].Difference, 1e-4)
	assert.Contains(t, f.Text, "Rank 3 computes 10.0% longer in an iteration of loop stencil.c:70–95: 25 ms in all, most of it before MPI_Irecv at stencil.c:70.")
	assert.NotContains(t, f.Text, "MPI_Waitall")
	assert.Equal(t, 1, len(changedRanks(&f)))
}

func changedRanks(f *compare.Findings) map[int]bool {
	ranks := map[int]bool{}
	for _, c := range f.Changes {
		if c.What == "computation" {
			ranks[c.Rank] = true
		}
	}
	return ranks
}

// A slower node: its two ranks compute 10 % longer.
func TestSlowerNodeIsTheCause(t *testing.T) {
	f := compared(t, exact(t, 0, five), exact(t, 0, func(rank int) float64 {
		if rank/2 == 1 {
			return 5.5
		}
		return 5
	}))
	assert.InDelta(t, 0.025, f.Difference, 1e-4)
	assert.Equal(t, map[int]bool{2: true, 3: true}, changedRanks(&f))
	assert.Contains(t, f.Text, "Rank 2 computes 10.0% longer")
	assert.Contains(t, f.Text, "All 2 ranks of node node2 became slower, no others did.")
}

// rounds is a program of 4 ranks: in each of 20 rounds each computes 5 ms and all reduce, which
// takes 0.1 ms. Before it or after it there may be a serial part: rank 0 computes, the others wait
// for it in MPI_Bcast.
func rounds(t *testing.T, serial float64, first bool) timeline.Trace {
	t.Helper()
	b := tracetest.New(4)
	b.Ranks(func(rank int, r *tracetest.Rank) {
		r.At("rounds.c:5").Init(0, 10)
		now := 10.0
		broadcast := func() {
			if serial == 0 {
				return
			}
			enter := now
			if rank == 0 {
				enter += serial
			}
			r.At("rounds.c:20").Rooted("MPI_Bcast", enter, now+serial+0.1, 0)
			now += serial + 0.1
		}
		for range 20 {
			if first {
				broadcast()
			}
			r.At("rounds.c:30").Collective("MPI_Allreduce", now+5, now+5.1)
			now += 5.1
			if !first {
				broadcast()
			}
		}
		r.At("rounds.c:40").Finalize(now, now+1)
	})
	return timeline.Of(b.Open(t))
}

// A new serial part of 4 ms in 20 rounds: 80 ms of rank 0's computation before MPI_Bcast,
// and 2 ms of broadcasts. The computation before MPI_Allreduce stays what it was, though other
// calls are around it.
func TestNewSerialPartIsTheCause(t *testing.T) {
	for name, first := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			f := compared(t, rounds(t, 0, first), rounds(t, 4, first))
			causeSum(t, &f)
			assert.InDelta(t, 0.082, f.Difference, 1e-6)
			c := f.Causes[0]
			assert.Equal(t, "computation", c.Function)
			assert.Equal(t, "before MPI_Bcast at rounds.c:20", c.CallSite)
			assert.InDelta(t, 0, c.A, 1e-9)
			assert.InDelta(t, 0.08, c.Difference, 1e-6)
			require.NotNil(t, c.Rank)
			assert.Equal(t, 0, *c.Rank)
			assert.Contains(t, f.Text, "Rank 0 computes 80.0% longer in an iteration of loop rounds.c:20–30: 80 ms in all, most of it before MPI_Bcast at rounds.c:20.")
			assert.Contains(t, f.Text, "By the verdicts on both, only B loses time to rank 0, which computes longer between", "as B's report says")
			assert.Empty(t, f.A.Causes)
			require.NotEmpty(t, f.B.Causes)
			assert.Equal(t, verdict.Excess, f.B.Causes[0].Kind)
			assert.False(t, f.CallSitesMoved)
			assert.Positive(t, f.Tests, "the loop is the same, though it begins or ends on another line")
		})
	}
}

// chain is a chain of three ranks: rank 0 computes 10 ms and sends to rank 1, which computes for
// some time more and sends to rank 2, which waits from 12 ms on. A message takes 1 ms.
func chain(t *testing.T, middle float64) timeline.Trace {
	t.Helper()
	b := tracetest.New(3)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("chain.c:5").Init(0, 1) })
	b.Rank(0).At("chain.c:10").Send(11, 12, 1)
	b.Rank(1).At("chain.c:20").Recv(2, 12, 0, 8).At("chain.c:25").Send(12+middle, 13+middle, 2)
	b.Rank(2).At("chain.c:30").Recv(2, 13+middle, 1, 8)
	end := 14 + middle
	b.Ranks(func(rank int, r *tracetest.Rank) {
		r.At("chain.c:40").Finalize([]float64{12, end - 1, end - 1}[rank], end)
	})
	return timeline.Of(b.Open(t))
}

// A late sender in the middle: rank 1 computes 25 ms instead of 5 before it sends. Rank 2 waits for
// it 20 ms longer in MPI_Recv, and rank 0 in MPI_Finalize; the cause is rank 1's computation.
func TestLateSenderInTheMiddleIsTheCause(t *testing.T) {
	f := compared(t, chain(t, 5), chain(t, 25))
	causeSum(t, &f)
	assert.InDelta(t, 0.020, f.Difference, 1e-9)
	assert.Contains(t, f.Text, "computation before MPI_Send at chain.c:25 on rank 1 (20 ms)")
	assert.NotContains(t, f.Text, "never waits: MPI_Recv")
	assert.Contains(t, f.Text, "By the verdicts on both, only B loses time to what rank 1 alone computes between MPI_Recv at chain.c:20 and MPI_Send at chain.c:25")
	assert.NotContains(t, f.Text, "Finalize")
}

// More iterations: 80 instead of 50 of 5.02 ms; and the same the other way.
func TestMoreIterationsAreTheCause(t *testing.T) {
	of := func(iterations int) timeline.Trace {
		return timeline.Of(tracetest.Stencil{Ranks: 4, Iterations: iterations, Reduce: 10, Work: func(int, int) float64 { return 5 }}.Build().Open(t))
	}
	f := compared(t, of(50), of(80))
	assert.Contains(t, f.Text, "Most of that: loop stencil.c:70–95 has 80 iterations instead of 50.")
	f = compared(t, of(80), of(50))
	assert.Contains(t, f.Text, "Most of that: loop stencil.c:70–95 has 50 iterations instead of 80.")
}
