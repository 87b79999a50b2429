package phases

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Findings are the phases.
type Findings struct {
	Phases *phases.Findings `json:"phases"` // null if the times of single calls were not recorded
}

// Analysis finds the phases of the run. It adds to the plan how each rank passed them.
var Analysis = analysis.New("phases", analysis.About{Title: "phases", Version: 1, Sections: Sections}, find, accounts.Pass, matching.Pass, route.Pass, accounts.Plan, causes.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return Findings{}, nil
	}
	plan, f, along := accounts.Plan.Result(r), matching.Pass.Result(r), route.Pass.Result(r)
	for i, marks := range causes.Pass.Result(r).Marks {
		plan.Ideal(i, marks)
	}
	inPhases := plan.Findings(f.WaitsOf, func(location int, yield func(begin, end int64)) { along.StretchesOf(f.Locations, location, yield) })
	return Findings{Phases: &inPhases}, nil
}
