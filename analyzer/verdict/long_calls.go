package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// longCalls is about a few calls, of messages or of another kind, that take most of the time of all
// calls at their call site.
type longCalls struct {
	calls
	all words // of what is said if the calls are alike
}

// unlessLong returns the words of a kind of calls, which are others if few of them are long.
func unlessLong(of func(c calls) words) func(c *Cause) words {
	return func(c *Cause) words {
		if c.Form == WarmUp || c.Form == Once || c.Form == Sometimes {
			return longCalls{calls{c}, of(calls{c})}
		}
		return of(calls{c})
	}
}

func (c longCalls) charge() Charge { return c.all.charge() }

func (c longCalls) sentence() string { return c.long() + c.retransmitted() }

// long says which calls are long.
func (c longCalls) long() string {
	of := fmt.Sprintf(" of %s of %s", count(c.Of, "call"), c.Before.At())
	each, usual, on := wording.Duration(c.EachSeconds), wording.Duration(*c.OthersSeconds), ""
	if *c.OthersSeconds < 1e-6 {
		usual = "less than 1 µs"
	}
	if c.Ranks != "" {
		on = " on " + c.Who() + c.whereabouts()
	}
	switch {
	case c.Form == WarmUp && c.Instances == 1:
		return fmt.Sprintf("a slow start makes this job slow: the first%s takes %s%s, later ones take %s", of, each, on, usual)
	case c.Form == WarmUp:
		return fmt.Sprintf("a slow start makes this job slow: the first %d%s take %s each%s, later ones %s", c.Instances, of, each, on, usual)
	case c.Form == Once:
		return fmt.Sprintf("a single long call makes this job slow: the %s%s takes %s%s, the others take %s", humanize.Ordinal(int(c.First)), of, each, on, usual)
	}
	return fmt.Sprintf("a few long calls make this job slow: %s%s take %s each, the others %s", humanize.Comma(int64(c.Instances)), of, each, usual)
}

func (c longCalls) short() string {
	switch {
	case c.Form == WarmUp:
		return "a slow start of " + c.Before.At()
	case c.Form == Once:
		return "a single long call of " + c.Before.At()
	}
	return "a few long calls of " + c.Before.At()
}

func (c longCalls) advice(Neighbors) []string {
	if c.Form == WarmUp {
		return c.adviseRetransmits("The library does there what it does once (it sets up connections, buffers, windows or files), or the program moves more data than later. What is done once counts less in a longer run.")
	}
	return c.adviseRetransmits(fmt.Sprintf("Look at these calls of %s in the timeline: do they move more data than the others? If not, see what the other ranks do then, and what else uses their machines, the network or the file system at that time.", c.Before.At()))
}
