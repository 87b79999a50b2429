package merger

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// A wrapper is a function that calls go through on their way to MPI: of a timer, of a layer above
// MPI, of BLACS. Where it calls MPI says nothing of who communicates, so the calls of a wrapper
// have the site where the wrapper is called. Recorders follow callers where the code of a function
// allows that it is one (tracer/shim/address/callers.c); here is decided whether it is, for all
// ranks alike.
//
// A function is a wrapper if it has one call that leads to MPI, and if more places call the
// function than call the same thing elsewhere in the binary. So the only function that calls
// MPI_Barrier is a wrapper if it is called from two places; one of many that call MPI_Allreduce is
// none, and neither is one that sends and receives. A wrapper of a wrapper is one by the same rule,
// and functions that are called from one place only are passed. Calls that only query the state of
// the process (MPI_Wtime) do not count.

// A location is a line of the source, or an address where the line is not known.
type location struct {
	source trace.Source
	module string // "" if the line is known
	offset uint64
}

func locationOf(s *trace.Site) location {
	if source, known := s.Source(); known {
		return location{source: source}
	}
	return location{module: module(s), offset: s.Offset}
}

func module(s *trace.Site) string {
	if s.BuildID != "" {
		return s.BuildID
	}
	return s.Module
}

// functionOf is the function around a site: a location that is the same for all its lines. A
// function without a name is known by the address only.
func functionOf(s *trace.Site) location {
	at := locationOf(s)
	if s.Function != "" {
		name, _, _ := strings.Cut(s.Function, "<")
		at.source.Function, at.source.Line, at.offset = name, 0, 0
	}
	return at
}

// A callee is a function of MPI or of the program.
type callee struct {
	mpi      uint16
	function location
}

// A callPath is a site that calls MPI, with its callers.
type callPath struct {
	sites  []*trace.Site // from the innermost outwards
	shown  int           // which one is the call site, as far as is known
	callee callee        // what it calls
}

// withoutWrappers returns for each site, as 1 + its number, one without callers: itself, or where
// the wrapper was called that it is in. It adds these to the table.
func (p *internTable) withoutWrappers() []uint32 {
	// 1. The paths of calls, and what they call. An address that calls several functions of MPI is
	// taken as a call of the first one.
	query := map[uint16]bool{}
	for id, f := range p.functions {
		query[id] = f.Semantics().IsLocalQuery()
	}
	functions := make([]uint16, len(p.sites)+1)
	for i := range p.templates {
		s := &p.templates[i].signature
		if query[s.Function] {
			continue
		}
		if of := &functions[s.Site]; *of == 0 || s.Function < *of {
			*of = s.Function
		}
	}
	sites := slices.Clone(p.sites) // addSite moves the table
	paths := make([]*callPath, len(sites)+1)
	var calls []*callPath
	for i := range sites {
		path := &callPath{callee: callee{mpi: functions[i+1]}}
		for site := uint32(i) + 1; site > 0; site = sites[site-1].Caller {
			path.sites = append(path.sites, &sites[site-1])
		}
		paths[i+1] = path
		if path.callee.mpi != 0 {
			calls = append(calls, path)
		}
	}
	// 2. From wrappers outwards, while there are some.
	for moveOut(calls) {
	}
	// 3. The sites without callers.
	shown := make([]uint32, len(paths))
	for i, path := range paths[1:] {
		s := *path.sites[path.shown]
		s.Caller = 0
		shown[i+1] = uint32(p.addSite(s)) + 1
	}
	return shown
}

// A caller is a function, of a binary.
type caller struct {
	module   string
	function location
}

// calling is what a function, or all functions of a binary, call and from which places.
type calling struct {
	paths []*callPath
	from  map[callee]map[location]bool
}

func (c *calling) add(p *callPath) {
	if c.from == nil {
		c.from = map[callee]map[location]bool{}
	}
	if c.from[p.callee] == nil {
		c.from[p.callee] = map[location]bool{}
	}
	c.from[p.callee][locationOf(p.sites[p.shown])] = true
	c.paths = append(c.paths, p)
}

// moveOut moves the sites of calls that are in a wrapper to its callers, and reports whether there
// were any.
func moveOut(paths []*callPath) (moved bool) {
	// 1. Who calls what, and from which places.
	modules, functions := map[string]*calling{}, map[caller]*calling{}
	for _, p := range paths {
		s := p.sites[p.shown]
		by := caller{module(s), functionOf(s)}
		if functions[by] == nil {
			functions[by] = &calling{}
		}
		if modules[by.module] == nil {
			modules[by.module] = &calling{}
		}
		functions[by].add(p)
		modules[by.module].add(p)
	}
	// 2. Functions that call one thing, and are called from more places than there are others.
	for by, f := range functions {
		calls := f.paths
		farther, callers := nextDifference(calls)
		others := len(modules[by.module].from[calls[0].callee]) - 1
		if len(f.from) > 1 || farther == 0 || callers <= max(1, others) {
			continue
		}
		moved = true
		for _, p := range calls {
			if depth := p.shown + farther; depth < len(p.sites) {
				p.callee = callee{function: functionOf(p.sites[depth-1])}
				p.shown = depth
			}
		}
	}
	return moved
}

// nextDifference returns how many frames farther out the first one is that is not the same for all
// paths, and how many there are of it; 0 if there is none or the present sites differ already.
func nextDifference(paths []*callPath) (farther, differ int) {
	for ; ; farther++ {
		at := map[location]bool{}
		for _, p := range paths {
			if depth := p.shown + farther; depth < len(p.sites) {
				at[locationOf(p.sites[depth])] = true
			}
		}
		switch {
		case len(at) == 0, len(at) > 1 && farther == 0:
			return 0, 0
		case len(at) > 1:
			return farther, len(at)
		}
	}
}
