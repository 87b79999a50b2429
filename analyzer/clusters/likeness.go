package clusters

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// likeness determines which calls are regarded as the same call.
type likeness struct {
	signatures []trace.Signature
	sites      []uint32 // by call site: the first equivalent one
}

// newLikeness regards call sites as the same if their call paths differ in at most the given number
// of frames (ScalaTrace II §3.3: paths are compared frame by frame from the outermost).
func newLikeness(t timeline.Trace, frames int) *likeness {
	l := &likeness{signatures: t.Signatures(), sites: make([]uint32, len(t.Sites())+1)}
	for i := range l.sites {
		l.sites[i] = uint32(i)
	}
	if frames == 0 {
		return l
	}
	sites := t.Sites()
	type known struct {
		function uint16
		site     uint32
		path     []string
	}
	var seen []known
	done := map[uint32]bool{}
	for i := range l.signatures {
		s := &l.signatures[i]
		if s.Site == 0 || int(s.Site) > len(sites) || done[s.Site] {
			continue
		}
		done[s.Site] = true
		path := callPath(sites, s.Site)
		k := slices.IndexFunc(seen, func(o known) bool { return o.function == s.Function && differing(o.path, path) <= frames })
		if k < 0 {
			seen = append(seen, known{s.Function, s.Site, path})
		} else {
			l.sites[s.Site] = seen[k].site
		}
	}
	return l
}

// callPath returns the frames of a call site, the outermost first.
func callPath(sites []trace.Site, number uint32) []string {
	var path []string
	for ; number > 0 && int(number) <= len(sites); number = sites[number-1].Caller {
		s := &sites[number-1]
		path = append(path, fmt.Sprintf("%s+%x", s.BuildID, s.Offset))
	}
	slices.Reverse(path)
	return path
}

// differing counts the frames in which two paths differ.
func differing(a, b []string) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// site identifies the function and call site of a call.
func (l *likeness) site(terminal int32) uint64 {
	s := &l.signatures[terminal]
	site := s.Site
	if int(site) < len(l.sites) {
		site = l.sites[site]
	}
	return uint64(s.Function)<<32 | uint64(site)
}

// arguments numbers signatures so that those with equal numbers are equal except for ignored
// parameters (Chameleon's filter, §V.A).
func (l *likeness) arguments(t timeline.Trace, ignored []string) func(terminal int32) uint64 {
	numbers := make([]uint64, len(l.signatures))
	known := map[string]uint64{}
	for i := range l.signatures {
		s := l.signatures[i]
		s.OwnRank = -1 // not an argument
		if f := t.Function(s.Function); f != nil && len(ignored) > 0 {
			s.In, s.Out = without(f, s.In, ignored, trace.Out), without(f, s.Out, ignored, trace.In)
		}
		if s.Site > 0 && int(s.Site) < len(l.sites) {
			s.Site = l.sites[s.Site]
		}
		key := string(trace.AppendSignature(nil, &s))
		n, there := known[key]
		if !there {
			n = uint64(len(known))
			known[key] = n
		}
		numbers[i] = n
	}
	return func(terminal int32) uint64 { return numbers[terminal] }
}

// without returns values with ignored parameters blanked; other is the direction whose parameters
// have no value here.
func without(f *trace.Function, values []trace.Value, names []string, other trace.Direction) []trace.Value {
	left := slices.Clone(values)
	k := 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction == other {
			continue
		}
		if k < len(left) && slices.Contains(names, p.Name) {
			left[k] = trace.Value{}
		}
		k++
	}
	return left
}
