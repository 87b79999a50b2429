package reexecution

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Notes lists in what a replay differs from the run, for people.
func Notes(t timeline.Trace) (notes []string) {
	operations, callbacks := false, false
	left := map[string]bool{}
	for i := range t.Signatures() {
		s := &t.Signatures()[i]
		f := mpi.ByID(s.Function)
		if f == nil {
			continue
		}
		own := slices.ContainsFunc(s.In, func(v trace.Value) bool { return v.Form == trace.Code })
		m := semantics.Of(f)
		operations = operations || own && m.Operation == semantics.OpCreate
		callbacks = callbacks || own && m.Operation != semantics.OpCreate
		if treatment, _ := TreatmentOf(f); treatment == LeftOut && m.Operation == semantics.Tool {
			left[f.Name] = true
		}
	}
	if operations {
		notes = append(notes, "reduction operations of the program's own do nothing in the re-execution, and take no time")
	}
	if callbacks {
		notes = append(notes, "callbacks and error handlers of the program's own do nothing in the re-execution")
	}
	if len(left) > 0 {
		notes = append(notes, fmt.Sprintf("left out, since they are of the tool interface: %s", strings.Join(slices.Sorted(maps.Keys(left)), ", ")))
	}
	return notes
}
