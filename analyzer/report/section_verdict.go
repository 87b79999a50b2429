package report

import "github.com/cairn-mpi/cairn/analyzer/criticalpath"

// verdictView is the head of the page: who makes the job slow, what it would gain, what to do next.
type verdictView struct {
	criticalpath.Verdict
	Named      bool
	Grade      string // class of the box
	Host       string // of the rank that is named
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
