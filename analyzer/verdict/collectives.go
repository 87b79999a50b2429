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
	case Creation:
		what = "MPI objects that are created again and again"
	case OwnOp:
		what = "reductions with the program's own operation"
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
	case c.PieceBytes > 0:
		return c.contiguous()
	case c.Form == TooLarge:
		return "Reduce or exchange less data, or on fewer ranks (a communicator per node first). " + c.overlap()
	case c.Form == Creation:
		return "Create communicators and windows once, before the loop, keep and reuse them, and free them in the end."
	case c.Form == OwnOp:
		return fmt.Sprintf("Look at the operation that the program passes to %s (MPI_Op_create): it runs inside these calls. Make it faster, or use one of MPI's own operations.", at)
	case c.Form == TooOften && c.Completes:
		return fmt.Sprintf("Start fewer of the collectives that %s completes: take them out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations.", at)
	case c.Form == TooOften:
		return fmt.Sprintf("Call %s less often: take it out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations. If the result is needed only later, use the non-blocking form.", at)
	}
	return c.timeline()
}
