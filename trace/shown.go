package trace

import (
	"path"
	"strings"
)

// showCallers decides which site is shown for each one that calls MPI. It is the only place where
// that is decided.
//
// A function that contains one call of an MPI function, and is called from several places, is a
// wrapper: the nearest caller that differs is shown. If a function contains several calls, they
// differ already. Calls from a library are shown where the library was called, if that differs: the
// innermost site outside of it, or the outermost library that differs on the way to the executable.
//
// Where whole call paths were not asked for, callers beyond the shown site are left out: they are
// those that the tracer could not know to be of no use, since that takes all ranks. For this reason
// it is done for finished traces only.
func (c *Content) showCallers() {
	if !c.Meta.Final || len(c.Sites) == 0 {
		return
	}
	callers := callersOf(c)
	for of, sites := range callers.wrappers {
		if len(callers.places[of.in()]) > 1 {
			continue // not a wrapper
		}
		callers.nearestDifference(sites)
	}
	for _, sites := range callers.libraries {
		callers.outermostDifference(sites)
	}
	callers.set(c)
}

// set sets what was decided.
func (k *callingSites) set(c *Content) {
	shown := make([]uint32, len(c.Sites)) // by site, 1 + an index; 0: itself
	for _, s := range k.all {
		if c.Meta.CallSites == "path" {
			shown[s.path[0]] = s.path[s.shown] + 1
			continue
		}
		outer := uint32(0) // the copy of the caller
		for depth := s.shown; depth > 0; depth-- {
			copied := c.Sites[s.path[depth]]
			copied.Caller = outer
			c.Sites = append(c.Sites, copied)
			outer = uint32(len(c.Sites))
			if depth == s.shown {
				shown[s.path[0]] = outer
			}
		}
		c.Sites[s.path[0]].Caller = outer
	}
	for i, of := range shown {
		if of > 0 && int(of) != i+1 {
			c.Sites[i].ShownAs = &c.Sites[of-1]
		}
	}
}

// A sourceLocation is a line of the source, or an address where that is not known.
type sourceLocation struct {
	buildID, file string
	at            uint64
}

func (s *Site) location() sourceLocation {
	if s.File != "" && s.Line > 0 {
		return sourceLocation{file: s.File, at: uint64(s.Line)}
	}
	return sourceLocation{buildID: s.BuildID, at: s.Offset}
}

// A calling site calls an MPI function.
type callingSite struct {
	path  []uint32 // indices of sites: it, and its callers from the innermost outwards
	entry []int    // where in path the first site outside of the library is, then outside of that one, up to the executable
	shown int      // where in path the shown site is
}

// A place is where an MPI function is called.
type place struct {
	mpi      uint16
	function string // "": unknown
	location sourceLocation
}

func (p place) in() place {
	if p.function != "" {
		p.location = sourceLocation{file: p.location.file}
	}
	return p
}

type callingSites struct {
	sites     []Site
	all       []*callingSite
	wrappers  map[place][]*callingSite
	places    map[place]map[sourceLocation]bool // by function of the program
	libraries map[string][]*callingSite         // by build id
}

func callersOf(c *Content) *callingSites {
	k := &callingSites{c.Sites, nil, map[place][]*callingSite{}, map[place]map[sourceLocation]bool{}, map[string][]*callingSite{}}
	executables := map[string]bool{}
	for _, r := range c.Ranks.All() {
		executables[path.Base(r.Executable)] = true
	}
	known := map[uint32]*callingSite{}
	type call struct {
		function uint16
		site     uint32
	}
	seen := map[call]bool{}
	for i := range c.Signatures {
		signature := &c.Signatures[i]
		of := call{signature.Function, signature.Site}
		if of.site == 0 || int(of.site) > len(c.Sites) || seen[of] {
			continue
		}
		seen[of] = true
		calling := known[of.site]
		if calling == nil {
			calling = k.calling(of.site-1, executables)
			known[of.site] = calling
			k.all = append(k.all, calling)
			if s := &c.Sites[of.site-1]; !executables[s.Module] {
				k.libraries[s.BuildID] = append(k.libraries[s.BuildID], calling)
			}
		}
		s := &c.Sites[of.site-1]
		function, _, _ := strings.Cut(s.Function, "<") // all instances of a template have one text
		at := place{of.function, function, s.location()}
		k.wrappers[at] = append(k.wrappers[at], calling)
		if k.places[at.in()] == nil {
			k.places[at.in()] = map[sourceLocation]bool{}
		}
		k.places[at.in()][at.location] = true
	}
	return k
}

func (k *callingSites) calling(site uint32, executables map[string]bool) *callingSite {
	s := &callingSite{}
	for at := site + 1; at > 0; at = k.sites[at-1].Caller {
		s.path = append(s.path, at-1)
	}
	inner := k.sites[site].Module
	for i, outer := range s.path {
		if executables[inner] {
			break
		}
		if module := k.sites[outer].Module; module != inner {
			s.entry = append(s.entry, i)
			inner = module
		}
	}
	return s
}

// nearestDifference shows the nearest caller that is not the same for all of the sites.
func (k *callingSites) nearestDifference(sites []*callingSite) {
	for depth := 1; ; depth++ {
		differs, there := k.differ(sites, func(s *callingSite) int { return depth })
		if differs {
			for _, s := range sites {
				if depth < len(s.path) {
					s.shown = depth
				}
			}
		}
		if differs || !there {
			return
		}
	}
}

// outermostDifference shows where a library was entered.
func (k *callingSites) outermostDifference(sites []*callingSite) {
	deepest := 0
	for _, s := range sites {
		deepest = max(deepest, len(s.entry))
	}
	for level := deepest - 1; level >= 0; level-- {
		differs, _ := k.differ(sites, func(s *callingSite) int {
			if level < len(s.entry) {
				return s.entry[level]
			}
			return len(s.path)
		})
		if !differs {
			continue
		}
		for _, s := range sites {
			if n := min(level+1, len(s.entry)); n > 0 {
				s.shown = s.entry[n-1]
			}
		}
		return
	}
}

// differ reports whether a caller of the sites, given by where it is in the path, is not the same
// for all, and whether any has one.
func (k *callingSites) differ(sites []*callingSite, caller func(*callingSite) int) (differs, there bool) {
	var first sourceLocation
	for i, s := range sites {
		var at sourceLocation
		if depth := caller(s); depth < len(s.path) {
			at, there = k.sites[s.path[depth]].location(), true
		}
		if i == 0 {
			first = at
		}
		differs = differs || at != first
	}
	return differs, there
}
