package parquet

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	matchingpass "github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Options select what is written.
type Options struct {
	// From and To are times since the run began. A call is written if it overlaps the range. A To
	// of 0 means the end.
	From, To time.Duration
	// Ranks to write; empty: all.
	Ranks []int
	// Clock is the run's clock map; nil: it is computed.
	Clock *clock.Map
}

// part reports whether less than everything is selected.
func (o *Options) part() bool { return o.From > 0 || o.To > 0 || len(o.Ranks) > 0 }

// A Summary counts what was written.
type Summary struct {
	Calls, Messages, Waits, Segments int64
	Bytes                            int64 // of all files
	Left                             []string
	// Repairs are those of moved times; nil: the trace has no times of single calls.
	Repairs *causality.Repairs
}

// Write writes the tables of a trace into a directory, which is created if necessary. It writes all
// tables or none.
func Write(ctx context.Context, dir string, t timeline.Trace, o Options) (Summary, error) {
	e, err := newExport(ctx, t, o)
	if err != nil {
		return Summary{}, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return Summary{}, err
	}
	e.to.path = dir
	if err := e.write(ctx); err != nil {
		for _, t := range e.to.tables {
			t.discard()
		}
		return Summary{}, err
	}
	return e.summary, nil
}

// ErrNothing is the error for a selection without calls.
var ErrNothing = fmt.Errorf("no calls in this part of the run")

// findings are those that are written.
type findings struct {
	run.Findings // Notes are also those of the root causes

	Path   *path.Path
	Ledger *verdict.Ledger
	Ranks  []ranks.RankTime
}

var wanted = pass.New("tables", func(_ context.Context, r *pass.Run) (f findings, _ error) {
	f.Findings = run.Analysis.Result(r)
	f.Notes = slices.Concat(f.Notes, rootcauses.Analysis.Result(r).Notes)
	f.Path, f.Ledger, f.Ranks = path.Analysis.Result(r).Path, ledger.Analysis.Result(r).Ledger, ranks.Analysis.Result(r).Ranks
	return f, nil
}, run.Analysis, path.Analysis, ledger.Analysis, ranks.Analysis, rootcauses.Analysis)

// export is the state of one Write.
type export struct {
	trace       timeline.Trace
	options     Options
	locations   []timeline.Location
	chosen      []bool  // by location
	firstCall   []int64 // call_id of a location's first call
	timed       bool    // the trace has times of single calls
	clocks      *timeline.Clocks
	moved       *causality.Correction // of calls and messages; nil: no times
	found       findings
	from, until int64 // on the common clock
	sites       []string
	comms       []string

	to      directory
	summary Summary
}

// maxSegments is the approximate maximum number of rows of the critical path for a trace with more
// calls; short path segments are joined then.
const maxSegments = 1 << 20

func segments(t timeline.Trace) int {
	if t.Threads().Calls() > maxSegments {
		return maxSegments
	}
	return math.MaxInt
}

func newExport(ctx context.Context, t timeline.Trace, o Options) (*export, error) {
	e := &export{trace: t, options: o, locations: timeline.Locations(t), timed: t.Meta().Timing.Mode != timing.Aggregated}
	if o.From > 0 || o.To > 0 {
		if err := timeline.NeedTimes(t, "a part of the run"); err != nil {
			return nil, err
		}
	}
	if err := e.choose(); err != nil {
		return nil, err
	}
	clocks := o.Clock
	var err error
	if clocks == nil {
		if clocks, err = clock.Analyze(ctx, t); err != nil {
			return nil, err
		}
	}
	e.clocks = clocks.Clocks
	e.found, err = pass.Find(ctx, t, wanted, func(r *pass.Run) {
		pass.Give(r, matchingpass.Given, clocks)
		pass.Give(r, accounts.Segments, segments(t))
	})
	if err != nil {
		return nil, err
	}
	start := e.found.RunStartNS
	e.from, e.until = math.MinInt64, math.MaxInt64 // include calls before MPI_Init
	if o.From > 0 {
		e.from = start + o.From.Nanoseconds()
	}
	if o.To > 0 {
		e.until = start + o.To.Nanoseconds()
	}
	for i := range t.Sites() {
		e.sites = append(e.sites, callsite.Name(&t.Sites()[i]))
	}
	for i := range t.Communicators() {
		c := &t.Communicators()[i]
		name := c.Label
		if name == "" {
			name = c.GlobalName
		}
		e.comms = append(e.comms, name)
	}
	return e, nil
}

// choose numbers the calls and selects threads.
func (e *export) choose() error {
	wanted, some := map[int]bool{}, false
	for _, r := range e.options.Ranks {
		wanted[r] = true
	}
	e.chosen, e.firstCall = make([]bool, len(e.locations)), make([]int64, len(e.locations))
	calls := int64(0)
	for i, th := range e.trace.Threads().All() {
		if th.Calls > math.MaxUint32-1 {
			return fmt.Errorf("rank %d, thread %d has %d calls: tables can have at most %d per thread", th.Rank, th.Thread, th.Calls, math.MaxUint32-1)
		}
		e.chosen[i] = len(wanted) == 0 || wanted[th.Rank]
		e.firstCall[i], some = calls, some || e.chosen[i]
		calls += int64(th.Calls)
	}
	if !some && len(e.locations) > 0 {
		return fmt.Errorf("the trace has none of the ranks %v", e.options.Ranks)
	}
	return nil
}

// time converts a time to that of the tables: since the run began.
func (e *export) time(t int64) int64 { return t - e.found.RunStartNS }

// shown reports whether a call, with the trace's times, is selected.
func (e *export) shown(location int, enter, exit int64) bool {
	return e.chosen[location] && exit >= e.from && enter < e.until
}

func (e *export) site(n uint32) string {
	if n == 0 || int(n) > len(e.sites) {
		return ""
	}
	return e.sites[n-1]
}

func (e *export) comm(i int) string {
	if i < 0 || i >= len(e.comms) {
		return ""
	}
	return e.comms[i]
}

func (e *export) write(ctx context.Context) error {
	waited := newWaited(len(e.locations))
	defer waited.close()
	if e.timed {
		var err error
		if e.moved, err = causality.Find(passes.Named(ctx, "ordering effects after causes"), e.trace, e.clocks); err != nil {
			return err
		}
		e.summary.Repairs = &e.moved.Repairs
		if err := e.matched(passes.Named(ctx, "matching calls"), waited); err != nil {
			return err
		}
		if err := e.path(); err != nil {
			return err
		}
	} else {
		e.leave("no times of single calls (timing aggregated): times of calls are null, and there are no messages, waits, path or ledger")
	}
	if err := e.calls(passes.Named(ctx, "writing calls"), waited); err != nil {
		return err
	}
	if e.summary.Calls == 0 && e.options.part() {
		return ErrNothing
	}
	for _, write := range []func() error{e.ledger, e.ranks, e.communicators, e.callSites} {
		if err := write(); err != nil {
			return err
		}
	}
	return e.finish()
}

// leave records what the tables lack.
func (e *export) leave(what string) { e.summary.Left = append(e.summary.Left, what) }

// finish completes the tables, and removes those of an earlier export that this one does not have.
func (e *export) finish() error {
	metadata, err := e.metadata()
	if err != nil {
		return err
	}
	for _, t := range e.to.tables {
		bytes, err := t.close(metadata)
		if err != nil {
			return err
		}
		e.summary.Bytes += bytes
	}
	if err := e.to.removeOld(); err != nil {
		return err
	}
	for _, t := range e.to.tables {
		if err := t.rename(); err != nil {
			return err
		}
	}
	return nil
}
