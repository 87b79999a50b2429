package verify

import "fmt"

// A Result says how far a trace and its reference logs agree.
type Result struct {
	Calls         uint64         // that agree
	Ranks         int            // all of whose calls agree
	Unfinished    uint64         // calls of the log that never returned: the process ended in them
	Disagreements []Disagreement // the first ones, in the order of ranks
	More          uint64         // disagreements beyond those
}

// OK reports whether everything agrees.
func (r *Result) OK() bool { return len(r.Disagreements) == 0 }

// A Disagreement is one argument (or the call itself) that the trace and the log have differently.
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

// maxDisagreements is how many are kept: the first ones tell, the rest follow from them.
const maxDisagreements = 20

func (r *Result) add(d Disagreement) {
	if len(r.Disagreements) < maxDisagreements {
		r.Disagreements = append(r.Disagreements, d)
	} else {
		r.More++
	}
}
