package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// givenClock is the run's clock map where it is known before: nil, unless somebody gives it (pass.Give).
var givenClock = pass.New("given clock map", func(context.Context, *pass.Run) (*clock.Map, error) { return nil, nil })

// matchingPass matches all calls. Nil for a trace without the times of single calls.
var matchingPass = pass.New("matching", func(ctx context.Context, r *pass.Run) (*forward, error) {
	if r.Trace().Meta().Timing.Mode == timing.Aggregated {
		return nil, nil
	}
	given, err := givenClock.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := runForward(ctx, r.Trace(), given)
	if err != nil {
		return nil, err
	}
	r.OnClose(func() error {
		defer f.journal.Close()
		return f.journal.Spool.Err()
	})
	return f, nil
}, givenClock)

// clockPass is the clock map of the run: the given one, else that which the matching has made, else it is made.
var clockPass = pass.New("clock map", func(ctx context.Context, r *pass.Run) (*clock.Map, error) {
	given, err := givenClock.Of(ctx, r)
	if err != nil || given != nil {
		return given, err
	}
	if r.Wants(matchingPass) {
		if f, err := matchingPass.Of(ctx, r); err != nil {
			return nil, err
		} else if f != nil {
			return f.clock, nil
		}
	}
	return clock.Analyze(ctx, r.Trace())
}, givenClock).Uses(matchingPass)
