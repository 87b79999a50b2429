package skeleton

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// portable records why a call that creates an object may create another one with other numbers of
// ranks.
func (c *caller) portable() {
	s := c.step
	switch s.meaning.Operation {
	case semantics.CommunicatorCreate, semantics.GroupCreate:
		for i := range s.function.Params {
			p := &s.function.Params[i]
			if n, _ := c.length(c.position(i, false)); p.IsArray() && p.Direction == mpi.In && p.Kind != mpi.KindBool && n > 0 && c.listSymbol(c.position(i, false), n) == "" {
				c.noteRestriction(expression{fixed: fmt.Sprintf("%s of %s is a list", p.Name, s.text())})
			}
		}
	}
}
