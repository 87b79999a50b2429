package analyzer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Names are the names of all analyses.
func Names() []string {
	names := make([]string, len(List))
	for i, a := range List {
		names[i] = a.Name
	}
	return names
}

// Clock makes the clock map of a run, which all analyses that compare times of different ranks (Analysis.Times) use.
func Clock(ctx context.Context, r *trace.Reader) (*clock.Map, error) {
	return clock.Analyze(ctx, timeline.Of(r))
}

// Run runs the named analyses, all if none is named, and returns the findings of each as JSON: what
// findings/<name>.json holds. Without a clock map it makes one, if an analysis needs it.
func Run(ctx context.Context, r *trace.Reader, m *clock.Map, names ...string) (map[string][]byte, error) {
	if len(names) == 0 {
		names = Names()
	}
	findings := make(map[string][]byte, len(names))
	for _, name := range names {
		a, err := Find(name)
		if err != nil {
			return nil, err
		}
		if a.Times && m == nil {
			if m, err = Clock(ctx, r); err != nil {
				return nil, err
			}
		}
		found, err := a.run(ctx, timeline.Of(r), m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if findings[name], err = json.Marshal(found); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return findings, nil
}

// Find is the analysis of this name.
func Find(name string) (*Analysis, error) {
	i := slices.IndexFunc(List, func(a Analysis) bool { return a.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no analysis is called %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return &List[i], nil
}

// Report assembles findings (as from Run, or read back from findings/<name>.json) and the trace.
func Report(r *trace.Reader, findings map[string][]byte, job report.Job) (*report.Report, error) {
	return report.Assemble(timeline.Of(r), findings, job)
}
