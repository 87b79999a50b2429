package clusters

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/communication"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// Analysis groups ranks that behave alike, over the run and in each phase. If the phases are
// computed in the same run of analyses, it uses how each rank passed them; otherwise it follows
// them in a pass of its own.
var Analysis = analysis.New("clusters", analysis.About{Title: "ranks that behave alike", Version: 1, Sections: Sections}, find,
	matching.Part, matching.Clock, communication.Topology).Uses(phases.Analysis, accounts.Plan)

func find(ctx context.Context, r *pass.Run) (Findings, error) {
	t, o := matching.Part.Result(r), clusters.Options{Clock: matching.Clock.Result(r)}
	f, err := clusters.Groups(ctx, t, o)
	if err != nil {
		return Findings{}, err
	}
	f.Notes = append(f.Notes, communication.Topology.Result(r).Notes...)
	if r.Wants(phases.Analysis) {
		if found, err := phases.Analysis.Of(ctx, r); err == nil && found.Phases != nil {
			if o.Phases, err = accounts.Plan.Of(ctx, r); err != nil {
				return Findings{}, err
			}
		}
	}
	if err := f.DividePhases(ctx, t, o); err != nil {
		return Findings{}, err
	}
	return Findings{Clusters: f.Clusters, Leads: f.Leads, Phases: f.Phases, Sequences: f.Sequences, Behaviors: f.Behaviors, Notes: f.Notes}, nil
}
