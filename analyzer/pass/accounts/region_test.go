package accounts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// queries are calls that may be made anywhere.
var queries = []string{"MPI_Wtime", "MPI_Wtick", "MPI_Initialized", "MPI_Finalized", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Get_count", "MPI_Query_thread"}

func TestQueriesAreLocal(t *testing.T) {
	for _, name := range queries {
		assert.True(t, semantics.Of(mpi.ByName(name)).IsLocalQuery(), name)
	}
}

// A randomRun is a program of collectives with computation between them.
type randomRun struct {
	calls   []string
	took    [][][]float64 // by rank, iteration and call: the computation before the call
	slow    int           // rank that computes longer before calls[at]; −1: none
	at      int
	blocked bool    // it is blocked meanwhile
	delayed float64 // share of the time there for which it waits for a CPU
}

func newRandomRun(random *rand.Rand) *randomRun {
	all := []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Alltoall", "MPI_Allgather"}
	random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	p := &randomRun{calls: all[:2+random.IntN(3)], slow: -1}
	p.at = random.IntN(len(p.calls))
	ranks := 4 + random.IntN(8)
	if random.IntN(4) > 0 {
		p.slow, p.blocked = random.IntN(ranks), random.IntN(2) == 0
	}
	iterations := 12 + random.IntN(30)
	p.took = make([][][]float64, ranks)
	for rank := range p.took {
		for range iterations {
			each := make([]float64, len(p.calls))
			for k := range each {
				each[k] = 4 + random.Float64()/4
				if rank == p.slow && k == p.at {
					each[k] += 8
				}
			}
			p.took[rank] = append(p.took[rank], each)
		}
	}
	return p
}

// trace returns the run's trace; with queries, if random is not nil, within the computations of
// some ranks. They take no time, so that all times are those of the run without them.
func (p *randomRun) trace(random *rand.Rand) *tracetest.Builder {
	b := tracetest.New(len(p.took))
	// measured time of each rank, by the calls around it
	inside := make([]map[trace.EvidenceKey]int64, len(p.took))
	// where the slow rank computes longer
	slow := map[trace.EvidenceKey]bool{}
	// numbered at first use, as the builder does
	sites := map[string]uint32{}
	call := func(r *tracetest.Rank, name, site string, enter, exit float64) trace.CallSite {
		if sites[site] == 0 {
			sites[site] = uint32(len(sites)) + 1
		}
		r.At(site).Call(name, enter, exit, nil)
		return trace.CallSite{Function: mpi.ByName(name).ID, Site: sites[site]}
	}
	last := make([]trace.CallSite, len(p.took))
	b.Ranks(func(rank int, r *tracetest.Rank) { last[rank] = call(r, "MPI_Init", "1", 0, 1) })
	now := 1.0
	for i := range p.took[0] {
		for k, name := range p.calls {
			end := now
			for rank := range p.took {
				end = max(end, now+p.took[rank][i][k]+0.01)
			}
			for rank := range p.took {
				r, from, to := b.Rank(rank), now, now+p.took[rank][i][k]
				compute := func(until float64, before trace.CallSite) {
					key := trace.EvidenceKey{After: last[rank], Before: before}
					here := rank == p.slow && k == p.at
					if here {
						slow[key] = true
					}
					if here && p.blocked || p.delayed > 0 {
						if inside[rank] == nil {
							inside[rank] = map[trace.EvidenceKey]int64{}
						}
						inside[rank][key] += int64((until - from) * tracetest.Unit)
					}
					from, last[rank] = until, before
				}
				for random != nil && rank%3 != 1 && random.IntN(3) > 0 {
					at := from + random.Float64()*(to-from)
					compute(at, call(r, queries[random.IntN(len(queries))], strconv.Itoa(100*k+101+random.IntN(3)), at, at))
				}
				compute(to, call(r, name, strconv.Itoa(100*k+100), to, end))
			}
			now = end
		}
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { call(r, "MPI_Finalize", "2", now, now+1) })
	b.Ranks(func(rank int, r *tracetest.Rank) {
		for key, ns := range inside[rank] {
			one := trace.EvidenceRow{EvidenceKey: key, Count: 20, WallNS: ns, CPUNS: ns}
			switch {
			case rank == p.slow && slow[key] && p.blocked:
				one.CPUNS = ns / 3
			case rank == p.slow && slow[key]:
				one.RunDelayNS = int64(p.delayed * float64(ns))
				one.CPUNS = ns - one.RunDelayNS
			}
			r.Info().Evidence = append(r.Info().Evidence, one)
		}
		slices.SortFunc(r.Info().Evidence, func(a, b trace.EvidenceRow) int { return a.Compare(b.EvidenceKey) })
	})
	return b
}

// TestQueriesDivideNoRegion: which ranks read clocks or query local state, how often and where,
// changes neither the regions nor anything that follows from them; and the slow rank is named.
func TestQueriesDivideNoRegion(t *testing.T) {
	seeds := uint64(25)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		p := newRandomRun(rand.New(rand.NewPCG(seed, 1)))
		plain, with := p.trace(nil).Open(t), p.trace(rand.New(rand.NewPCG(seed, 2))).Open(t)
		analyze := func(r *trace.Reader) analyzertest.Findings {
			f := analyzertest.Analyze(t, timeline.Of(r))
			return f
		}
		want, got := analyze(plain), analyze(with)
		require.Equal(t, want.Computation, got.Computation, "seed %d", seed)
		require.Equal(t, want.WhatIf, got.WhatIf, "seed %d", seed)
		require.Equal(t, want.Path.ByCallSite, got.Path.ByCallSite, "seed %d", seed)
		delays := func(f *analyzertest.Findings) map[string]float64 {
			sums := map[string]float64{}
			for _, d := range f.RootCauses.Delays {
				sums[fmt.Sprintf("rank %d %s at %s", d.Rank, d.Function, d.CallSite)] += d.ShortTerm + d.LongTerm
			}
			return sums
		}
		require.InDeltaMapValues(t, delays(&want), delays(&got), 1e-9, "seed %d", seed)
		require.Len(t, got.Verdict.Causes, len(want.Verdict.Causes), "seed %d: %s", seed, got.Verdict.Text)
		for i := range got.Verdict.Causes {
			x, y := &want.Verdict.Causes[i], &got.Verdict.Causes[i]
			// traces have it rounded
			require.InDelta(t, x.BlockedSeconds, y.BlockedSeconds, x.BlockedSeconds/100, "seed %d", seed)
			require.InDelta(t, x.LostSeconds, y.LostSeconds, 1e-9, "seed %d", seed)
			y.BlockedSeconds, y.LostSeconds = x.BlockedSeconds, x.LostSeconds
		}
		got.Verdict.Text = want.Verdict.Text // it has the same numbers
		require.Equal(t, want.Verdict, got.Verdict, "seed %d", seed)
		if p.slow < 0 {
			assert.Equal(t, verdict.Nobody, got.Verdict.Blames, "seed %d: %s", seed, got.Verdict.Text)
			continue
		}
		require.NotEmpty(t, got.Verdict.Causes, "seed %d: %s", seed, got.Verdict.Text)
		cause := got.Verdict.Causes[0]
		assert.Equal(t, verdict.Excess, cause.Kind, "seed %d: %s", seed, got.Verdict.Text)
		assert.Equal(t, &p.slow, cause.Rank, "seed %d: %s", seed, got.Verdict.Text)
		assert.Equal(t, p.calls[p.at], cause.Before.Function, "seed %d: %s", seed, got.Verdict.Text)
		if p.blocked {
			assert.Equal(t, verdict.Blocked, cause.Form, "seed %d: %s", seed, got.Verdict.Text)
		}
		difference, err := compare.Compare(t.Context(), []compare.Recording{{Trace: timeline.Of(plain)}}, []compare.Recording{{Trace: timeline.Of(with)}})
		require.NoError(t, err)
		for _, c := range difference.Causes {
			assert.InDelta(t, 0, c.Difference, 1e-9, "seed %d: %s", seed, c.CallSite)
		}
	}
}

// Waits for a CPU are not work: a rank that has to wait for the time by which it computes longer
// does not compute longer, and no rank computes "for 0 s each time".
func TestWaitsForACPUAreNotWork(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 16
	}
	for seed := range seeds {
		p := newRandomRun(rand.New(rand.NewPCG(seed, 1)))
		if p.slow < 0 {
			continue
		}
		p.blocked, p.delayed = false, []float64{2. / 3, 0.9, 0.99, 1}[seed%4]
		v, err := pass.Find(t.Context(), timeline.Of(p.trace(nil).Open(t)), blame.Pass)
		require.NoError(t, err)
		require.NotEmpty(t, v.Causes, "seed %d: %s", seed, v.Text)
		cause := v.Causes[0]
		assert.Equal(t, verdict.Preempted, cause.Form, "seed %d: %s", seed, v.Text)
		assert.Equal(t, &p.slow, cause.Rank, "seed %d: %s", seed, v.Text)
		for _, c := range v.Causes {
			assert.False(t, c.Form == verdict.Always && c.EachSeconds < 1e-9, "seed %d: %s", seed, v.Text)
		}
	}
}
