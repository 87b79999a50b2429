package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// verdictView is the head of the page: what makes the job slow, what it would gain, what to do
// next.
type verdictView struct {
	verdict.Verdict
	Grade      string         // CSS class of the box
	First      *verdict.Cause // nil: there is none
	Where      string         // in the program
	Range      string         // from the minimum to the maximum computation of a rank, if work is divided unequally
	RunSeconds float64
	Gain       float64 // share of the run; unknown if GainSeconds is nil
	Next       []string
	Warnings   []string
}

func (r *Report) verdictView() verdictView {
	v := verdictView{Verdict: r.Verdict(), RunSeconds: r.RunSeconds(), Next: r.next(), Warnings: r.warnings(), Grade: "bad"}
	if len(r.Verdict().Causes) == 0 { // which is good only if the time is well spent
		v.Grade = "fair"
		if e := r.Efficiency().Parallel; r.lacksVerdict() == nil && e != nil && *e >= verdict.Good {
			v.Grade = "good"
		}
		return v
	}
	v.First = &r.Verdict().Causes[0]
	if before := v.First.Before; before != (verdict.Call{}) {
		v.Where = before.At()
		if v.First.IsComputation() {
			v.Where = verdict.Between(v.First.After, before)
		}
	}
	if i := v.First.Spread; i != nil {
		v.Range = fmt.Sprintf("%s to %s, %s on average", wording.Duration(i.Least), wording.Duration(i.Most), wording.Duration(i.Mean))
	}
	if r.RunSeconds() > 0 && r.Verdict().GainSeconds != nil {
		v.Gain = *r.Verdict().GainSeconds / r.RunSeconds()
	}
	return v
}
