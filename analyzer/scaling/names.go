package scaling

import (
	"path"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// names names call sites so that the same site has the same name in different runs, and different
// sites of a run have different names, as far as possible.
type names struct{ sameBuild bool }

// newNames checks whether all runs are of one build. Some programs are built for each number of
// ranks, under another name.
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

// executableOf returns the executable of the lowest rank, without directories.
func executableOf(t timeline.Trace) string {
	for _, r := range t.Ranks().All() {
		return path.Base(r.Executable)
	}
	return ""
}

// site returns the name of a call site, "" if the trace has none.
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
