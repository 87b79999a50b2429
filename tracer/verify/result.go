package verify

import "fmt"

// A Result is the result of a comparison of a trace with its reference logs.
type Result struct {
	Calls uint64 // number of calls that agree
	// of Calls: those of which the trace lacks arguments, since the recorder reached
	// its limit of memory
	Generalized   uint64
	Ranks         int            // number of ranks with only such calls
	Unfinished    uint64         // calls of the log that never returned: the process ended in them
	Unwatched     int            // functions of MPI whose calls past the shim are not counted
	Disagreements []Disagreement // the first ones, in the order of ranks
	More          uint64         // disagreements beyond those
}

// OK reports whether everything agrees.
func (r *Result) OK() bool { return len(r.Disagreements) == 0 }

// A Disagreement is one argument, or a call itself, that differs between the trace and the log.
type Disagreement struct {
	Rank, Thread     int
	Index            uint64 // of the call on its thread in the trace
	Function         string
	Argument         string // "" for the call as a whole
	Trace, Reference string // the value in each
	Reason           string
}

func (d Disagreement) String() string {
	s := fmt.Sprintf("rank %d", d.Rank)
	if d.Function != "" {
		s += fmt.Sprintf(", thread %d, call %d, %s", d.Thread, d.Index, d.Function)
	}
	if d.Argument != "" {
		s += ", " + d.Argument
	}
	if d.Trace != "" || d.Reference != "" {
		s += fmt.Sprintf(": %s in the trace, %s in the reference log", d.Trace, d.Reference)
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

func (r *Result) count() uint64 { return uint64(len(r.Disagreements)) + r.More }

// maxDisagreements is the number of disagreements that are kept; later ones usually
// follow from the first.
const maxDisagreements = 20

func (r *Result) add(d Disagreement) {
	if len(r.Disagreements) < maxDisagreements {
		r.Disagreements = append(r.Disagreements, d)
	} else {
		r.More++
	}
}
