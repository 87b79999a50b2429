package skeleton

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// portable notes why a call may be another one with other numbers of ranks: one trace does not tell whether what some ranks
// send is what others receive then. It is if all ranks call, with peers as functions of rank and size.
func (c *caller) portable() {
	s := c.step
	switch s.meaning.Operation {
	case semantics.Send, semantics.Receive, semantics.SendReceive, semantics.MatchedReceive, semantics.Probe, semantics.MatchedProbe,
		semantics.RemoteAccess:
		if n := len(c.ranksOf([]*step{s})); n < len(c.ranks) {
			c.holds(expression{fixed: fmt.Sprintf("only %d of %d ranks come to %s", n, len(c.ranks), s.text())})
		}
	case semantics.CommunicatorCreate, semantics.GroupCreate:
		for i := range s.function.Params {
			p := &s.function.Params[i]
			if n, _ := c.length(c.position(i, false)); p.IsArray() && p.Direction == mpi.In && p.Kind != mpi.KindBool && n > 0 && c.listSymbol(c.position(i, false), n) == "" {
				c.holds(expression{fixed: fmt.Sprintf("%s of %s is a list", p.Name, s.text())})
			}
		}
	}
}
