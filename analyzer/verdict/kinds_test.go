package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

var (
	wait   = verdict.Call{Function: "MPI_Waitall", CallSite: "a.c:20"}
	send   = verdict.Call{Function: "MPI_Send", CallSite: "a.c:10"}
	reduce = verdict.Call{Function: "MPI_Allreduce", CallSite: "a.c:30"}
)

// slow returns a cause about rank 3, which computes longer each time.
func slow(change func(c *verdict.Cause)) verdict.Cause {
	c := verdict.Cause{Kind: verdict.Excess, Form: verdict.Always, Ranks: "3", Rank: new(3), Pod: "w-1", Node: "n2", Host: "w-1",
		After: send, Before: wait, Of: 100, EachSeconds: 0.06, OthersSeconds: new(0.02), OthersOf: 100, GainSeconds: new(4.0)}
	if change != nil {
		change(&c)
	}
	return c
}

// several returns a cause about ranks 4-7, of several pods and nodes.
func several(change func(c *verdict.Cause)) verdict.Cause {
	return slow(func(c *verdict.Cause) {
		c.Ranks, c.Rank, c.Pod, c.Node, c.Host = "4-7", new(4), "", "", ""
		if change != nil {
			change(c)
		}
	})
}

// unequal returns a cause about unequal work of 8 ranks.
func unequal(form verdict.Form, shape verdict.Shape, change func(c *verdict.Cause)) verdict.Cause {
	c := verdict.Cause{Kind: verdict.Imbalance, Form: form, After: send, Before: wait, GainSeconds: new(4.0),
		Spread: &verdict.Spread{Ranks: "0-7", Least: 1, Mean: 2, Most: 3, MaxRank: 5, Shape: shape}}
	if change != nil {
		change(&c)
	}
	return c
}

const without = " Without that, the run would take 4.0 s less (of 10.0 s)."

// said is a cause with what is said of it.
type said struct {
	cause verdict.Cause
	says  string
}

// assertSays checks the sentence of the first cause.
func assertSays(t *testing.T, cases map[string]said) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := verdict.Of([]verdict.Cause{c.cause}, verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8})
			assert.Equal(t, c.says, v.Text)
			assert.Equal(t, c.cause.Kind, v.Blames)
			assert.Equal(t, c.cause.Ranks, v.Ranks)
			assert.Equal(t, c.cause.Rank, v.Rank)
			assert.Equal(t, c.cause.GainSeconds, v.GainSeconds)
		})
	}
}

// assertNames checks the short names of the following causes, each with its gain given that those
// before are removed.
func assertNames(t *testing.T, cases map[string]said) {
	t.Helper()
	for name, c := range cases {
		t.Run(name+", next", func(t *testing.T) {
			third := verdict.Cause{Kind: verdict.IO, Before: reduce}
			v := verdict.Of([]verdict.Cause{slow(nil), c.cause, third}, verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8})
			assert.Contains(t, v.Text, without+" Next: "+c.says+" (another 4.0 s). Then: files, all in MPI_Allreduce at a.c:30.")
		})
	}
}

// advised is a cause with texts of the advice on it, and a text that is in that on others.
type advised struct {
	cause     verdict.Cause
	neighbors verdict.Neighbors
	says      []string
	never     string
}

// assertAdvises checks what the advice has and lacks.
func assertAdvises(t *testing.T, cases map[string]advised) {
	t.Helper()
	for name, c := range cases {
		t.Run(name+", advice", func(t *testing.T) {
			steps := c.cause.Advice(c.neighbors)
			text := strings.Join(steps, "\n")
			for _, says := range c.says {
				assert.Contains(t, text, says)
			}
			assert.NotContains(t, text, c.never)
			for _, step := range steps {
				assert.True(t, strings.HasSuffix(step, "."), step)
			}
		})
	}
}

// A cause is of a computation if the calls around it say where it is.
func TestIsComputation(t *testing.T) {
	for kind, forms := range map[verdict.Kind]map[verdict.Form]bool{
		verdict.Excess:        {verdict.Always: true, verdict.Halted: false},
		verdict.Imbalance:     {verdict.Heavy: true, verdict.Idle: false},
		verdict.Variation:     {verdict.Once: true},
		verdict.Serialization: {verdict.Chain: false, verdict.Master: true},
		verdict.Kernel:        {verdict.NoForm: true},
		verdict.IO:            {verdict.NoForm: false, verdict.Blocked: true},
		verdict.Messages:      {verdict.TooMany: false},
		verdict.Hang:          {verdict.Cycle: false},
	} {
		for form, computes := range forms {
			c := verdict.Cause{Kind: kind, Form: form}
			assert.Equal(t, computes, c.IsComputation(), "%s, %s", kind, form)
		}
	}
}

// The time of messages between nodes is in the row of messages, also if few of them are long. What
// ranks compute alone, or longer than others, costs who waits for them; a chain costs all others.
func TestCharges(t *testing.T) {
	for _, c := range []struct {
		kind    verdict.Kind
		form    verdict.Form
		charges verdict.Charge
	}{
		{verdict.Network, verdict.TooMany, verdict.Charge{Row: verdict.RowMessages}},
		{verdict.Network, verdict.Once, verdict.Charge{Row: verdict.RowMessages}},
		{verdict.Excess, verdict.Halted, verdict.Charge{Row: verdict.RowExcess, OfRanks: true}},
		{verdict.Serialization, verdict.Master, verdict.Charge{Row: verdict.RowSerialization, OfRanks: true}},
		{verdict.Serialization, verdict.Chain, verdict.Charge{Row: verdict.RowSerialization, OfOthers: true}},
		{verdict.Tracer, verdict.Compressor, verdict.Charge{Row: verdict.RowPreempted, Most: 2}},
		{verdict.Tracer, verdict.NoForm, verdict.Charge{}},
		{verdict.IO, verdict.Blocked, verdict.Charge{}},
	} {
		cause := verdict.Cause{Kind: c.kind, Form: c.form, CompressorSeconds: 2}
		assert.Equal(t, c.charges, cause.Charge(), "%s %s", c.kind, c.form)
	}
}
