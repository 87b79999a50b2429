package matching

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An Extent is the part of a location's calls that belongs to the run.
type Extent struct {
	Start, End  int64 // entry into MPI_Init (or into the first call), exit from MPI_Finalize (or from the last call)
	Last        int64 // entry into MPI_Finalize, End if there is none
	Initialized bool
	finalized   bool
	Empty       bool
}

// A Result is the outcome of the matching pass.
type Result struct {
	Locations    []timeline.Location
	Extents      []Extent
	Waits        []WaitLog
	Caused       []int64 // by location: time that others waited for it, in ns
	Kinds        [waitstate.NumKinds]KindTotal
	Tables       []WaitTables // by location
	Completed    map[eventlog.CallSite]*Completed
	WrongOrder   [2]waitstate.WrongOrder
	Leftovers    []match.Leftover
	Violations   waitstate.Violations
	calls        uint64
	MaxTimeError int64 // maximum rounding error of the times of calls, in ns
	Log          *eventlog.Log
	Profile      *profile.Profile
	Clock        *clock.Map // of all times
	cuts         match.Cuts

	// only during the pass
	finder      *waitstate.Finder
	recorder    *eventlog.Recorder
	completions *completions
	counting    []counting
}

// A KindTotal is the number and total duration of the wait states of one kind.
type KindTotal struct {
	Count         int
	Ns, Uncertain int64
}

// run matches all calls and records the wait states. If m is nil it also computes the clock map: in
// the same pass, provided that the clocks turn out as guessed.
func run(ctx context.Context, t timeline.Trace, m *clock.Map) (*Result, error) {
	if m == nil {
		f := newResult(t)
		along := &clock.Observer{Handler: f.handler(), See: f.see, Decoded: f.decoded, Cuts: &f.cuts}
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
	f := newResult(t)
	cuts := &f.cuts
	if m.Clocks != nil && m.Clocks.Window != nil {
		cuts = nil // times of a window are clipped
		f.completions.window = m.Clocks.Window
	}
	leftovers, err := match.InSections(ctx, t, m.Clocks, f.handler(), cuts, f.see, f.decoded)
	if err != nil {
		f.recorder.Close()
		return nil, fmt.Errorf("matching: %w", err)
	}
	f.finish(leftovers, m)
	return f, nil
}

func newResult(t timeline.Trace) *Result {
	f := &Result{Locations: timeline.Locations(t)}
	n := len(f.Locations)
	f.Extents, f.Waits, f.Caused = make([]Extent, n), make([]WaitLog, n), make([]int64, n)
	f.Tables = make([]WaitTables, n)
	for i := range f.Extents {
		f.Extents[i] = Extent{Start: math.MaxInt64, End: math.MinInt64, Empty: true}
	}
	f.finder = waitstate.NewFinder(t, f.found)
	f.Profile, f.counting = profile.New(t), make([]counting, n)
	for i := range f.counting {
		f.counting[i].accesses = newAccesses(t.Communicators())
	}
	f.recorder, f.completions = eventlog.NewRecorder(t), newCompletions()
	for i := range f.Waits {
		f.Waits[i] = newWaitLog(f.recorder.Spool(), n)
	}
	return f
}

// handler receives what is matched.
func (f *Result) handler() match.Handler {
	return match.Together(f.finder, f.recorder, f.completions)
}

func (f *Result) see(c *match.Call) {
	if !c.Outside {
		f.calls++
	}
	f.MaxTimeError = max(f.MaxTimeError, c.EnterError, c.ExitError)
	f.Extents[c.Location].see(&c.Record)
	f.recorder.See(c)
}

// finish ends the pass. It stores the quiescent points in the clock map.
func (f *Result) finish(leftovers []match.Leftover, m *clock.Map) {
	if m.Clocks != nil && m.Clocks.Window == nil {
		m.Cuts = f.cuts.List()
	}
	f.Clock = m
	f.Leftovers, f.Violations, f.WrongOrder = leftovers, f.finder.Violations, f.finder.WrongOrder
	for i := range f.Waits {
		f.Waits[i].close()
		f.Waits[i].open = nil
	}
	f.Log = f.recorder.Finish()
	for i := range f.counting {
		f.completions.take(&f.counting[i].accesses)
	}
	f.Completed = f.completions.sites
	f.finder, f.recorder, f.completions, f.counting = nil, nil, nil, nil
}

// counting selects the calls of a location for the profile: those of the run. It follows their
// accesses, too.
type counting struct {
	tally                  *profile.Tally
	accesses               accesses
	initialized, finalized bool
}

// decoded adds a call to the profile, in the decoding goroutine of its location.
func (f *Result) decoded(c *timeline.Call) {
	p := &f.counting[c.Location]
	if p.finalized {
		return
	}
	switch {
	case c.Semantics.Operation == semantics.Initialize && !p.initialized:
		// calls before MPI_Init are not part of the run
		p.initialized, p.tally = true, f.Profile.Location(c.Location)
	case c.Semantics.Operation == semantics.Finalize:
		p.finalized = true
	}
	if p.tally == nil {
		p.tally = f.Profile.Location(c.Location)
	}
	p.tally.Call(c)
	p.accesses.see(c)
}

func (f *Result) found(s *waitstate.State) {
	f.Waits[s.Call.Location].add(Wait{Begin: s.Begin, End: s.End, Came: s.Came, Cause: int32(s.Cause), Kind: s.Kind})
	f.Tables[s.Call.Location].add(s)
	f.Caused[s.Cause] += s.Waited()
	f.Kinds[s.Kind].Count++
	f.Kinds[s.Kind].Ns += s.Waited()
	f.Kinds[s.Kind].Uncertain += min(s.Waited(), s.Error)
}

// see extends the extent by a call.
func (x *Extent) see(c *timeline.Record) {
	if x.finalized {
		return // calls that are allowed after MPI_Finalize are not part of the run
	}
	if x.Empty {
		x.Empty, x.Start = false, c.Enter
	}
	switch c.Semantics.Operation {
	case semantics.Initialize:
		if !x.Initialized {
			x.Initialized, x.Start = true, c.Enter
		}
	case semantics.Finalize:
		x.finalized = true
	}
	x.End = max(x.End, c.Exit)
	if x.Last = x.End; x.finalized {
		x.Last = c.Enter
	}
}

// WaitsOf calls yield for the wait states of a location, in order.
func (f *Result) WaitsOf(location int, yield func(begin, end int64)) {
	waits := ForwardWaits{Log: &f.Waits[location]}
	for w := waits.Peek(); w != nil; w = waits.Peek() {
		yield(w.Begin, w.End)
		waits.Next++
	}
}
