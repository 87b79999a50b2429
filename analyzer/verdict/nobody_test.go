package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Without a cause: what the time was spent on instead.
func TestNobody(t *testing.T) {
	facts := func(change func(f *verdict.Facts)) verdict.Facts {
		f := verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8, Least: 8.8, Most: 9.2, Parallel: new(0.9)}
		if change != nil {
			change(&f)
		}
		return f
	}
	for name, c := range map[string]struct {
		facts verdict.Facts
		says  string
	}{
		"well spent":   {facts(nil), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes."},
		"alike":        {facts(func(f *verdict.Facts) { f.Least, f.Most = 9, 9 }), "No rank stands out: the 8 ranks compute for 9.0 s each, 90% of the 10.0 s that the run takes."},
		"threads":      {facts(func(f *verdict.Facts) { f.OwnThreads, f.InCalls = 0.8, 0.05 }), "No rank stands out: the 8 ranks are outside MPI for 8.8 s to 9.2 s each, 90% of the 10.0 s that the run takes. For 80% of the time their first threads wait, and other threads of their process run."},
		"in calls":     {facts(func(f *verdict.Facts) { f.OwnThreads, f.InCalls = 0.8, 0.7 }), "No rank stands out: the 8 ranks are outside MPI for 8.8 s to 9.2 s each, 90% of the 10.0 s that the run takes. For 80% of the time their first threads wait, and other threads of their process run or make MPI calls (at least 70%)."},
		"delayed":      {facts(func(f *verdict.Facts) { f.Delayed, f.Blocked = 0.35, 0.4 }), "No rank stands out: the 8 ranks are outside MPI for 8.8 s to 9.2 s each, 90% of the 10.0 s that the run takes; waiting for a CPU is 35% of it; being blocked in the kernel is 40%."},
		"one, blocked": {facts(func(f *verdict.Facts) { f.Ranks, f.Ended, f.Blocked = 1, 1, 0.4 }), "No rank stands out: the only one is outside MPI for 8.8 s, 90% of the 10.0 s that the run takes; being blocked in the kernel is 40%."},
		"one":          {facts(func(f *verdict.Facts) { f.Ranks, f.Ended, f.Most = 1, 1, f.Least }), "No rank stands out: the only one computes for 8.8 s, 90% of the 10.0 s that the run takes."},
		"nobody ran":   {facts(func(f *verdict.Facts) { f.Ended = 0 }), "No rank ran to its end, so nothing is said of who is slow."},
		"start":        {facts(func(f *verdict.Facts) { f.Parallel, f.StartEnd = new(0.3), 6 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 30% of the 10.0 s that the run takes; most of the rest, 60%, is the start and the end of MPI, which a longer run would hide."},
		"a call":       {facts(func(f *verdict.Facts) { f.Parallel, f.Costliest, f.CostliestShare = new(0.7), &wait, 0.2 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 70% of the 10.0 s that the run takes; most of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time)."},
		"a call that waits": {facts(func(f *verdict.Facts) {
			f.Parallel, f.Costliest, f.CostliestShare, f.CostliestWaits = new(0.7), &wait, 0.2, new(0.8)
		}), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 70% of the 10.0 s that the run takes; most of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time, most of it waiting for whoever happens to be last)."},
		"a part goes to a call": {facts(func(f *verdict.Facts) { f.Parallel, f.Costliest, f.CostliestShare = new(0.5), &wait, 0.2 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 50% of the 10.0 s that the run takes; the largest part of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time)."},
		"harmless":              {facts(func(f *verdict.Facts) { f.Harmless = new(slow(nil)) }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. Rank 3 computes longer than the others, but that costs the run next to nothing."},
		"several harmless":      {facts(func(f *verdict.Facts) { f.Harmless = new(several(nil)) }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. Ranks 4-7 compute longer than the others, but that costs the run next to nothing."},
		"yielding": {facts(func(f *verdict.Facts) {
			f.Yielding = &verdict.Cause{Kind: verdict.Kernel, Ranks: "1-7", After: send, Before: wait, EachSeconds: 5, SystemSeconds: 3}
		}), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. Ranks 1-7 spend 3.0 s of the 5.0 s between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 in the kernel, neither blocked nor moving data, as if they yielded the CPU again and again: they may wait there for something outside MPI."},
		"sums": {facts(func(f *verdict.Facts) { f.SumsOnly = true }), "No verdict: by the sums no rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. The times of single calls were not kept (timing aggregated), so what ranks wait for is not known."},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict.Of(nil, c.facts)
			assert.Equal(t, c.says, v.Text)
			assert.Equal(t, verdict.Nobody, v.Blames)
			assert.Nil(t, v.Rank)
			assert.Zero(t, *v.GainSeconds)
			assert.NotNil(t, v.Causes, "[] in JSON, not null")
		})
	}
}
