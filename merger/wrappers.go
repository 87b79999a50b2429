package merger

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// A wrapper is a function that calls go through on their way to MPI: of a timer, of a layer above
// MPI, of BLACS. Where it calls MPI says nothing of who communicates, so the calls of a wrapper
// have the site where the wrapper is called. Recorders follow callers where the code of a function
// allows that it is one (tracer/shim/address/callers.c); here is decided whether it is, for all
// ranks alike.
//
// A function may be a wrapper if it has one call that leads to MPI, and a rank calls it from
// several places. It is one if these are more than the places from which other functions, which may
// not be wrappers, call the same thing in the binary. So functions that alone call MPI_Allreduce,
// to sum and to take the maximum, are wrappers if each is called from two places; one of many that
// call it is none, and neither is one that sends and receives. A wrapper of a wrapper is one by the
// same rule, and functions that are called from one place only are passed. Calls that only query
// the state of the process (MPI_Wtime) do not count. What each rank calls from one place, though
// not all from the same one, is one region of the program (places.go), and remains one.

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
		at.source.Function, at.source.Line, at.offset = funcname.Text(s.Function), 0, 0
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
	sets   []int         // the sets of sites of threads that have it
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
	// 2. Which sites are called on one thread.
	p.eachSetOfSites(func(set int, site uint32) {
		paths[site].sets = append(paths[site].sets, set)
	})
	// 3. From wrappers outwards, while there are some.
	for moveOut(calls) {
	}
	// 4. The sites without callers.
	shown := make([]uint32, len(paths))
	for i, path := range paths[1:] {
		s := *path.sites[path.shown]
		s.Caller = 0
		shown[i+1] = uint32(p.addSite(s)) + 1
	}
	return shown
}

// eachSetOfSites calls f for the sites of each thread that have callers. Threads with the same
// sites are one set.
func (p *internTable) eachSetOfSites(f func(set int, site uint32)) {
	sets := map[string]bool{}
	for i := range p.shapes {
		var sites []uint32
		for _, template := range p.shapes[i].templates {
			if site := p.templates[template].signature.Site; site > 0 && p.sites[site-1].Caller > 0 {
				sites = append(sites, site)
			}
		}
		slices.Sort(sites)
		sites = slices.Compact(sites)
		var key []byte
		for _, site := range sites {
			key = binary.BigEndian.AppendUint32(key, site)
		}
		if set := len(sets); len(sites) > 0 && !sets[string(key)] {
			sets[string(key)] = true
			for _, site := range sites {
				f(set, site)
			}
		}
	}
}

// A function is what calls something: its paths, what it calls, and from where it is called.
type function struct {
	paths   []*callPath
	callees map[callee]bool
	farther int // frames to the next ones that differ; 0: there are none
	callers int // how many of them there are on one thread
}

// mayBeWrapper reports whether a thread calls the function from several places, and the function
// has one call that leads to MPI.
func (f *function) mayBeWrapper() bool { return f.farther > 0 && f.callers > 1 && len(f.callees) == 1 }

// A called thing is called in a binary.
type called struct {
	callee callee
	module string
}

// moveOut moves the sites of calls that are in a wrapper to its callers, and reports whether there
// were any.
func moveOut(paths []*callPath) (moved bool) {
	// 1. Which functions there are. One source in several binaries is one function.
	functions := map[location]*function{}
	for _, p := range paths {
		by := functionOf(p.sites[p.shown])
		if functions[by] == nil {
			functions[by] = &function{callees: map[callee]bool{}}
		}
		functions[by].paths = append(functions[by].paths, p)
		functions[by].callees[p.callee] = true
	}
	// 2. From how many places other functions than possible wrappers call the same.
	places := map[called]map[location]bool{}
	for _, f := range functions {
		if f.farther, f.callers = nextDifference(f.paths); f.mayBeWrapper() {
			continue
		}
		for _, p := range f.paths {
			s := p.sites[p.shown]
			of := called{p.callee, module(s)}
			if places[of] == nil {
				places[of] = map[location]bool{}
			}
			places[of][locationOf(s)] = true
		}
	}
	// 3. Those that are called from more places.
	for _, f := range functions {
		if !f.mayBeWrapper() {
			continue
		}
		others := map[location]bool{}
		for _, p := range f.paths {
			maps.Copy(others, places[called{p.callee, module(p.sites[p.shown])}])
		}
		if f.callers <= len(others) {
			continue
		}
		moved = true
		for _, p := range f.paths {
			if depth := p.shown + f.farther; depth < len(p.sites) {
				p.callee = callee{function: functionOf(p.sites[depth-1])}
				p.shown = depth
			}
		}
	}
	return moved
}

// nextDifference returns how many frames farther out the first one is that is not the same for all
// paths, and how many there are of it on one thread; 0 if there is none or the present sites differ
// already.
func nextDifference(paths []*callPath) (farther, differ int) {
	for ; ; farther++ {
		at := map[location]bool{}
		onThread := map[int]map[location]bool{} // by set
		for _, p := range paths {
			if depth := p.shown + farther; depth < len(p.sites) {
				where := locationOf(p.sites[depth])
				at[where] = true
				for _, set := range p.sets {
					if onThread[set] == nil {
						onThread[set] = map[location]bool{}
					}
					onThread[set][where] = true
				}
			}
		}
		switch {
		case len(at) == 0, len(at) > 1 && farther == 0:
			return 0, 0
		case len(at) > 1:
			for _, places := range onThread {
				differ = max(differ, len(places))
			}
			return farther, differ
		}
	}
}
