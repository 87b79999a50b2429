package accounts

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Names translates the numbers of a trace to text.
type Names struct {
	Trace timeline.Trace
	sites []trace.Site
}

// NewNames returns the names of a trace.
func NewNames(t timeline.Trace) Names { return Names{t, t.Sites()} }

// Function returns the name of a function.
func (n Names) Function(id uint16) string {
	if f := n.Trace.Function(id); f != nil {
		return f.Name
	}
	return fmt.Sprintf("function %d", id)
}

// StartsOrEnds reports whether an activity is MPI_Init or MPI_Finalize, in any form.
func (n Names) StartsOrEnds(what Activity) bool {
	f := n.Trace.Semantics(what.Function)
	if f == nil || what.Computes() {
		return false
	}
	kind := kindOf(f)
	return kind == Initialization || kind == Finalization
}

// Site returns a readable name of a call site: file and line, otherwise the function, otherwise the
// offset in the module.
func (n Names) Site(s uint32) string {
	if s == 0 || int(s) > len(n.sites) {
		return ""
	}
	return callsite.Name(&n.sites[s-1])
}

// SameSource reports whether two call sites may be one call of the source: they have the same line,
// on different call paths, or they are in the same function, whose lines are not known.
func (n Names) SameSource(a, b uint32) bool {
	if a == b || a == 0 || b == 0 || int(max(a, b)) > len(n.sites) {
		return a == b
	}
	x, y := &n.sites[a-1], &n.sites[b-1]
	source, known := x.Source()
	if other, too := y.Source(); known || too {
		return source == other
	}
	return x.Function != "" && x.Function == y.Function && x.BuildID == y.BuildID && x.Module == y.Module
}

// Call returns the function and call site of a call in readable form.
func (n Names) Call(function uint16, site uint32) verdict.Call {
	return verdict.Call{Function: n.Function(function), CallSite: n.Site(site)}
}

// In returns the function that contains a call site, "" if it is not known.
func (n Names) In(s uint32) string {
	if s == 0 || int(s) > len(n.sites) {
		return ""
	}
	return n.sites[s-1].Function
}

// Around returns the function that runs between two calls: the innermost one that contains both. It
// returns "" if that is not known, or if the second call precedes the first in the source of the
// function, so that a loop inside or around it may connect them.
func (n Names) Around(after, before uint32) string {
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

// path returns a call site and its callers, outermost first.
func (n Names) path(s uint32) []*trace.Site {
	var path []*trace.Site
	for s > 0 && int(s) <= len(n.sites) {
		site := &n.sites[s-1]
		path = append(path, site)
		s = site.Caller
	}
	slices.Reverse(path)
	return path
}

// Labels returns the function and call site of an activity for tables.
func (n Names) Labels(kind Kind, what Activity) (function, callSite string) {
	switch {
	case kind == Launch, kind == Untraced:
		return string(kind), ""
	case what.Computes():
		return string(Computation), verdict.Between(n.Call(what.Function, what.Site), n.Call(what.Next, what.NextSite))
	}
	return n.Function(what.Function), n.Site(what.Site)
}

// kindOfCall returns the kind of cause that the cost of a function's calls belongs to.
func (n Names) kindOfCall(function uint16) verdict.Kind {
	f := n.Trace.Semantics(function)
	switch {
	case f == nil || f.StartsOrEnds():
		return verdict.StartEnd
	case f.IsFileOperation():
		return verdict.IO
	case f.Collective:
		return verdict.Collectives
	case f.IsLocal():
		return verdict.Local
	}
	return verdict.Messages
}
