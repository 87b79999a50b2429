package accounts

import (
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	activities "github.com/cairn-mpi/cairn/analyzer/activity" // an activity is a function at a call site here
	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/recent"
)

// An Account is how one location spent its time, and the part of it that is on the critical path.
type Account struct {
	Tallies              map[Activity]*Tally
	recent               recent.Cache[Activity, Tally]
	Between              map[Activity]*Step // computation between two collectives, whatever calls are made there
	order                []Activity         // cached result of Activities
	Calls                uint64
	Compute              int64 // outside MPI
	Mpi                  int64
	Untraced             int64 // while tracing was off
	Overhead             int64 // overhead of the tracer
	Initialize, Finalize int64 // inside MPI_Init and MPI_Finalize
	Waited               int64
	Never                int64 // of Waited: for what never came
	stoodAt              int64 // when it began to wait for that
	stands               bool  // it did so until its end
	Path                 int64
	pathWork             int64 // computation on the path
	Strip                Strip
	pieces               pieceLog
	phases               *phases.Tracker

	OffCPU    map[Activity]*OffCPU // CPU measurements, by computation
	LongCalls map[Activity]*OffCPU // those of long calls, also while they wait for other ranks

	Disturbance int64 // only if Accounts.Sums: longest disturbance of a repeated computation

	firsts    int // max. durations that are kept of a computation
	samples   int // max. samples of its series
	stretches route.ForwardStretches
	vain      vain
	done      int64 // time up to which they are accounted for
	waits     matching.ForwardWaits

	collective Activity   // the latest collective
	since      int64      // computation since then, in ns
	within     []Activity // regions since then

	beside *beside // calls of the rank's other threads; nil: there are none, or it is not the first thread

	open  openRegion
	parts map[Activity]map[Activity]int64 // of regions with queries: time by part, then by region
}

// maxFirst is the number of durations that are kept of a region on a rank, in jobs of up to 4,096
// ranks.
const maxFirst = 256

// maxSamples is the number of samples of its series, likewise.
const maxSamples = 64

// binsOf returns the number of bins in each location's strip, such that all strips together take
// some 100 kB.
func binsOf(locations int) int { return max(50, min(400, 100_000/max(1, locations))) }

// takeAccounts reads the calls of all locations again, in parallel.
func takeAccounts(ctx context.Context, f *matching.Result, p *route.Route, plan *phases.Plan, segments int) ([]Account, error) {
	accounts := make([]Account, len(f.Locations))
	limit := max(1, (p.End-p.Start)/int64(segments))
	bins := binsOf(len(f.Locations))
	ctx, _, end := passes.Calls(passes.Named(ctx, "adding up times"), f.Log.Calls)
	defer end()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range accounts {
		if f.Extents[i].Empty {
			continue
		}
		group.Go(func() error {
			a := &accounts[i]
			*a = Account{
				Tallies: map[Activity]*Tally{}, Between: map[Activity]*Step{}, firsts: min(maxFirst, maxFirst*4096/len(f.Locations)),
				samples: max(32, min(maxSamples, maxSamples*4096/len(f.Locations))&^1),
				pieces:  newPieceLog(f.Log.Spool, len(f.Locations), limit), stretches: p.Stretches[i].Forward(),
				waits: matching.ForwardWaits{Log: &f.Waits[i]}, Strip: newStrip(bins, p.Start, p.End), done: math.MinInt64,
				phases: plan.Location(i), beside: newBeside(f.Log, i+1, besides(f.Locations, i)),
			}
			err := a.run(ctx, f.Log, i, plan.Thread(i))
			a.pieces.finish()
			a.waits, a.stretches, a.phases, a.recent = matching.ForwardWaits{}, route.ForwardStretches{}, nil, recent.Cache[Activity, Tally]{}
			a.beside = nil
			return err
		})
	}
	return accounts, group.Wait()
}

// besides returns how many locations after a rank's main thread are its other threads; 0 for other
// locations.
func besides(locations []timeline.Location, i int) (n int) {
	for i+n+1 < len(locations) && locations[i+n+1].Main == i {
		n++
	}
	return n
}

