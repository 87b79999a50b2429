package criticalpath

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// names words what a trace holds by number.
type names struct {
	trace timeline.Trace
	sites []trace.Site
}

func newNames(t timeline.Trace) names { return names{t, t.Sites()} }

func (n names) function(id uint16) string {
	if f := n.trace.Function(id); f != nil {
		return f.Name
	}
	return fmt.Sprintf("function %d", id)
}

// startsOrEnds tells whether an activity is MPI_Init or MPI_Finalize, in any form.
func (n names) startsOrEnds(what activity) bool {
	f := n.trace.Semantics(what.function)
	if f == nil || what.computes() {
		return false
	}
	kind := kindOf(f)
	return kind == Initialization || kind == Finalization
}

// site is a call site as a person looks for it: file and line, else the function, else the place in the module.
func (n names) site(s uint32) string {
	if s == 0 || int(s) > len(n.sites) {
		return ""
	}
	return callsite.Name(&n.sites[s-1])
}

func (n names) place(function uint16, site uint32) Place {
	return Place{n.function(function), n.site(site)}
}

// at is a call and where it is, in words.
func (p Place) at() string { return callsite.At(p.Function, p.CallSite) }

// between words the computation between two calls, the first of which is not known where there are sums only.
func between(a, b Place) string {
	if a == (Place{}) { // of sums
		return "before " + b.at()
	}
	if a == b {
		return "between two calls of " + a.at()
	}
	return fmt.Sprintf("between %s and %s", a.at(), b.at())
}

// labels gives function and call site of an activity as tables show them.
func (n names) labels(kind Kind, what activity) (function, callSite string) {
	switch {
	case kind == Launch, kind == Untraced:
		return string(kind), ""
	case what.computes():
		return string(Computation), between(n.place(what.function, what.site), n.place(what.next, what.nextSite))
	}
	return n.function(what.function), n.site(what.site)
}
