package criticalpath

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An extent is the part of a location's life that belongs to the run.
type extent struct {
	start, end  int64 // enter of MPI_Init (else of the first call), exit of MPI_Finalize (else of the last call)
	last        int64 // enter of MPI_Finalize, end where there is none
	initialized bool
	finalized   bool
	empty       bool
}

// A forward pass is what is known after all calls have been seen once.
type forward struct {
	locations  []timeline.Location
	extents    []extent
	waits      []waitLog
	caused     []int64 // by location: how long others waited for it
	kinds      [waitstate.NumKinds]kindTotal
	tables     []waitTables // by location
	wrongOrder [2]waitstate.WrongOrder
	leftovers  []match.Leftover
	violations waitstate.Violations
	calls      uint64
	moments    int64 // by how many ns the time of a call may be off because times are rounded, at most
	journal    *journal.Journal
	profile    *profile.Profile
	clock      *clock.Map // that all times are on
	cuts       match.Cuts

	// while it goes on
	finder   *waitstate.Finder
	recorder *journal.Recorder
	counting []counting
}

type kindTotal struct {
	count         int
	ns, uncertain int64
}

// runForward matches all calls and keeps the wait states. Without a clock map it makes one, in the same pass if the clocks
// turn out as guessed.
func runForward(ctx context.Context, t timeline.Trace, m *clock.Map) (*forward, error) {
	if m == nil {
		f := newForward(t)
		along := &clock.Passenger{Handler: match.Together(f.finder, f.recorder), See: f.see, Decoded: f.decoded, Cuts: &f.cuts}
		var err error
		if m, err = clock.AnalyzeWith(ctx, t, along); err != nil {
			f.recorder.Close()
			return nil, err
		}
		if along.Arrived {
			f.finish(along.Leftovers, m)
			return f, nil
		}
		f.recorder.Close()
	}
	f := newForward(t)
	cuts := &f.cuts
	if m.Clocks != nil && m.Clocks.Window != nil {
		cuts = nil // its times are not the run's
	}
	leftovers, err := match.InSections(ctx, t, m.Clocks, match.Together(f.finder, f.recorder), cuts, f.see, f.decoded)
	if err != nil {
		f.recorder.Close()
		return nil, fmt.Errorf("matching: %w", err)
	}
	f.finish(leftovers, m)
	return f, nil
}

func newForward(t timeline.Trace) *forward {
	f := &forward{locations: timeline.Locations(t)}
	n := len(f.locations)
	f.extents, f.waits, f.caused = make([]extent, n), make([]waitLog, n), make([]int64, n)
	f.tables = make([]waitTables, n)
	for i := range f.extents {
		f.extents[i] = extent{start: math.MaxInt64, end: math.MinInt64, empty: true}
	}
	f.finder = waitstate.NewFinder(t, f.found)
	f.profile, f.counting = profile.New(t), make([]counting, n)
	f.recorder = journal.NewRecorder(t)
	for i := range f.waits {
		f.waits[i] = newWaitLog(f.recorder.Spool(), n)
	}
	return f
}

func (f *forward) see(c *match.Call) {
	if !c.Outside {
		f.calls++
	}
	f.moments = max(f.moments, c.EnterError, c.ExitError)
	f.extents[c.Location].see(&c.Record)
	f.recorder.See(c)
}

// finish ends the pass. The clock map keeps where parts of the run can be looked at alone.
func (f *forward) finish(leftovers []match.Leftover, m *clock.Map) {
	if m.Clocks != nil && m.Clocks.Window == nil {
		m.Cuts = f.cuts.List()
	}
	f.clock = m
	f.leftovers, f.violations, f.wrongOrder = leftovers, f.finder.Violations, f.finder.WrongOrder
	for i := range f.waits {
		f.waits[i].close()
		f.waits[i].open = nil
	}
	f.journal = f.recorder.Finish()
	f.finder, f.recorder, f.counting = nil, nil, nil
}

// counting is which calls of a location the profile has: those of the run.
type counting struct {
	tally                  *profile.Tally
	initialized, finalized bool
}

// decoded counts a call where it is decoded.
func (f *forward) decoded(c *timeline.Call) {
	p := &f.counting[c.Location]
	if p.finalized {
		return
	}
	switch {
	case c.Semantics.Operation == semantics.Initialize && !p.initialized:
		p.initialized, p.tally = true, f.profile.Location(c.Location) // what came before is not part of the run
	case c.Semantics.Operation == semantics.Finalize:
		p.finalized = true
	}
	if p.tally == nil {
		p.tally = f.profile.Location(c.Location)
	}
	p.tally.Call(c)
}

func (f *forward) found(s *waitstate.State) {
	f.waits[s.Call.Location].add(wait{begin: s.Begin, end: s.End, came: s.Came, cause: int32(s.Cause), kind: s.Kind})
	f.tables[s.Call.Location].add(s)
	f.caused[s.Cause] += s.Waited()
	f.kinds[s.Kind].count++
	f.kinds[s.Kind].ns += s.Waited()
	f.kinds[s.Kind].uncertain += min(s.Waited(), s.Error)
}

// see extends the location's life by a call.
func (x *extent) see(c *timeline.Record) {
	if x.finalized {
		return // what little is allowed after MPI_Finalize is not part of the run
	}
	if x.empty {
		x.empty, x.start = false, c.Enter
	}
	switch c.Semantics.Operation {
	case semantics.Initialize:
		if !x.initialized {
			x.initialized, x.start = true, c.Enter
		}
	case semantics.Finalize:
		x.finalized = true
	}
	x.end = max(x.end, c.Exit)
	if x.last = x.end; x.finalized {
		x.last = c.Enter
	}
}

// waitsOf lists the wait states of a location, in order.
func (f *forward) waitsOf(location int, yield func(begin, end int64)) {
	waits := forwardWaits{log: &f.waits[location]}
	for w := waits.peek(); w != nil; w = waits.peek() {
		yield(w.begin, w.end)
		waits.next++
	}
}
