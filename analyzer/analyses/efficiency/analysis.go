package efficiency

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
)

// Analysis computes the efficiencies of the run.
var Analysis = analysis.New("efficiency", analysis.About{Title: "parallel efficiency and its factors", Version: 1, Sections: Sections}, find, accounts.Pass, causes.Pass, run.Analysis)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	seconds := accounts.Seconds(a.Progressed - a.Start)
	e := efficiencyOf(a, seconds)
	e.Divide(accounts.Seconds(causes.Pass.Result(r).Ideal), seconds)
	return Findings{Efficiency: e}, nil
}

// efficiencyOf returns the efficiencies that computation alone determines, for a run of a duration
// in seconds.
func efficiencyOf(a *accounts.Accounts, run float64) Efficiency {
	mean, most, n := 0.0, 0.0, 0.0
	for row := range a.Ranks {
		if i := a.MainOf[row]; i >= 0 && !a.Extents[i].Empty {
			useful := accounts.Seconds(a.Each[i].Compute)
			mean += useful
			most = max(most, useful)
			n++
		}
	}
	if n == 0 {
		return Efficiency{}
	}
	mean /= n
	return Efficiency{
		MeanUseful: &mean, MaxUseful: &most,
		LoadBalance: Quotient(mean, most), Communication: Quotient(most, run), Parallel: Quotient(mean, run),
	}
}
