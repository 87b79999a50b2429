package simulate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// TestStealIsDistinguishedFromBlocking: 8 ranks on two machines compute 5 ms a hundred times. Some
// of them are blocked for 3 ms each time, according to the kernel. If their machine lost as much to
// others of its hypervisor, and the other machine did not, that is the reason. Then this time is
// waiting for a CPU, and so is, of the waiting of other ranks for these ranks, the stolen part of
// their computation: 3 ms of 8.
func TestStealIsDistinguishedFromBlocking(t *testing.T) {
	const ms, iterations = int64(time.Millisecond), 100
	onTwo := func(rank int) bool { return rank >= 4 }
	only := func(rank int) bool { return rank == 5 }
	all := func(int) bool { return true }
	nobody := func(int) bool { return false }
	for name, c := range map[string]struct {
		blocked    func(rank int) bool
		steal      [2]float64 // of each machine, in ms of each of its ranks and iterations; −1: unknown
		blames     verdict.Kind
		form       verdict.Form
		ranks      string
		stolen     float64 // seconds of the cause
		preempted  float64 // rank-seconds of the ledger
		still      float64 // blocked
		everywhere bool
	}{
		"one machine":                {onTwo, [2]float64{0, 3}, verdict.Excess, verdict.Stolen, "4-7", 0.3, 1.65, 0, false},
		"the other has a little":     {onTwo, [2]float64{0.1, 3}, verdict.Excess, verdict.Stolen, "4-7", 0.3, 1.65, 0, false},
		"not known":                  {onTwo, [2]float64{-1, -1}, verdict.Excess, verdict.Blocked, "4-7", 0, 0, 1.2, false},
		"none":                       {onTwo, [2]float64{0, 0}, verdict.Excess, verdict.Blocked, "4-7", 0, 0, 1.2, false},
		"on the other machine":       {onTwo, [2]float64{3, 0}, verdict.Excess, verdict.Blocked, "4-7", 0, 0, 1.2, false},
		"a fifth":                    {onTwo, [2]float64{0, 0.6}, verdict.Excess, verdict.Blocked, "4-7", 0, 0.35, 0.95, false},
		"everywhere":                 {all, [2]float64{3, 3}, verdict.Nobody, verdict.NoForm, "", 0, 2.4, 0, true},
		"everywhere, one blocked":    {only, [2]float64{1, 1}, verdict.Excess, verdict.Blocked, "5", 0, -1, -1, true},
		"without excess":             {nobody, [2]float64{0, 3}, verdict.Nobody, verdict.NoForm, "", 0, 0, 0, false},
		"everywhere, without excess": {nobody, [2]float64{0.1, 0.1}, verdict.Nobody, verdict.NoForm, "", 0, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := simulate.NewOf(simulate.Config{Pattern: "stolen", Ranks: 8, RanksPerNode: 4, Evidence: true}, func(r *simulate.Rank) {
				for k := range iterations {
					r.At(20).Barrier(r.World())
					r.Compute(time.Duration(5*ms + int64(100*(k*7+r.Rank()*3)%11)))
					if c.blocked(r.Rank()) {
						r.Blocked(time.Duration(3 * ms))
					}
				}
				r.At(30).Barrier(r.World())
			})
			require.NoError(t, err)
			f := judgedRun(t, s, func(r *trace.Rank) {
				steal, last := c.steal[r.Rank/4], len(r.Context)-1
				for i := range r.Context {
					r.Context[i].StealNS = trace.Unknown
					if steal >= 0 {
						r.Context[i].StealNS = int64(4*iterations*steal*float64(ms)) * int64(i) / int64(last)
					}
				}
			})
			require.Equal(t, c.blames, f.Verdict.Blames, f.Verdict.Text)
			assert.Equal(t, c.everywhere, f.CPUs.StolenEverywhere, "%+v", f.CPUs.Machines)
			if c.blames == verdict.Excess {
				cause := f.Verdict.Causes[0]
				assert.Equal(t, c.form, cause.Form, f.Verdict.Text)
				assert.Equal(t, c.ranks, cause.Ranks)
				assert.InDelta(t, c.stolen, cause.StolenSeconds, 0.02)
				assert.Equal(t, c.form == verdict.Blocked, cause.BlockedSeconds > 0)
				if c.form == verdict.Stolen {
					assert.Contains(t, f.Verdict.Text, "Node node1 makes this job slow: its ranks, 4-7, wait for a CPU while the others have one, since the hypervisor runs other machines on it.")
				}
			}
			sum, rows := int64(0), map[string]float64{}
			for _, row := range f.Ledger.Rows {
				sum += row.NS
				rows[row.What] = float64(row.NS) / 1e9
			}
			assert.Equal(t, f.Ledger.TotalNS, sum, "the ledger adds up")
			if c.still >= 0 {
				assert.InDelta(t, c.preempted, rows["preempted"], 0.05, "%v", rows)
				assert.InDelta(t, c.still, rows["blocked"], 0.05, "%v", rows)
			}
		})
	}
}
