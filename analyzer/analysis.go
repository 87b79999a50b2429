package analyzer

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// An Analysis is one way to look at a trace.
type Analysis struct {
	Name  string // as in a TracedMPIJob's spec.analyses, and of the file with its findings
	Title string
	run   func(context.Context, timeline.Trace) (any, error)
}

// List is all analyses, in the order in which they run.
var List = []Analysis{
	{report.CriticalPath, "critical path, wait states, efficiencies, verdict", func(ctx context.Context, t timeline.Trace) (any, error) {
		return criticalpath.Analyze(ctx, t, criticalpath.Options{})
	}},
	{report.Clusters, "ranks that behave alike, each group with a lead rank", func(ctx context.Context, t timeline.Trace) (any, error) {
		return clusters.Analyze(ctx, t, clusters.Options{})
	}},
}
