package trace

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A callPlan is what a cursor needs to know of a signature and is the same on all threads.
type callPlan struct {
	function  *Function
	semantics *semantics.Function
	site      *Site
	comm      int          // position in In of the call's communicator, −1
	newComm   int          // position in Out of a communicator handle, −1
	variable  bool         // some value depends on the thread or the call: a stream or an elastic value
	creates   bool         // Signature.Communicator is a stream
	grid      *timing.Grid // of the call's times; nil: they are not rounded
}

// planCalls makes the plans of all signatures; means are the semantics of c's functions.
func planCalls(c *Content, means []*semantics.Function) []callPlan {
	plans := make([]callPlan, len(c.Signatures))
	settings := &c.Meta.Timing
	for i := range c.Signatures {
		s := &c.Signatures[i]
		p := &plans[i]
		function := c.functionIndex(s.Function)
		p.function, p.semantics = &c.Functions[function], means[function]
		if settings.Mode == timing.Lossy {
			p.grid, _ = settings.GridOf(p.function.Name) // the error is one that there is a grid for (Validate)
		}
		if s.Site > 0 {
			p.site = &c.Sites[s.Site-1]
		}
		p.comm = position(p.semantics.In[semantics.Communicator], s.In)
		p.newComm = position(p.semantics.Out[semantics.Communicator], s.Out)
		p.creates = s.Communicator.Form == Stream
		p.variable = s.Return.Varies() || anyVaries(s.In) || anyVaries(s.Out)
	}
	return plans
}

// position is where values have an argument, −1 where they do not: of a trace that was written wrongly they may be few.
func position(at int8, values []Value) int {
	if int(at) >= len(values) {
		return -1
	}
	return int(at)
}

// planTiming is how the times of calls with these signatures are written.
func planTiming(signatures []Signature, m *Meta, functions []Function) (*timing.Plan, error) {
	p := &timing.Plan{Functions: make([]int32, len(signatures)), Grids: make([]*timing.Grid, len(signatures))}
	byFunction := map[uint16]*timing.Grid{}
	if m.Timing.Mode == timing.Lossy {
		for i := range functions {
			g, err := m.Timing.GridOf(functions[i].Name)
			if err != nil {
				return nil, err
			}
			byFunction[functions[i].ID] = g
		}
	}
	for i := range signatures {
		p.Functions[i] = int32(signatures[i].Function)
		p.Grids[i] = byFunction[signatures[i].Function]
	}
	return p, nil
}
