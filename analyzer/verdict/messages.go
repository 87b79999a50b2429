package verdict

import "fmt"

// messages is about point-to-point messages themselves.
type messages struct{ calls }

func (c messages) sentence() string {
	what := "messages"
	switch c.Form {
	case NoOverlap:
		what = "non-blocking messages"
	case TooLarge:
		what = "large messages"
		if c.PieceBytes > 0 {
			what += " of many small pieces"
		}
	case TooMany:
		what = "many small messages"
	}
	return c.costly(what, "messages")
}

func (c messages) short() string { return c.mostOfAll("messages") }

func (c messages) advice(Neighbors) []string {
	step := c.timeline()
	switch {
	case c.Form == NoOverlap:
		step = c.progress()
	case c.PieceBytes > 0:
		step = c.contiguous()
	case c.Form == TooLarge:
		step = "Send less: only what has changed, in a smaller type, or compressed. " + c.overlap()
	case c.Form == TooMany:
		from := " from " + c.Before.At()
		if c.Completes {
			from = ""
		}
		step = fmt.Sprintf("Send fewer and larger messages: collect what goes to one rank%s and send it at once (a derived datatype, MPI_Pack, a buffer per neighbor).", from)
	case c.Bytes == 0:
		step += " How much data they move is not known."
	}
	return c.adviseRetransmits(step)
}
