package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// efficiencyAnalysis gives the efficiencies of the run.
var efficiencyAnalysis = analysis.New("efficiency", analysis.About{Title: "parallel efficiency and its factors", Version: 1}, findEfficiency, accountsPass, replayPass)

func findEfficiency(ctx context.Context, r *pass.Run) (efficiency.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil {
		return efficiency.Findings{}, err
	}
	seconds := inSeconds(a.run())
	e := efficiencyOf(a, seconds)
	found, err := replayPass.Of(ctx, r)
	if err != nil {
		return efficiency.Findings{}, err
	}
	e.Divide(inSeconds(found.ideal), seconds)
	return efficiency.Findings{Efficiency: e}, nil
}

// efficiency is what computation alone says of a run of so many seconds.
func efficiencyOf(a *allAccounts, run float64) efficiency.Efficiency {
	mean, most, n := 0.0, 0.0, 0.0
	for row := range a.ranks {
		if i := a.mainOf[row]; i >= 0 && !a.extents[i].empty {
			useful := inSeconds(a.each[i].compute)
			mean += useful
			most = max(most, useful)
			n++
		}
	}
	if n == 0 {
		return efficiency.Efficiency{}
	}
	mean /= n
	return efficiency.Efficiency{
		MeanUseful: &mean, MaxUseful: &most,
		LoadBalance: efficiency.Quotient(mean, most), Communication: efficiency.Quotient(most, run), Parallel: efficiency.Quotient(mean, run),
	}
}
