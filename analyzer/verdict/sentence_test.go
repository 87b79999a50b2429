package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// What sentences of all kinds have in common.
func TestTheSentence(t *testing.T) {
	assertSays(t, map[string]said{
		"little":                    {slow(func(c *verdict.Cause) { c.GainSeconds = new(0.3) }), "Rank 3 (pod w-1, node n2) makes this job a little slower: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms. Without that, the run would take 300 ms less (of 10.0 s)."},
		"two readings":              {slow(func(c *verdict.Cause) { c.SharedGainSeconds = new(2.0) }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms. If the rank itself is slow, the run would take 4.0 s less (of 10.0 s) without that; if it has more work, the run would take 2.0 s less if both ranks shared it."},
		"gain not known":            {slow(func(c *verdict.Cause) { c.GainSeconds, c.After = nil, verdict.Call{} }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time before MPI_Waitall at a.c:20, the others for 20 ms. How much shorter the run would be without that is not known, since the times of single calls were not kept."},
		"between calls of one site": {slow(func(c *verdict.Cause) { c.After = wait }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between two calls of MPI_Waitall at a.c:20, the others for 20 ms." + without},
	})
}

// An untraced part is mentioned first; for missing ranks and lost calls see TestRecorded.
func TestTheGapsComeFirst(t *testing.T) {
	for name, c := range map[string]struct {
		facts verdict.Facts
		says  string
	}{
		"untraced":        {verdict.Facts{UntracedSeconds: 40, Ranks: 8}, "Tracing was off for 50% of the ranks' time, of which nothing is known. Of the rest: rank 3 "},
		"hardly untraced": {verdict.Facts{UntracedSeconds: 3, Ranks: 8}, "Rank 3 "},
		"nothing":         {verdict.Facts{Ranks: 8}, "Rank 3 "},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.RunSeconds, c.facts.Ended = 10, c.facts.Ranks
			assert.Equal(t, c.says, verdict.Of([]verdict.Cause{slow(nil)}, c.facts).Text[:len(c.says)])
		})
	}
}

// A short run is said to be short, with and without a cause, if a rank ran to its end.
func TestShortRuns(t *testing.T) {
	facts := verdict.Facts{RunSeconds: 0.5, StartEnd: 0.39, Ranks: 4, Ended: 4, Least: 0.1, Most: 0.1, Parallel: new(0.2)}
	assert.Equal(t, "No rank stands out: the 4 ranks compute for 100 ms each, 20% of the 500 ms that the run takes; "+
		"most of the rest, 78%, is the start and the end of MPI, which a longer run would hide. "+
		"The run is too short to say more: 110 ms between the start and the end of MPI.", verdict.Of(nil, facts).Text)
	short := slow(func(c *verdict.Cause) { c.GainSeconds = new(0.05) })
	assert.Regexp(t, `^Rank 3 .* less \(of 500 ms\). The run is short, 110 ms between the start and the end of MPI: a longer one shows this more surely.$`,
		verdict.Of([]verdict.Cause{short}, facts).Text)
	facts.Ended = 0
	assert.NotContains(t, verdict.Of(nil, facts).Text, "short")
	facts.Ended, facts.StartEnd = 4, 0.19
	assert.NotContains(t, verdict.Of(nil, facts).Text, "short")
}
