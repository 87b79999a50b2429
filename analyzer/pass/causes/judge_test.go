package causes

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// docs/verdict.md has the least gain of each cause.
func TestLeastGainsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/verdict.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| cause must gain |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, l := range leastGain {
		name := "`" + string(l.kind) + "`"
		switch l.form {
		case verdict.NoForm:
		case verdict.Master:
			name += " of a `master`"
		default:
			name = "`" + string(l.form) + "`"
		}
		row := fmt.Sprintf(`(?m)^\|.*%s.*\| %.0f %% \|$`, regexp.QuoteMeta(name), 100*l.gain)
		assert.Regexp(t, row, table)
	}
}

// Package verdict has words for each cause.
func TestCausesHaveWords(t *testing.T) {
	for _, l := range leastGain {
		c := verdict.Cause{Kind: l.kind, Form: l.form}
		assert.NotEmpty(t, c.Short(), l.kind)
	}
}

// Ranks compute longer for no known reason, which gains 400 ms of a run of 1 s. Something that the
// kernel counted comes before if it gains more than equal work would (0: there are others to
// compare with), or half of that on the same ranks.
func TestCountedTimeBeforeUnknownReasons(t *testing.T) {
	e := &evidence{Comparison: outliers.New(&accounts.Accounts{End: 1e9, Progressed: 1e9})}
	of := func(gain int64, c verdict.Cause) Hypothesis { return Hypothesis{Cause: c, length: 1e9 - gain*1e6} }
	excess := func(form verdict.Form, ranks string) verdict.Cause {
		return verdict.Cause{Kind: verdict.Excess, Form: form, Ranks: ranks}
	}
	for _, c := range []struct {
		shared int64
		other  Hypothesis
		before bool
	}{
		{200, of(240, excess(verdict.Preempted, "0")), true},
		{200, of(190, excess(verdict.Preempted, "0")), false},
		{200, of(240, excess(verdict.Preempted, "1")), true},
		{200, of(240, verdict.Cause{Kind: verdict.CPUs}), true},
		{200, of(240, verdict.Cause{Kind: verdict.Tracer, Form: verdict.Compressor}), true},
		{200, of(240, verdict.Cause{Kind: verdict.Messages}), false}, // what calls show
		{0, of(240, excess(verdict.Preempted, "1")), true},
		{0, of(190, excess(verdict.Preempted, "1")), false},
		{0, of(240, excess(verdict.Preempted, "0")), false},
		{0, of(240, verdict.Cause{Kind: verdict.CPUs}), false},
	} {
		best := of(400, excess(verdict.Always, "1"))
		best.sharedGain = c.shared * 1e6
		assert.Equal(t, c.before, countedBefore(e, []Hypothesis{best, c.other}, 0, 1e9) == 1, "%+v", c)
		best.Cause.BlockedSeconds = 0.1 // a known reason
		assert.Zero(t, countedBefore(e, []Hypothesis{best, c.other}, 0, 1e9), "%+v", c)
	}
}

// Rank 1 of three is stopped for 300 ms, nobody knows where. If it takes 10 ms longer than the
// others somewhere, 15 to 60 times, that is where; more often it has more work, too.
func TestStopsArePlaced(t *testing.T) {
	for of, is := range map[int]bool{14: false, 16: true, 25: true, 60: true, 61: false} {
		e := &evidence{Comparison: outliers.New(&accounts.Accounts{End: 1e9, Progressed: 1e9, Ranks: make([]trace.Rank, 3)})}
		list := []Hypothesis{
			{length: 6e8, Cause: verdict.Cause{Kind: verdict.Excess, Form: verdict.Halted, Ranks: "1", BlockedSeconds: 0.3}},
			{length: 8e8, Cause: verdict.Cause{Kind: verdict.Excess, Form: verdict.Always, Ranks: "1", EachSeconds: 0.015, OthersSeconds: new(0.005), Of: of}},
		}
		assert.Equal(t, is, placed(e, list, 0, 1e9) == 1, of)
		if is {
			assert.Equal(t, verdict.Blocked, list[1].Cause.Form)
			assert.InDelta(t, min(0.3, 0.015*float64(of)), list[1].Cause.BlockedSeconds, 1e-9)
		}
		e.Ranks = e.Ranks[:2]
		list[1].Cause.Form = verdict.Always
		assert.Equal(t, 0, placed(e, list, 0, 1e9), "it may have more work")
	}
}
