package otf2

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/trace"
)

// A frame is a function on the path to an MPI call.
type frame struct {
	region uint32
	site   uint32 // call site in it of the next inner frame, 1 + an index into the trace's sites
}

// paths has the functions on the call paths, as regions. They are entered with the first MPI call
// that is made from them, and left with the last one before a call from elsewhere. What they do
// before and after is unknown, and belongs to the innermost function that both calls share.
type paths struct {
	export *export
	known  map[uint32][]frame  // by call site
	names  map[uint32]uint32   // of call sites, strings
	region map[function]uint32 // of functions
}

type function struct{ module, name, file string }

func newPaths(e *export) paths {
	return paths{export: e, known: map[uint32][]frame{}, names: map[uint32]uint32{}, region: map[function]uint32{}}
}

// nameOf returns the name of a call site.
func (p *paths) nameOf(site uint32, name func() string) uint32 {
	n, known := p.names[site]
	if !known {
		n = p.export.strings.of(name())
		p.names[site] = n
	}
	return n
}

// of returns the path to a call site, from the outermost function inwards.
func (p *paths) of(site uint32) []frame {
	path, known := p.known[site]
	if !known {
		sites := p.export.trace.Sites()
		for at := site; at > 0 && int(at) <= len(sites); at = sites[at-1].Caller {
			path = append(path, frame{p.regionOf(&sites[at-1]), at})
		}
		slices.Reverse(path)
		p.known[site] = path
	}
	return path
}

// regionOf returns the region of the function that contains a site.
func (p *paths) regionOf(s *trace.Site) uint32 {
	f := function{s.Module, s.Function, s.File}
	if s.Function == "" {
		f.name = callsite.Name(s) // an unknown function
	}
	n, known := p.region[f]
	if !known {
		e := p.export
		file := uint32(Undefined)
		if s.File != "" {
			file = e.strings.of(s.File)
		}
		n = e.region(Region{Name: e.strings.of(f.name), File: file, Role: RoleFunction, Paradigm: ParadigmSampling})
		p.region[f] = n
	}
	return n
}

// follow leaves the functions that the current call is not made from, and enters those that it is.
func (p *process) follow(l *line) error {
	site := l.event.Signature.Site
	if site == l.site {
		return nil
	}
	l.site = site
	path := p.paths.of(site)
	common := 0
	for common < len(path) && common < len(l.path) && path[common].region == l.path[common].region {
		common++
		if path[common-1].site != l.path[common-1].site {
			break // a call from elsewhere starts again
		}
	}
	if err := p.leavePath(l, common); err != nil {
		return err
	}
	copy(l.path, path[:common])
	for _, f := range path[common:] {
		if err := p.write(l, l.at, &Event{Kind: Enter, Object: f.region, Site: Undefined}); err != nil {
			return err
		}
		l.path = append(l.path, f)
	}
	return nil
}

// leavePath leaves all but the given number of outermost functions, at the time at which the last
// call was left.
func (p *process) leavePath(l *line, outer int) error {
	for n := len(l.path); n > outer; n-- {
		if err := p.write(l, l.now, &Event{Kind: Leave, Object: l.path[n-1].region}); err != nil {
			return err
		}
		l.path = l.path[:n-1]
	}
	return nil
}
