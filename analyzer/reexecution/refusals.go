package reexecution

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Refusal is a reason why a run cannot be replayed.
type Refusal struct {
	What, Why string
}

func (r Refusal) String() string { return r.What + ": " + r.Why }

// A Target is the MPI that is to execute a run again: which functions and constants it has, by id.
type Target struct {
	Functions, Constants map[uint16]bool
}

// absent is why a function or constant of a run keeps it from being replayed.
const absent = "the MPI that is to execute it again does not have it"

// Refusals lists why a run cannot be replayed; it is empty if it can.
func Refusals(t timeline.Trace, target *Target) []Refusal {
	list := incomplete(t)
	seen := map[uint16]bool{}
	names := map[string]bool{}
	untraced, generalized, spawned := false, false, false
	for _, s := range t.Signatures() {
		untraced, generalized = untraced || s.Untraced, generalized || s.Generalized
		f := mpi.ByID(s.Function)
		if failed := s.Return.Form == trace.Int && s.Return.Int != 0; f != nil && !failed {
			constants(f, s.In, names)
		}
		meaning := t.Semantics(s.Function)
		spawned = spawned || meaning != nil && meaning.Creation == semantics.WithParent && s.Communicator.Form == trace.Stream
		if seen[s.Function] {
			continue
		}
		seen[s.Function] = true
		if f == nil {
			list = append(list, Refusal{t.Function(s.Function).Name, "this version of cairn does not know it"})
			continue
		}
		switch treatment, why := TreatmentOf(f); {
		case treatment == Refused:
			list = append(list, Refusal{f.Name, why})
		case treatment == Issued && !target.Functions[s.Function]:
			list = append(list, Refusal{f.Name, absent})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch c := mpi.ConstantByName(name); {
		case c == nil:
			list = append(list, Refusal{name, "this version of cairn does not know it"})
		case !target.Constants[c.ID]:
			list = append(list, Refusal{name, absent})
		}
	}
	if spawned {
		list = append(list, Refusal{"the trace", "its processes were spawned, and those that spawned them are not in it"})
	}
	if untraced {
		list = append(list, Refusal{"the trace", "tracing was off for some of the run, so calls are missing"})
	}
	if generalized {
		list = append(list, Refusal{"the trace", "the recorder had reached its limit of memory, so arguments are missing"})
	}
	return list
}

// constants adds to names the constants among the arguments of a function that the replay passes to
// MPI. Buffers are the replayer's own.
func constants(f *mpi.Function, arguments []trace.Value, names map[string]bool) {
	if treatment, _ := TreatmentOf(f); treatment != Issued {
		return
	}
	in := 0
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsIn() && in < len(arguments) {
			if p.Kind != mpi.KindBuffer {
				namesIn(&arguments[in], names)
			}
			in++
		}
	}
}

// namesIn adds the constants in a value to names.
func namesIn(v *trace.Value, names map[string]bool) {
	if v.Form == trace.Name {
		names[v.Text] = true
	}
	for i := range v.List {
		namesIn(&v.List[i], names)
	}
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