func (a *Account) run(ctx context.Context, j *eventlog.Log, location int, thread activities.Thread) error {
	var before, last Activity // the call that began the region, and the latest call
	take := func(c *timeline.Record, poll polling.Poll) {
		step := thread.See(c, poll)
		if step == nil {
			return
		}
		if !c.Outside {
			a.Calls++
		}
		a.phases.Step(c, step)
		call := Activity{Function: c.Function.ID, Site: c.Signature.Site}
		if step.Nested {
			a.tally(call).Count++
		}
		query := c.Semantics.IsLocalQuery() && before != (Activity{})
		for _, span := range step.Spans() {
			if span.Kind == activities.Computation && (query || a.open.on) {
				a.extendRegion(span, part{last, call}, location)
				continue
			}
			if !query && span.Kind != activities.Tool {
				a.closeRegion(before, call)
			}
			a.span(span, before, call, c, location)
		}
		a.vain.see(c, poll, step, call)
		last = call
		if query {
			return
		}
		a.closeRegion(before, call)
		if c.Semantics.Collective {
			a.reachCollective(call)
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
	a.closeRegion(before, last)
	a.waitInVain()
	a.skip(location, math.MaxInt64)
	return errors.Join(r.Err(), a.beside.err())
}

// span adds an interval that ends with or before a call.
func (a *Account) span(s activities.Span, before, call Activity, c *timeline.Record, location int) {
	switch s.Kind {
	case activities.Tool:
		a.Overhead += s.To - s.From
	case activities.Untraced:
		a.Untraced += s.To - s.From
	case activities.Waiting:
		a.Mpi += a.spend(call, Communication, location, s.From, s.To)
		a.Strip.MPI.add(s.From, s.To)
		t := a.tally(call)
		t.Count--
		t.Gaps++
		t.Idle += s.To - s.From
	case activities.Computation:
		spent := a.spend(computation(before, call), Computation, location, s.From, s.To)
		a.Compute += spent
		a.since += spent
		a.enterRegion(computation(before, call))
		if a.beside != nil {
			a.tally(computation(before, call)).Beside += a.beside.within(s.From, s.To)
		}
	case activities.Call:
		kind := kindOf(c.Semantics)
		spent := a.spend(call, kind, location, s.From, s.To)
		a.Mpi += spent
		switch kind {
		case Initialization:
			a.Initialize += spent
		case Finalization:
			a.Finalize += spent
		case Computation, Communication, InputOutput, Launch, Untraced:
		}
		a.Strip.MPI.add(s.From, s.To)
		waited := a.wait(call, s.To)
		if !c.Semantics.Polls {
			a.tally(call).spread(max(0, spent-waited))
		}
	}
}

// A Step is the computation from one collective to the next.
type Step struct {
	Tally
	Regions map[Activity]bool // computations that it consists of
}

// reachCollective records that the location enters a collective. Its computation since the previous
// collective is the work of a step.
func (a *Account) reachCollective(call Activity) {
	if a.collective != (Activity{}) && a.since > 0 {
		what := computation(a.collective, call)
		t := a.Between[what]
		if t == nil {
			t = &Step{Regions: map[Activity]bool{}}
			a.Between[what] = t
		}
		for _, region := range a.within {
			t.Regions[region] = true
		}
		t.Count++
		t.Ns += a.since
		t.Spread.add(a.since)
		if len(t.First) < a.firsts {
			t.First = append(t.First, float32(float64(a.since)/1e9))
		}
	}
	a.collective, a.since, a.within = call, 0, a.within[:0]
}

// maxInStep is the number of regions that are kept of a step: all are searched at each computation.
const maxInStep = 32

// enterRegion records that a region belongs to the step since the latest collective.
func (a *Account) enterRegion(what Activity) {
	if len(a.within) < maxInStep && !slices.Contains(a.within, what) {
		a.within = append(a.within, what)
	}
}

// skip accounts the path up to end as untraced: it is not known what the location did.
func (a *Account) skip(location int, end int64) {
	for s := a.stretches.Peek(); s != nil && s.Start < end; s = a.stretches.Peek() {
		if from, to := max(s.Start, a.done), min(s.End, end); from < to {
			a.addPiece(Piece{Start: from, End: to, Location: location, Kind: Untraced})
			a.done = to
		}
		if s.End > end {
			return
		}
		a.stretches.Next++
	}
}

// Activities returns the activities of the tallies in a fixed order, so that sums are reproducible.
func (a *Account) Activities() []Activity {
	if len(a.order) != len(a.Tallies) {
		a.order = slices.SortedFunc(maps.Keys(a.Tallies), CompareActivities)
	}
	return a.order
}

func (a *Account) tally(what Activity) *Tally {
	return a.recent.At(a.Tallies, what, what.Hash())
}

// spend accounts an activity from start to end and returns its duration in ns.
func (a *Account) spend(what Activity, kind Kind, location int, start, end int64) int64 {
	a.add(what, kind, end-start, a.follow(what, kind, location, start, end))
	return end - start
}

// add adds an instance of an activity to its tally.
func (a *Account) add(what Activity, kind Kind, ns, path int64) {
	t := a.tally(what)
	t.Count++
	t.Ns += ns
	t.Path += path
	seconds := float64(ns) / 1e9
	t.squares += seconds * seconds
	if kind == Computation {
		t.Spread.add(ns)
		if len(t.First) < a.firsts {
			t.First = append(t.First, float32(seconds))
		}
		if t.Series.Count == 0 {
			t.Series = series.Of(a.samples)
		}
		t.Series.Add(seconds)
	}
}

// follow follows the path through an activity and returns how long it is there.
func (a *Account) follow(what Activity, kind Kind, location int, start, end int64) (path int64) {
	for s := a.stretches.Peek(); s != nil && s.Start < end; s = a.stretches.Peek() {
		if max(s.Start, a.done) < min(s.End, start) {
			a.skip(location, start)
			continue
		}
		from, to := max(s.Start, a.done, start), min(s.End, end)
		if from < to {
			a.done = to
			path += to - from
			a.Path += to - from
			if kind == Computation {
				a.pathWork += to - from
			}
			a.addPiece(Piece{Start: from, End: to, Location: location, Kind: kind, What: what})
		}
		if s.End > end {
			break
		}
		a.stretches.Next++
	}
	return path
}

// wait accounts the wait states inside a call that ends at exit, and returns their duration in ns.
func (a *Account) wait(call Activity, exit int64) (waited int64) {
	for w := a.waits.Peek(); w != nil && w.Begin < exit; w = a.waits.Peek() {
		a.waits.Next++
		waited += w.End - w.Begin
		a.Strip.Wait.add(w.Begin, w.End)
	}
	if waited > 0 {
		a.Waited += waited
		a.tally(call).Waited += waited
	}
	return waited
}
