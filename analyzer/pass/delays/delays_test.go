package delays_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// delay is a row of the root causes, in units.
type delay struct {
	rank        int
	what, where string
	short, long float64
}

func costs(f analyzertest.Findings) []delay {
	list := []delay{}
	for _, d := range f.RootCauses.Delays {
		list = append(list, delay{d.Rank, d.Function, d.CallSite, rounded(d.ShortTerm), rounded(d.LongTerm)})
	}
	return list
}

func rounded(seconds float64) float64 { return float64(int64(seconds*1e9+0.5)) / tracetest.Unit }

// TestDelayShortTerm: rank 1 waits 40 in MPI_Recv for rank 0, which computed 45 before its
// MPI_Send where rank 1 computed 5 before its receive. All of the wait is the short-term cost of
// that computation.
func TestDelayShortTerm(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:10").Send(50, 55, 1).At("a.c:20").Finalize(60, 70)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:11").Recv(10, 58, 0, 8).At("a.c:20").Finalize(90, 100)
	f := analyzertest.Built(t, b)
	assert.Equal(t, []delay{{0, "computation", "between MPI_Init at a.c:1 and MPI_Send at a.c:10", 40, 0}}, costs(f))
	assert.InDelta(t, 0.040, f.RootCauses.DirectSeconds, 1e-12)
	assert.Zero(t, f.RootCauses.UnexplainedSeconds)
	assert.InDelta(t, 0.040, *f.Ranks[0].DelayCost, 1e-12)
}

// TestDelayLongTerm: as before, and rank 1 then sends at 60 to rank 2, which has been waiting since
// 20. Of rank 2's 40, rank 1 is responsible for 1 of receiving and 9 of computing more than rank 2,
// out of 50 with the 40 that it waited itself: 40·1/50 = 0.8 and 40·9/50 = 7.2. The other 32 are
// long-term costs of rank 0's computation.
func TestDelayLongTerm(t *testing.T) {
	b := tracetest.New(3)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:10").Send(50, 51, 1).At("a.c:20").Finalize(52, 53)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:11").Recv(10, 51, 0, 8).At("a.c:12").Send(60, 61, 2).At("a.c:20").Finalize(62, 63)
	b.Rank(2).At("a.c:1").Init(0, 5).At("a.c:11").Recv(20, 62, 1, 8).At("a.c:20").Finalize(90, 100)
	f := analyzertest.Built(t, b)
	assert.Equal(t, map[string]float64{"late sender": 80}, f.Waited())
	assert.Equal(t, []delay{
		{0, "computation", "between MPI_Init at a.c:1 and MPI_Send at a.c:10", 40, 32},
		{1, "computation", "between MPI_Recv at a.c:11 and MPI_Send at a.c:12", 7.2, 0},
		{1, "MPI_Recv", "a.c:11", 0.8, 0},
	}, costs(f))
	assert.InDelta(t, 0.048, f.RootCauses.DirectSeconds, 1e-9)
	assert.InDelta(t, 0.032, f.RootCauses.IndirectSeconds, 1e-9)
	assert.Equal(t, []waitfindings.PairWait{{Rank: 1, Cause: 0, Kind: "late sender", Count: 1, Seconds: 0.04}, {Rank: 2, Cause: 1, Kind: "late sender", Count: 1, Seconds: 0.04}}, f.Waits.ByPair)
	assert.Equal(t, []waitfindings.SiteWait{{Kind: "late sender", Function: "MPI_Recv", CallSite: "a.c:11", Count: 2, Seconds: 0.08}}, f.Waits.ByCallSite)
	assert.Equal(t, []waitfindings.RankWait{{Rank: 1, Kind: "late sender", Count: 1, Seconds: 0.04}, {Rank: 2, Kind: "late sender", Count: 1, Seconds: 0.04}}, f.Waits.ByRank)
}

// TestDelaySinceLastInStep: after a barrier at 10 both are in step. Rank 0 then computes 40 while
// rank 1 computes 10 and waits 30; after the next barrier it is the other way round, 10 and 30.
// Over the whole run rank 1 computed less than rank 0 and could not be responsible for the 20;
// since the last barrier it computed 20 more.
func TestDelaySinceLastInStep(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("a.c:1").Init(0, 5).At("a.c:10").Collective("MPI_Barrier", 10, 10)
		r.Collective("MPI_Barrier", []float64{50, 20}[i], 50).Collective("MPI_Barrier", []float64{60, 80}[i], 80)
		r.At("a.c:20").Finalize(90, 100)
	})
	f := analyzertest.Built(t, b)
	where := "between two calls of MPI_Barrier at a.c:10"
	assert.Equal(t, []delay{{0, "computation", where, 30, 0}, {1, "computation", where, 20, 0}}, costs(f))
}
