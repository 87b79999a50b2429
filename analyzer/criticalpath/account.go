package criticalpath

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	activities "github.com/cairn-mpi/cairn/analyzer/activity" // an activity is a function at a call site here
	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/recent"
)

// An account is how one location spent its time, and which of it is on the path.
type account struct {
	tallies              map[activity]*tally
	recent               recent.Cache[activity, tally]
	between              map[activity]*tally // computation between two collectives, whatever calls are made there
	order                []activity          // of the tallies, once it was asked for
	calls                uint64
	compute              int64 // outside MPI
	mpi                  int64
	untraced             int64 // while tracing was off
	held                 int64 // by the tracer
	initialize, finalize int64 // inside MPI_Init and MPI_Finalize
	waited               int64
	path                 int64
	pathWork             int64 // computation on the path
	strip                strip
	pieces               pieceLog
	phases               *phases.Tracker

	offCPU map[activity]*offCPU // what is known of the CPU, by computation

	disturbance int64 // of sums: the longest one of a computation that repeats

	firsts    int // how many durations of a computation are kept
	stretches forwardStretches
	done      int64 // up to when they are accounted for
	waits     forwardWaits

	collective activity // the latest one,
	since      int64    // and how long was computed since then
}

// maxFirst is how many durations are kept of a region on a rank, in jobs of up to 4,096 ranks.
const maxFirst = 256

// binsOf is how many parts of the run the strips of each location show: all together take some 100 kB each.
func binsOf(locations int) int { return max(50, min(400, 100_000/max(1, locations))) }

// takeAccounts goes through all locations again, in parallel.
func takeAccounts(ctx context.Context, f *forward, p *route, plan *phases.Plan, segments int) ([]account, error) {
	accounts := make([]account, len(f.locations))
	limit := max(1, (p.end-p.start)/int64(segments))
	bins := binsOf(len(f.locations))
	ctx, _, end := passes.Calls(passes.Named(ctx, "adding up times"), f.journal.Calls)
	defer end()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range accounts {
		if f.extents[i].empty {
			continue
		}
		group.Go(func() error {
			a := &accounts[i]
			*a = account{
				tallies: map[activity]*tally{}, between: map[activity]*tally{}, firsts: min(maxFirst, maxFirst*4096/len(f.locations)), pieces: newPieceLog(f.journal.Spool, len(f.locations), limit), stretches: p.stretches[i].forward(),
				waits: forwardWaits{log: &f.waits[i]}, strip: newStrip(bins, p.start, p.end), done: math.MinInt64,
				phases: plan.Location(i),
			}
			err := a.run(ctx, f.journal, i, plan.Thread(i))
			a.pieces.finish()
			a.waits, a.stretches, a.phases, a.recent = forwardWaits{}, forwardStretches{}, nil, recent.Cache[activity, tally]{}
			return err
		})
	}
	return accounts, group.Wait()
}

func (a *account) run(ctx context.Context, j *journal.Journal, location int, thread activities.Thread) error {
	var before activity
	take := func(c *timeline.Record, poll polling.Poll) {
		step := thread.See(c, poll)
		if step == nil {
			return
		}
		if !c.Outside {
			a.calls++
		}
		a.phases.Step(c, step)
		call := activity{function: c.Function.ID, site: c.Signature.Site}
		if step.Nested {
			a.tally(call).count++
		}
		for _, span := range step.Spans() {
			a.span(span, before, call, c, location)
		}
		if c.Semantics.Collective {
			a.meets(call)
		}
		before = call
	}
	r := j.Read(location)
	pass := passes.Of(ctx)
	for range j.Slabs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n := 0
		for ; r.Next(); n++ {
			take(&r.Record, r.Poll)
		}
		pass.Add(n)
	}
	a.skip(location, math.MaxInt64)
	return r.Err()
}

