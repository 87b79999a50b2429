package clusters

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// words describes what distinguishes clusters.
type words struct {
	trace     timeline.Trace
	paths     *pathFinder
	reference []uint64 // the calls of the largest cluster
}

// calls returns the distinct calls of all threads of a rank.
func (w *words) calls(roots []int) []uint64 {
	if len(roots) == 1 {
		return w.paths.path(roots[0])
	}
	found := map[uint64]bool{}
	var list []uint64
	for _, root := range roots {
		for _, call := range w.paths.path(root) {
			if !found[call] {
				found[call] = true
				list = append(list, call)
			}
		}
	}
	return list
}

// first describes the largest cluster, which the others are compared with.
func (w *words) first(c Cluster, clusters, sequences int) string {
	who := "the largest group"
	if clusters == 1 {
		who = "all ranks take the same path through the program"
	}
	text := fmt.Sprintf("%s: %d call sites", who, c.CallSites)
	switch {
	case c.Size == 1:
	case c.VariantCount == 1:
		text += ", equal in every call and argument"
	case sequences == 1:
		text += fmt.Sprintf(", the same calls in the same order, with %d variants of arguments", c.VariantCount)
	default:
		text += fmt.Sprintf(", %d different numbers or orders of calls", sequences)
	}
	return text
}

// difference describes which calls a cluster makes that the largest does not, and vice versa.
func (w *words) difference(calls []uint64) string {
	more, less := minus(calls, w.reference), minus(w.reference, calls)
	var parts []string
	if len(more) > 0 {
		parts = append(parts, "also calls "+w.list(more))
	}
	if len(less) > 0 {
		parts = append(parts, "never calls "+w.list(less))
	}
	if len(parts) == 0 {
		return "the same calls as the largest group, first made in another order"
	}
	return strings.Join(parts, "; ")
}

// minus returns the elements of a that b lacks.
func minus(a, b []uint64) []uint64 {
	has := make(map[uint64]bool, len(b))
	for _, x := range b {
		has[x] = true
	}
	var list []uint64
	for _, x := range a {
		if !has[x] {
			list = append(list, x)
		}
	}
	return list
}

// list names a few calls.
func (w *words) list(calls []uint64) string {
	const few = 4
	var names []string
	for i, call := range calls {
		if i == few && len(calls) > few+1 {
			names = append(names, fmt.Sprintf("%d more", len(calls)-few))
			break
		}
		names = append(names, w.call(call))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

func (w *words) call(call uint64) string {
	name := "?"
	if f := w.trace.Function(uint16(call >> 32)); f != nil {
		name = f.Name
	}
	if n, sites := int(uint32(call)), w.trace.Sites(); n > 0 && n <= len(sites) {
		return callsite.At(name, callsite.Name(&sites[n-1]))
	}
	return name
}
