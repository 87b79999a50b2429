package criticalpath

import (
	"context"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// An account is how one location spent its time, and which of it is on the path.
type account struct {
	tallies  map[activity]*tally
	calls    uint64
	compute  int64 // outside MPI
	mpi      int64
	untraced int64 // while tracing was off
	waited   int64
	path     int64
	pathWork int64 // computation on the path
	strip    strip
	pieces   []piece
	profile  *profile.Tally
	phases   *phases.Tracker

	limit     int64 // pieces shorter than this are put together
	stretches []stretch
	done      int64 // up to when they are accounted for
	waits     forwardWaits
	polls     match.Polls
}

// takeAccounts goes through all locations again, in parallel.
func takeAccounts(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, f *forward, p *route, plan *phases.Plan, calls *profile.Profile, o Options) ([]account, error) {
	accounts := make([]account, len(f.locations))
	limit := max(1, (p.end-p.start)/int64(o.segments()))
	bins := o.bins(len(f.locations))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range accounts {
		if f.extents[i].empty {
			continue
		}
		group.Go(func() error {
			a := &accounts[i]
			*a = account{
				tallies: map[activity]*tally{}, limit: limit, stretches: p.stretches[i],
				waits: forwardWaits{log: &f.waits[i]}, strip: newStrip(bins, p.start, p.end), done: math.MinInt64,
				profile: calls.Location(i), phases: plan.Location(i),
			}
			l := f.locations[i]
			err := a.run(ctx, t, i, l, clocks, f.extents[i])
			a.waits, a.profile, a.phases = forwardWaits{}, nil, nil
			return err
		})
	}
	return accounts, group.Wait()
}

func (a *account) run(ctx context.Context, t timeline.Trace, location int, l timeline.Location, clocks *timeline.Clocks, x extent) error {
	now := x.start
	var before activity
	var attempt match.Attempt
	err := timeline.EachOf(ctx, t, location, l, clocks, func(c *timeline.Call) error {
		if c.Exit <= x.start && c.Enter < x.start || c.Enter >= x.end && c.Exit > x.end {
			return nil // before MPI_Init, or after MPI_Finalize
		}
		a.calls++
		a.profile.Call(c)
		a.phases.Call(c)
		call := activity{function: c.Function.ID, site: c.Signature.Site}
		if _, polling := attempt.See(a.polls.Of(c.Event), c); polling && c.Enter > now {
			// what lies between two polls is waiting, not computation
			a.mpi += a.spend(call, Communication, location, now, c.Enter)
			a.strip.mpi.add(now, c.Enter)
			a.tally(call).count--
			now = c.Enter
		}
		if c.Signature.Untraced && c.Enter > now {
			a.untraced += c.Enter - now
			now = c.Enter
		}
		if c.Enter > now && before.function != 0 {
			between := activity{before.function, call.function, before.site, call.site}
			a.compute += a.spend(between, Computation, location, now, c.Enter)
			now = c.Enter
		}
		before = call
		kind := kindOf(c.Function)
		from := max(now, c.Enter)
		if c.Exit < from {
			a.tally(call).count++ // nested in a call before
			return nil
		}
		a.mpi += a.spend(call, kind, location, from, c.Exit)
		a.strip.mpi.add(from, c.Exit)
		a.wait(call, c.Exit)
		now = c.Exit
		return nil
	})
	a.skip(location, math.MaxInt64)
	return err
}

// skip notes that nothing is known of what the location did until end.
func (a *account) skip(location int, end int64) {
	for len(a.stretches) > 0 && a.stretches[0].start < end {
		s := a.stretches[0]
		if from, to := max(s.start, a.done), min(s.end, end); from < to {
			a.piece(piece{start: from, end: to, location: location, kind: Untraced})
			a.done = to
		}
		if s.end > end {
			return
		}
		a.stretches = a.stretches[1:]
	}
}

func (a *account) tally(what activity) *tally {
	t := a.tallies[what]
	if t == nil {
		t = new(tally)
		a.tallies[what] = t
	}
	return t
}

// spend notes that the location did something from start to end, and returns how long that is.
func (a *account) spend(what activity, kind Kind, location int, start, end int64) int64 {
	ns := end - start
	t := a.tally(what)
	t.count++
	t.ns += ns
	seconds := float64(ns) / 1e9
	t.squares += seconds * seconds
	if kind == Computation {
		t.spread.add(ns)
	}
	for len(a.stretches) > 0 && a.stretches[0].start < end {
		s := a.stretches[0]
		if max(s.start, a.done) < min(s.end, start) {
			a.skip(location, start)
			continue
		}
		from, to := max(s.start, a.done, start), min(s.end, end)
		if from < to {
			a.done = to
			t.path += to - from
			a.path += to - from
			if kind == Computation {
				a.pathWork += to - from
			}
			a.piece(piece{start: from, end: to, location: location, kind: kind, what: what})
		}
		if s.end > end {
			break
		}
		a.stretches = a.stretches[1:]
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