// span notes a stretch of time that ends with a call, or before it.
func (a *account) span(s activities.Span, before, call activity, c *timeline.Record, location int) {
	switch s.Kind {
	case activities.Tool:
		a.held += s.To - s.From
	case activities.Untraced:
		a.untraced += s.To - s.From
	case activities.Waiting:
		a.mpi += a.spend(call, accounts.Communication, location, s.From, s.To)
		a.strip.mpi.add(s.From, s.To)
		a.tally(call).count--
	case activities.Computation:
		between := activity{before.function, call.function, before.site, call.site}
		spent := a.spend(between, accounts.Computation, location, s.From, s.To)
		a.compute += spent
		a.since += spent
	case activities.Call:
		kind := kindOf(c.Semantics)
		spent := a.spend(call, kind, location, s.From, s.To)
		a.mpi += spent
		switch kind {
		case accounts.Initialization:
			a.initialize += spent
		case accounts.Finalization:
			a.finalize += spent
		case accounts.Computation, accounts.Communication, accounts.InputOutput, accounts.Launch, accounts.Untraced:
		}
		a.strip.mpi.add(s.From, s.To)
		a.wait(call, s.To)
	}
}

// meets notes that the location comes to a collective: what it computed since the one before is the work of a step.
func (a *account) meets(call activity) {
	if a.collective != (activity{}) && a.since > 0 {
		what := activity{a.collective.function, call.function, a.collective.site, call.site}
		t := a.between[what]
		if t == nil {
			t = &tally{}
			a.between[what] = t
		}
		t.count++
		t.ns += a.since
		t.spread.add(a.since)
		if len(t.first) < a.firsts {
			t.first = append(t.first, float32(float64(a.since)/1e9))
		}
	}
	a.collective, a.since = call, 0
}

// skip notes that nothing is known of what the location did until end.
func (a *account) skip(location int, end int64) {
	for s := a.stretches.peek(); s != nil && s.start < end; s = a.stretches.peek() {
		if from, to := max(s.start, a.done), min(s.end, end); from < to {
			a.pieces.add(piece{start: from, end: to, location: location, kind: accounts.Untraced})
			a.done = to
		}
		if s.end > end {
			return
		}
		a.stretches.next++
	}
}

// activities are those of the tallies, in an order: what is added up comes to the same each time.
func (a *account) activities() []activity {
	if len(a.order) != len(a.tallies) {
		a.order = slices.SortedFunc(maps.Keys(a.tallies), compareActivities)
	}
	return a.order
}

func (a *account) tally(what activity) *tally {
	return a.recent.At(a.tallies, what, what.hash())
}

// spend notes that the location did something from start to end, and returns how long that is.
func (a *account) spend(what activity, kind accounts.Kind, location int, start, end int64) int64 {
	ns := end - start
	t := a.tally(what)
	t.count++
	t.ns += ns
	seconds := float64(ns) / 1e9
	t.squares += seconds * seconds
	if kind == accounts.Computation {
		t.spread.add(ns)
		if len(t.first) < a.firsts {
			t.first = append(t.first, float32(seconds))
		}
	}
	for s := a.stretches.peek(); s != nil && s.start < end; s = a.stretches.peek() {
		if max(s.start, a.done) < min(s.end, start) {
			a.skip(location, start)
			continue
		}
		from, to := max(s.start, a.done, start), min(s.end, end)
		if from < to {
			a.done = to
			t.path += to - from
			a.path += to - from
			if kind == accounts.Computation {
				a.pathWork += to - from
			}
			a.pieces.add(piece{start: from, end: to, location: location, kind: kind, what: what})
		}
		if s.end > end {
			break
		}
		a.stretches.next++
	}
	return ns
}

// wait notes the waiting inside a call that ends at exit.
func (a *account) wait(call activity, exit int64) {
	for w := a.waits.peek(); w != nil && w.begin < exit; w = a.waits.peek() {
		a.waits.next++
		a.waited += w.end - w.begin
		a.tally(call).waited += w.end - w.begin
		a.strip.wait.add(w.begin, w.end)
	}
}
