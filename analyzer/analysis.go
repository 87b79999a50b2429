package analyzer

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// An Analysis is one way to look at a trace.
type Analysis struct {
	Name  string // as in a TracedMPIJob's spec.analyses, and of the file with its findings
	Title string
	// Times tells that it compares times of different ranks: it needs the run's clock map.
	Times bool
	run   func(context.Context, timeline.Trace, *clock.Map) (any, error)
}

// List is all analyses, in the order in which they run.
var List = []Analysis{
	{report.CriticalPath, "critical path, wait states, efficiencies, what if, verdict", true, func(ctx context.Context, t timeline.Trace, m *clock.Map) (any, error) {
		return criticalpath.Analyze(ctx, t, criticalpath.Options{Clock: m})
	}},
	{report.Clusters, "ranks that behave alike, each group with a lead rank; the shape in which ranks talk", false, func(ctx context.Context, t timeline.Trace, _ *clock.Map) (any, error) {
		return clusters.Analyze(ctx, t, clusters.Options{})
	}},
}
