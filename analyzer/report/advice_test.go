package report

import (
	"strings"
	"testing"

	found "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// TestWhatToDoNext: all the advice about the first cause, and the first step about each of those
// that follow; who runs beside a rank is counted in the table of ranks.
func TestWhatToDoNext(t *testing.T) {
	rank := func(node string) verdict.Cause {
		return verdict.Cause{Kind: verdict.Excess, Form: verdict.Always, Ranks: "1", Rank: new(1), Node: node, Of: 10, EachSeconds: 2, OthersSeconds: new(1.0), OthersOf: 10}
	}
	chain := verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain}
	messages := verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany}
	for name, c := range map[string]struct {
		causes []verdict.Cause
		says   []string
		never  string
	}{
		"a rank":                  {[]verdict.Cause{rank("a")}, []string{"but longer", "Most ranks on its node a are slower"}, "fewer and larger messages"},
		"on another node":         {[]verdict.Cause{func() verdict.Cause { c := rank("b"); c.Ranks, c.Rank = "3", new(3); return c }()}, []string{"Nothing else of this job runs on its node b"}, "Most ranks"},
		"a rank, then the order":  {[]verdict.Cause{rank("a"), chain}, []string{"but longer", "Follow the critical path"}, "Let ranks start with what they have"},
		"a rank, then messages":   {[]verdict.Cause{rank("a"), messages}, []string{"but longer", "fewer and larger messages"}, "Follow the critical path"},
		"messages, then the rank": {[]verdict.Cause{messages, rank("a")}, []string{"fewer and larger messages", "See the table of ranks"}, "but longer"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{}
			r.Put(&found.Findings{Verdict: verdict.Verdict{Causes: c.causes}})
			r.Put(&ranks.Findings{Ranks: []ranks.RankTime{{Rank: 0, Node: "a", Computation: 1.5}, {Rank: 1, Node: "a", Computation: 2}, {Rank: 2, Node: "c", Computation: 0.5}, {Rank: 3, Node: "b", Computation: 1}}})
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
		cpus *cpus.CPUs
		says string
	}{
		"not known": {nil, ""},
		"shared":    {&cpus.CPUs{Share: 0.4, InvoluntarySwitches: 100}, "A rank had a CPU for 40% of its time."},
		"stopped":   {&cpus.CPUs{Share: 0.7, Stopped: 0.25}, "A rank had a CPU for 70% of its time, and its container's CPU limit stopped it for 25%."},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{}
			r.Put(&cpus.Findings{CPUs: c.cpus})
			assert.Equal(t, c.says, cpus.Sentence(&r.Run))
		})
	}
}

// TestWhatToDoWithoutCPUs: ranks that lack CPUs are told to get some, whatever the efficiencies.
func TestWhatToDoWithoutCPUs(t *testing.T) {
	for form, says := range map[verdict.Form]string{
		verdict.TooFew: "Give each rank a CPU of its own",
		verdict.Limits: "Raise the CPU limits",
	} {
		r := Report{}
		r.Put(&found.Findings{Verdict: verdict.Verdict{Causes: []verdict.Cause{{Kind: verdict.CPUs, Form: form}}}})
		assert.Contains(t, strings.Join(r.next(), "\n"), says)
	}
}

// What to do without a verdict follows from the error that was seen, and from nothing else.
func TestWhatToDoWithoutAVerdict(t *testing.T) {
	for why, says := range map[string]string{
		"value sequence 7: " + codec.ErrMemory.Error(): "with more memory",
		"verdict: " + codec.ErrNumber.Error():          "Remove the cause of this error",
		"":                                             "Analyze this run once more: cairn analyze",
	} {
		text := strings.Join((&Report{Missing: []MissingAnalysis{{Name: "verdict", Asked: true, Why: why}}}).next(), "\n")
		assert.Contains(t, text, says)
		assert.Equal(t, strings.Contains(why, "memory"), strings.Contains(text, "memory"))
	}
}
