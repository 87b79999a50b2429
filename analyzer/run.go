package analyzer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
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

// A PartError says why a part of a run cannot be looked at.
type PartError string

func (e PartError) Error() string { return string(e) }

// Within is the clock map for looking at a part of the run only: from some seconds after it began to others.
func Within(ctx context.Context, r *trace.Reader, m *clock.Map, from, to float64) (*clock.Map, error) {
	if r.Meta().Timing.Mode == timing.Aggregated {
		return nil, PartError("a part of the run cannot be told from the rest: the times of single calls were not kept (timing aggregated)")
	}
	if m.Clocks == nil {
		return nil, PartError("the trace has no ranks")
	}
	begin, end, err := extent(ctx, timeline.Of(r), m.Clocks)
	if err != nil {
		return nil, err
	}
	w := timeline.Window{Start: begin, From: begin + int64(from*1e9), To: min(end, begin+int64(to*1e9))}
	if w.From >= w.To {
		return nil, PartError(fmt.Sprintf("nothing happened from %g s to %g s: the run took %.6g s", from, to, float64(end-begin)/1e9))
	}
	w.Begin, w.End = match.Around(m.Cuts, w.From, w.To)
	within, clocks := *m, *m.Clocks
	clocks.Window, within.Clocks = &w, &clocks
	return &within, nil
}

// extent is when the run began, with the first entry into MPI_Init, and when it ended.
func extent(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (begin, end int64, err error) {
	begin, end = math.MaxInt64, math.MinInt64
	began := errors.New("it has begun")
	for i, l := range timeline.Locations(t) {
		if l.Main != i {
			continue
		}
		first, last := t.Span(i)
		first = clocks.Time(l.Row, first)
		err := timeline.EachOf(ctx, t, i, l, clocks, func(c *timeline.Call) error {
			if c.Semantics.Operation == semantics.Initialize {
				first = c.Enter
				return began
			}
			return nil
		})
		if err != nil && !errors.Is(err, began) {
			return 0, 0, err
		}
		begin, end = min(begin, first), max(end, clocks.Time(l.Row, last))
	}
	return begin, end, nil
}

// All runs all analyses as Run does, and returns the run's clock map too: m, or the one that was made. Where one fails the
// findings of the others are there beside the error.
func All(ctx context.Context, r *trace.Reader, m *clock.Map) (map[string][]byte, *clock.Map, error) {
	of := &run{trace: timeline.Of(r), names: Names(), clock: m}
	findings, err := of.analyze(ctx)
	return findings, of.clock, err
}

// Run runs the named analyses, all if none is named, and returns the findings of each as JSON: what
// findings/<name>.json holds. Without a clock map it makes one, if an analysis needs it; what one
// analysis has found that a later one needs is not looked for again.
func Run(ctx context.Context, r *trace.Reader, m *clock.Map, names ...string) (map[string][]byte, error) {
	if len(names) == 0 {
		names = Names()
	}
	of := &run{trace: timeline.Of(r), names: names, clock: m}
	return of.analyze(ctx)
}

func (r *run) analyze(ctx context.Context) (map[string][]byte, error) {
	findings := make(map[string][]byte, len(r.names))
	var failed []error
	for _, name := range r.names {
		if ctx.Err() != nil {
			return findings, errors.Join(append(failed, ctx.Err())...)
		}
		a, err := Find(name)
		if err != nil {
			return nil, err
		}
		raw, err := a.findings(ctx, r)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		findings[name] = raw
	}
	return findings, errors.Join(failed...)
}

// findings runs an analysis. A mistake of its own costs its findings, not those of the others.
func (a *Analysis) findings(ctx context.Context, of *run) (raw []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a bug of Cairn's, please report it with the trace: %v\n%s", p, debug.Stack())
		}
	}()
	found, err := a.run(ctx, of)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
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
