package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// notes lists the differences between the runs other than times, and what their traces lack.
func notes(x, y []*run) []string {
	var list []string
	all := append(slices.Clone(x), y...)
	differ := func(what string, of func(r *run) string, meaning string) {
		if note := unlike(all, what, of); note != "" {
			list = append(list, note+meaning)
		}
	}
	differ("executables", func(r *run) string { return r.executable }, ".")
	differ("versions of MPI", func(r *run) string { return strings.TrimSpace(r.meta.Implementation + " " + r.meta.Version) }, ".")
	differ("numbers of ranks", func(r *run) string { return fmt.Sprint(len(r.ranks)) }, ": ranks of the same number may not do the same.")
	differ("numbers of nodes", func(r *run) string { return fmt.Sprint(len(nodesOf(r))) }, ".")
	if sameNodeCount(all) {
		differ("nodes", func(r *run) string { return some(nodesOf(r)) }, ".")
	}
	differ("timing", func(r *run) string { return r.meta.Timing.String() }, ".")
	differ("modes of recording", func(r *run) string {
		if r.meta.Clustering != nil {
			return "clustered: times of most ranks are those of the lead rank of their cluster"
		}
		return "every rank by itself"
	}, ".")
	differ("groups of functions that were not recorded", func(r *run) string {
		if len(r.meta.Excluded) == 0 {
			return "none"
		}
		return strings.Join(r.meta.Excluded, ", ")
	}, ": time in them counts as computation.")
	for _, r := range all {
		list = append(list, r.lacks()...)
	}
	return list
}

// lacks lists what the trace does not have.
func (r *run) lacks() []string {
	var list []string
	if missing := r.meta.MissingRanks; len(missing) > 0 {
		list = append(list, fmt.Sprintf("%s: missing from the trace: rank %s.", r.name, missing))
	}
	if len(r.early) > 0 {
		list = append(list, fmt.Sprintf("%s: ended before MPI_Finalize: rank %s. It is a part of a run.", r.name, trace.NewRankList(r.early)))
	}
	if len(r.stopped) > 0 {
		list = append(list, fmt.Sprintf("%s: tracing stopped before the end: rank %s. It is a part of a run.", r.name, trace.NewRankList(r.stopped)))
	}
	for _, note := range r.meta.Notes {
		list = append(list, r.name+": "+note)
	}
	return list
}

// unlike describes in what runs differ, "" if they do not: "Different executables: stencil (A),
// ring (B)".
func unlike(all []*run, what string, of func(r *run) string) string {
	var values []string
	runs := map[string][]string{}
	for _, r := range all {
		v := of(r)
		if len(runs[v]) == 0 {
			values = append(values, v)
		}
		runs[v] = append(runs[v], r.name)
	}
	if len(values) < 2 {
		return ""
	}
	for i, v := range values {
		if v == "" {
			v = "not known"
		}
		values[i] = fmt.Sprintf("%s (%s)", v, strings.Join(runs[values[i]], ", "))
	}
	return fmt.Sprintf("Different %s: %s", what, strings.Join(values, "; "))
}

// nodesOf lists the nodes of a run, sorted.
func nodesOf(r *run) []string {
	var list []string
	for _, node := range r.nodes {
		list = append(list, node)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func sameNodeCount(all []*run) bool {
	for _, r := range all {
		if len(nodesOf(r)) != len(nodesOf(all[0])) {
			return false
		}
	}
	return true
}

// maxNodes is the maximum number of nodes that are named.
const maxNodes = 4

func some(nodes []string) string {
	if len(nodes) <= maxNodes {
		return strings.Join(nodes, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(nodes[:maxNodes], ", "), wording.Count(len(nodes)-maxNodes, "other", "others"))
}
