package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// phasesAnalysis tells the phases of the run. The plan then has how each rank passed them.
var phasesAnalysis = analysis.New("phases", analysis.About{Title: "phases", Version: 1}, findPhases, accountsPass, matchingPass, routePass, planPass, replayPass)

func findPhases(ctx context.Context, r *pass.Run) (phases.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil || a.sums {
		return phases.Findings{}, err
	}
	f, err := matchingPass.Of(ctx, r)
	if err != nil {
		return phases.Findings{}, err
	}
	along, err := routePass.Of(ctx, r)
	if err != nil {
		return phases.Findings{}, err
	}
	plan, err := planPass.Of(ctx, r)
	if err != nil {
		return phases.Findings{}, err
	}
	found, err := replayPass.Of(ctx, r)
	if err != nil {
		return phases.Findings{}, err
	}
	for i := range found.marks {
		plan.Ideal(i, found.marks[i])
	}
	inPhases := plan.Findings(f.waitsOf, func(location int, yield func(begin, end int64)) { along.stretchesOf(f.locations, location, yield) })
	return phases.Findings{Phases: &inPhases}, nil
}
