package criticalpath

import (
	"context"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// An extent is the part of a location's life that belongs to the run.
type extent struct {
	start, end  int64 // enter of MPI_Init (else of the first call), exit of MPI_Finalize (else of the last call)
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
	kinds      [waitstate.LateProgress + 1]kindTotal
	leftovers  []match.Leftover
	violations waitstate.Violations
	calls      uint64
}

type kindTotal struct {
	count int
	ns    int64
}

// runForward matches all calls and keeps the wait states.
func runForward(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*forward, error) {
	f := &forward{locations: timeline.Locations(t)}
	n := len(f.locations)
	f.extents, f.waits, f.caused = make([]extent, n), make([]waitLog, n), make([]int64, n)
	for i := range f.extents {
		f.extents[i] = extent{start: math.MaxInt64, end: math.MinInt64, empty: true}
	}
	finder := &waitstate.Finder{Found: f.found}
	matcher := match.New(t, finder)
	err := timeline.Each(ctx, t, clocks, func(c *timeline.Call) error {
		f.calls++
		f.extents[c.Location].see(c)
		matcher.Call(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.leftovers = matcher.Finish()
	f.violations = finder.Violations
	return f, nil
}

func (f *forward) found(s *waitstate.State) {
	f.waits[s.Call.Location].add(wait{begin: s.Begin, end: s.End, cause: int32(s.Cause), kind: s.Kind})
	f.caused[s.Cause] += s.Waited()
	f.kinds[s.Kind].count++
	f.kinds[s.Kind].ns += s.Waited()
}

// see extends the location's life by a call.
func (x *extent) see(c *timeline.Call) {
	if x.finalized {
		return // what little is allowed after MPI_Finalize is not part of the run
	}
	if x.empty {
		x.empty, x.start = false, c.Enter
	}
	switch c.Function.Class {
	case "init":
		if !x.initialized {
			x.initialized, x.start = true, c.Enter
		}
	case "finalize":
		x.finalized = true
	}
	x.end = max(x.end, c.Exit)
}
