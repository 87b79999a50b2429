package analyzer

import (
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// An Analysis is one way to look at a trace.
type Analysis struct {
	Name  string // as in a TracedMPIJob's spec.analyses, and of the file with its findings
	Title string
	// Times tells that it compares times of different ranks: it needs the run's clock map.
	Times bool
	run   func(context.Context, *run) (any, error)
}

// A run is the run that is analyzed, with what one analysis has found that a later one would have to find again.
type run struct {
	trace    timeline.Trace
	names    []string     // of the analyses that run
	clock    *clock.Map   // nil: not made yet
	phases   *phases.Plan // nil: not followed yet
	messages *clusters.Communication
}

// List is all analyses, in the order in which they run.
var List = []Analysis{
	{report.CriticalPath, "critical path, wait states, efficiencies, what if, verdict", true, func(ctx context.Context, r *run) (any, error) {
		return criticalpath.Analyze(ctx, r.trace, criticalpath.Options{Clock: r.clock, Also: r.also(ctx), Share: r.share})
	}},
	{report.Clusters, "ranks that behave alike, each group with a lead rank; the shape in which ranks talk", true, func(ctx context.Context, r *run) (any, error) {
		if r.clock == nil {
			var err error
			if r.clock, err = clock.Analyze(ctx, r.trace); err != nil {
				return nil, err
			}
		}
		return clusters.Analyze(ctx, r.trace, clusters.Options{Clock: r.clock, Phases: r.phases, Communication: r.messages})
	}},
}

// also is what the critical path's replay plays for the groups of ranks, if these come later.
func (r *run) also(ctx context.Context) []predict.Scenario {
	within := r.clock != nil && r.clock.Clocks != nil && r.clock.Clocks.Window != nil // its messages take a pass to know
	if within || !slices.Contains(r.names, report.Clusters) {
		return nil
	}
	found, err := clusters.Communicates(ctx, r.trace, clusters.Options{})
	if err != nil {
		return nil // who needs it meets the error again
	}
	r.messages = found
	return found.Scenarios()
}

// share keeps what the critical path has found.
func (r *run) share(found criticalpath.Shared) {
	r.clock, r.phases = found.Clock, found.Phases
	if r.messages != nil {
		r.messages.Lengths = found.Also
	}
}
