package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
)

// TestWhatToDoNext: what is advised follows from how the named rank differs, and from what the run loses more to.
func TestWhatToDoNext(t *testing.T) {
	rank := 1
	for name, c := range map[string]struct {
		verdict criticalpath.Verdict
		says    []string
		never   string
	}{
		"longer each time":     {criticalpath.Verdict{CountRatio: 1, EachRatio: 1.3}, []string{"as often as the others, but longer each time"}, "given more work"},
		"more often":           {criticalpath.Verdict{CountRatio: 1.5, EachRatio: 1.02}, []string{"1.5x as often as the others: it was given more work"}, "longer each time"},
		"both, but longer":     {criticalpath.Verdict{CountRatio: 1.14, EachRatio: 1.22}, []string{"1.1x as often as the others on average, and each time 1.2x as long"}, "given more work"},
		"serial work":          {criticalpath.Verdict{}, []string{"it is serial work"}, "as often"},
		"throttled":            {criticalpath.Verdict{CountRatio: 1, EachRatio: 2, ThrottledSeconds: 3}, []string{"Raise the CPU limit"}, "as often"},
		"more lost in turn":    {criticalpath.Verdict{CountRatio: 1, EachRatio: 2, MoreLost: &criticalpath.Loss{Factor: "serialization"}}, []string{"longer each time", "wait for each other in turn"}, "fewer and larger messages"},
		"more lost to network": {criticalpath.Verdict{CountRatio: 1, EachRatio: 2, MoreLost: &criticalpath.Loss{Factor: "transfer"}}, []string{"longer each time", "fewer and larger messages"}, "in turn"},
	} {
		t.Run(name, func(t *testing.T) {
			c.verdict.Rank = &rank
			r := Report{}
			r.Verdict = c.verdict
			r.Ranks = []criticalpath.RankTime{{Rank: 0, Computation: 1}, {Rank: 1, Computation: 2}}
			text := strings.Join(r.next(), "\n")
			for _, says := range c.says {
				assert.Contains(t, text, says)
			}
			assert.NotContains(t, text, c.never)
		})
	}
}

// TestCPUsAreTold: the page and the summary say what ranks had of the CPUs where that is known.
func TestCPUsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		cpus *criticalpath.CPUs
		says string
	}{
		"not known": {nil, ""},
		"shared":    {&criticalpath.CPUs{Share: 0.4, PutAside: 100}, "A rank had a CPU for 40% of its time."},
		"stopped":   {&criticalpath.CPUs{Share: 0.7, Stopped: 0.25}, "A rank had a CPU for 70% of its time, and its container's CPU limit stopped it for 25%."},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{}
			r.CPUs = c.cpus
			assert.Equal(t, c.says, r.cpus())
		})
	}
}

// TestWhatToDoWithoutCPUs: ranks that lack CPUs are told to get some, whatever the efficiencies.
func TestWhatToDoWithoutCPUs(t *testing.T) {
	for blames, says := range map[criticalpath.Blame]string{
		criticalpath.BlamesCPUs:   "Give each rank a CPU of its own",
		criticalpath.BlamesLimits: "Raise the CPU limits",
	} {
		r := Report{}
		r.Verdict.Blames = blames
		assert.Contains(t, strings.Join(r.next(), "\n"), says)
	}
}
