package matching

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Given is the run's clock map if it is known in advance (pass.Give), nil otherwise.
var Given = pass.New("given clock map", func(context.Context, *pass.Run) (*clock.Map, error) { return nil, nil })

// Pass matches all calls. The result is nil for a trace without the times of single calls.
var Pass = pass.New("matching", func(ctx context.Context, r *pass.Run) (*Result, error) {
	if r.Trace().Meta().Timing.Mode == timing.Aggregated {
		return nil, nil
	}
	f, err := run(ctx, r.Trace(), Given.Result(r))
	if err != nil {
		return nil, err
	}
	r.OnClose(func() error {
		log := f.Log
		f.Log = nil // most of the memory of an analysis
		defer log.Close()
		return log.Spool.Err()
	})
	return f, nil
}, Given)

// Clock is the clock map of the run: the given one, otherwise the one computed by the matching,
// otherwise it is computed here.
var Clock = pass.New("clock map", func(ctx context.Context, r *pass.Run) (*clock.Map, error) {
	if given := Given.Result(r); given != nil {
		return given, nil
	}
	if r.Wants(Pass) {
		if f, err := Pass.Of(ctx, r); err != nil {
			return nil, err
		} else if f != nil {
			return f.Clock, nil
		}
	}
	return clock.Analyze(ctx, r.Trace())
}, Given).Uses(Pass)

// Map returns the clock map that a run was given or has computed, nil if none was needed.
func Map(r *pass.Run) *clock.Map {
	if given, is := pass.Given(r, Given); is {
		return given
	}
	if made := pass.Computed(r, Clock); made != nil {
		return made
	}
	if f := pass.Computed(r, Pass); f != nil {
		return f.Clock
	}
	return nil
}

// Part is the trace with the communication matrices restricted to the analyzed part of the run.
var Part = pass.New("part of the run", func(ctx context.Context, r *pass.Run) (timeline.Trace, error) {
	if given := Given.Result(r); given != nil {
		return timeline.Restrict(ctx, r.Trace(), given.Clocks)
	}
	return r.Trace(), nil
}, Given)
