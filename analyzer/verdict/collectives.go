package verdict

import "fmt"

// collectives is about collective operations themselves.
type collectives struct{ calls }

func (c collectives) sentence() string {
	what := "collectives"
	switch c.Form {
	case NoOverlap:
		what = "non-blocking collectives"
	case TooLarge:
		what = "collectives of much data"
	case TooOften:
		what = "many collectives"
	}
	return c.costly(what, "collectives")
}

func (c collectives) short() string { return c.mostOfAll("collectives") }

func (c collectives) advice(Neighbors) []string { return c.adviseRetransmits(c.step()) }

// step returns what to do about the collectives themselves.
func (c collectives) step() string {
	at := c.Before.At()
	switch {
	case c.Form == NoOverlap:
		return c.progress()
	case c.Form == TooLarge:
		return "Reduce or exchange less data, or on fewer ranks (a communicator per node first). " + c.overlap()
	case c.Form == TooOften && c.Completes:
		return fmt.Sprintf("Start fewer of the collectives that %s completes: take them out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations.", at)
	case c.Form == TooOften:
		return fmt.Sprintf("Call %s less often: take it out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations. If the result is needed only later, use the non-blocking form.", at)
	}
	return c.timeline()
}
