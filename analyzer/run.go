package analyzer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Clock computes the clock map of a run, which all analyses that compare times of different ranks
// (Analysis.Times) use.
func Clock(ctx context.Context, r *trace.Reader) (*clock.Map, error) {
	return clock.Analyze(ctx, timeline.Of(r))
}

// A PartError is the reason why a part of a run cannot be analyzed.
type PartError string

func (e PartError) Error() string { return string(e) }

// Within returns a clock map that restricts analyses to the part of the run between two times, in
// seconds since its start.
func Within(ctx context.Context, r *trace.Reader, m *clock.Map, from, to float64) (*clock.Map, error) {
	if r.Meta().Timing.Mode == timing.Aggregated {
		return nil, PartError("a part of the run cannot be analyzed separately: the times of single calls were not kept (timing aggregated)")
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

// extent returns when the run began, with the first entry into MPI_Init, and when it ended.
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

// Run runs the analyses that names select (analyses.Select; all without names) and those that they
// require. Results that several analyses need are computed once. It returns the findings of each
// analysis as JSON, as stored in findings/<name>.json, and the clock map of the run: m or, if that
// is nil, the one that was computed (nil if none was needed). If an analysis fails, the findings of
// the others are returned together with the error.
func Run(ctx context.Context, r *trace.Reader, m *clock.Map, names ...string) (map[string][]byte, *clock.Map, error) {
	selected, err := analyses.Select(names...)
	if err != nil {
		return nil, nil, err
	}
	return run(ctx, timeline.Of(r), m, analyses.WithRequired(selected))
}

func run(ctx context.Context, t timeline.Trace, m *clock.Map, list []analysis.Any) (_ map[string][]byte, _ *clock.Map, err error) {
	of := pass.Begin(ctx, t, steps(list)...)
	defer func() { err = errors.Join(err, of.Close()) }()
	if m != nil {
		pass.Give(of, matching.Given, m)
	}
	findings := make(map[string][]byte, len(list))
	var failed []error
	all := steps(list)
	var clocks *clock.Map
	for i, a := range list {
		if ctx.Err() != nil {
			failed = append(failed, ctx.Err())
			break
		}
		raw, err := a.Run(ctx, of)
		clocks = cmp.Or(matching.Map(of), clocks)
		if err := of.Done(all[i+1:]...); err != nil {
			failed = append(failed, err) // of a pass that several analyses share
		}
		if err != nil {
			failed = append(failed, &failure{a.Name(), err})
			continue
		}
		findings[a.Name()] = raw
	}
	return findings, clocks, errors.Join(failed...)
}

// A failure is the error of an analysis.
type failure struct {
	name string
	err  error
}

func (f *failure) Error() string { return f.name + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// Reasons returns why analyses failed, by name, according to an error of Run.
func Reasons(err error) map[string]string {
	reasons := map[string]string{}
	var add func(err error)
	add = func(err error) {
		switch e := err.(type) { //nolint:errorlint // walks the tree of errors itself: errors.As finds only the first failure
		case *failure:
			reasons[e.name] = e.err.Error()
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				add(one)
			}
		case interface{ Unwrap() error }:
			add(e.Unwrap())
		}
	}
	add(err)
	return reasons
}

func steps(list []analysis.Any) []pass.Step {
	steps := make([]pass.Step, len(list))
	for i, a := range list {
		steps[i] = a
	}
	return steps
}

// Report assembles a report from findings (of Run, or read from findings/<name>.json) and the
// trace.
func Report(r *trace.Reader, findings map[string][]byte, job report.Job) *report.Report {
	return report.Assemble(timeline.Of(r), analyses.All(), findings, job)
}

// ReadReport reads a report.json.
func ReadReport(raw []byte) (*report.Report, error) { return report.Read(analyses.All(), raw) }
