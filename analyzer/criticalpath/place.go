package criticalpath

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/mpi/semantics"
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
	return kind == accounts.Initialization || kind == accounts.Finalization
}

// site is a call site as a person looks for it: file and line, else the function, else the place in the module.
func (n names) site(s uint32) string {
	if s == 0 || int(s) > len(n.sites) {
		return ""
	}
	return callsite.Name(&n.sites[s-1])
}

func (n names) place(function uint16, site uint32) verdict.Place {
	return verdict.Place{Function: n.function(function), CallSite: n.site(site)}
}

// in is the function in which a call site is, "" where that is not known.
func (n names) in(s uint32) string {
	if s == 0 || int(s) > len(n.sites) {
		return ""
	}
	return n.sites[s-1].Function
}

// around is the function that runs between two calls: the innermost that has both. It is "" where that is not known, or where
// the second call comes first in its function, so that a loop in it or one around it may have led there.
func (n names) around(after, before uint32) string {
	a, b := n.path(after), n.path(before)
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := a[i], b[i]; x.Function != y.Function || x.Function == "" {
			return ""
		} else if x != y {
			if x.Line >= y.Line && x.Function != "main" {
				return ""
			}
			return x.Function
		}
	}
	return ""
}

// path is a call site and what led there, from the outside.
func (n names) path(s uint32) []*trace.Site {
	var path []*trace.Site
	for s > 0 && int(s) <= len(n.sites) {
		site := &n.sites[s-1]
		path = append(path, site)
		s = site.Caller
	}
	slices.Reverse(path)
	return path
}

// labels gives function and call site of an activity as tables show them.
func (n names) labels(kind accounts.Kind, what activity) (function, callSite string) {
	switch {
	case kind == accounts.Launch, kind == accounts.Untraced:
		return string(kind), ""
	case what.computes():
		return string(accounts.Computation), verdict.Between(n.place(what.function, what.site), n.place(what.next, what.nextSite))
	}
	return n.function(what.function), n.site(what.site)
}

// kindOfCall is what a call costs the run as; Nobody for MPI_Init and MPI_Finalize, which no cause is about.
func (n names) kindOfCall(function uint16) verdict.Kind {
	f := n.trace.Semantics(function)
	switch {
	case f == nil || f.Operation == semantics.Initialize || f.Operation == semantics.Finalize:
		return verdict.Nobody
	case f.IsFileOperation():
		return verdict.IO
	case f.Collective:
		return verdict.Collectives
	}
	return verdict.Messages
}
