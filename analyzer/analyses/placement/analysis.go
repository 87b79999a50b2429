package placement

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	"github.com/cairn-mpi/cairn/analyzer/pass/communication"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/predict"
)

// Findings are the placement of ranks.
type Findings struct {
	Placement *placement.Findings `json:"placement"`
}

// Analysis shows which ranks run on which nodes, and a better placement.
var Analysis = analysis.New("placement", analysis.About{Title: "which ranks are on which nodes", Version: 1, Sections: Sections}, find,
	matching.Part, matching.Clock, communication.Order).Uses(causes.Pass)

func find(ctx context.Context, r *pass.Run) (Findings, error) {
	a, clocks := communication.Order.Result(r), matching.Clock.Result(r).Clocks
	lengths := played(ctx, r)
	if clocks != nil && len(a.Scenarios) > 0 && len(lengths) == 0 {
		var err error
		if lengths, err = predict.Play(ctx, matching.Part.Result(r), clocks, a.Scenarios); err != nil {
			return Findings{}, err
		}
	}
	found := a.Findings(lengths)
	return Findings{Placement: &found}, nil
}

// played returns the durations of the replayed scenarios if they were replayed together with the
// causes; nil if they were not.
func played(ctx context.Context, r *pass.Run) []int64 {
	if r.Wants(causes.Pass) {
		if found, err := causes.Pass.Of(ctx, r); err == nil {
			return found.Also
		}
	}
	return nil
}
