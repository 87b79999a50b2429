package scaling

import (
	"path"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// names words call sites so that the same ones of different runs have the same name, and different ones of a run different
// names, as far as both can be had.
type names struct{ sameBuild bool }

// newNames looks whether all runs are of one build. Some codes are built anew for each number of ranks, under another name.
func newNames(recordings []Recording) names {
	builds := map[string]bool{}
	for _, r := range recordings {
		executable, sites := executableOf(r), r.Sites()
		for i := range sites {
			if path.Base(sites[i].Module) == executable {
				builds[sites[i].BuildID] = true
			}
		}
	}
	return names{sameBuild: len(builds) <= 1}
}

// executableOf is that of the lowest rank, without folders.
func executableOf(t timeline.Trace) string {
	for _, r := range t.Ranks().All() {
		return path.Base(r.Executable)
	}
	return ""
}

// site is the name of a call site, "" if the trace has none.
func (n names) site(sites []trace.Site, number uint32) string {
	if number == 0 || int(number) > len(sites) {
		return ""
	}
	s := &sites[number-1]
	switch {
	case n.sameBuild || s.File != "" && s.Line > 0:
		return callsite.Name(s)
	case s.Function != "":
		return s.Function
	}
	return path.Base(s.Module)
}
