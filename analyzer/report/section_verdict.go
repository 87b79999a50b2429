package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// verdictView is the head of the page: who makes the job slow, what it would gain, what to do next.
type verdictView struct {
	criticalpath.Verdict
	Named      bool
	Grade      string // class of the box
	Host       string // of the rank that is named
	Range      string // from the least computation of a rank to the most, where work is divided unequally
	RunSeconds float64
	Gain       float64 // part of the run; not known where GainSeconds is nil
	Next       []string
	Warnings   []string
}

func (r *Report) verdictView() verdictView {
	v := verdictView{Verdict: r.Verdict, Named: r.Verdict.Rank != nil, RunSeconds: r.RunSeconds, Next: r.next(), Warnings: r.warnings()}
	// nobody to blame is good only if the time is well spent
	if v.Grade = "bad"; !v.Named {
		v.Grade = "fair"
		if e := r.Efficiency.Parallel; e != nil && *e >= goodEfficiency {
			v.Grade = "good"
		}
	}
	if r.Stopped != nil && r.Stopped.Kind != "" {
		v.Grade = "bad"
	}
	if i := r.Verdict.Imbalance; i != nil {
		v.Grade = "bad"
		v.Range = fmt.Sprintf("%s to %s, %s on average", wording.Duration(i.Least), wording.Duration(i.Most), wording.Duration(i.Mean))
	}
	if r.RunSeconds > 0 && r.Verdict.GainSeconds != nil {
		v.Gain = *r.Verdict.GainSeconds / r.RunSeconds
	}
	for _, rank := range r.Ranks {
		if v.Named && rank.Rank == *r.Verdict.Rank {
			v.Host = rank.Host
		}
	}
	return v
}
