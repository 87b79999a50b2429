package reexecution

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
)

// A Refusal is a reason why a run cannot be replayed.
type Refusal struct {
	What, Why string
}

func (r Refusal) String() string { return r.What + ": " + r.Why }

// Refusals lists why a run cannot be replayed; it is empty if it can. issued reports whether the
// MPI of the replay has a function.
func Refusals(t timeline.Trace, issued func(id uint16) bool) []Refusal {
	list := incomplete(t)
	seen := map[uint16]bool{}
	untraced, generalized := false, false
	for _, s := range t.Signatures() {
		untraced, generalized = untraced || s.Untraced, generalized || s.Generalized
		if seen[s.Function] {
			continue
		}
		seen[s.Function] = true
		f := mpi.ByID(s.Function)
		if f == nil {
			list = append(list, Refusal{t.Function(s.Function).Name, "this version of cairn does not know it"})
			continue
		}
		switch treatment, why := TreatmentOf(f); {
		case treatment == Refused:
			list = append(list, Refusal{f.Name, why})
		case treatment == Issued && !issued(s.Function):
			list = append(list, Refusal{f.Name, "the MPI that is to execute it again does not have it"})
		}
	}
	if untraced {
		list = append(list, Refusal{"the trace", "tracing was off for some of the run, so calls are missing"})
	}
	if generalized {
		list = append(list, Refusal{"the trace", "the recorder had reached its limit of memory, so arguments are missing"})
	}
	return list
}

// incomplete lists what is missing in a trace.
func incomplete(t timeline.Trace) (list []Refusal) {
	meta := t.Meta()
	if meta.MissingRanks.Len() > 0 {
		list = append(list, Refusal{"the trace", fmt.Sprintf("ranks %s are missing", meta.MissingRanks)})
	}
	if len(meta.Excluded) > 0 {
		list = append(list, Refusal{"the trace", fmt.Sprintf("groups of functions were not recorded: %v", meta.Excluded)})
	}
	for _, r := range t.Ranks().All() {
		switch {
		case r.EndedEarly != "":
			list = append(list, Refusal{fmt.Sprintf("rank %d", r.Rank), "it ended early (" + r.EndedEarly + "), and how cannot be executed again"})
		case r.Dropped > 0:
			list = append(list, Refusal{fmt.Sprintf("rank %d", r.Rank), fmt.Sprintf("%d of its calls were not recorded", r.Dropped)})
		default:
			continue
		}
		break // one is enough
	}
	return list
}
