package analyzer

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/phases"
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
		return criticalpath.Analyze(ctx, r.trace, criticalpath.Options{Clock: r.clock})
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
