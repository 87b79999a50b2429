package recorder

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// unfinished records the call that a process was in when it ended. It lasts until the process was
// last known to be alive.
func (t *thread) unfinished(rec record.Record) {
	r := t.recorder
	// the time is not yet there, or was damaged
	enter := int64(rec.Enter)
	if last := r.life.Last(t.lastExit); enter < t.lastExit || enter > last && r.life.Alive != 0 {
		enter = min(max(enter, t.lastExit), last)
	}
	t.inFlight, t.entered = rec.Function, enter
	rec.Enter, rec.Exit = uint64(enter), uint64(r.life.Last(enter))
	t.withoutEffects(rec)
}

// End returns how the process ended, nil if it left no information.
func (r *Recorder) End() *trace.End {
	l := &r.life
	if l.Alive == 0 {
		return nil
	}
	e := &trace.End{Ticks: l.Last(0), ExitCode: -1}
	called := int64(0) // the last time that the program entered or left a call
	for _, t := range r.threads {
		if t.calls == 0 {
			continue
		}
		e.Ticks = max(e.Ticks, t.lastExit)
		if t.inFlight != 0 {
			called = max(called, t.entered)
		} else {
			called = max(called, t.lastExit)
		}
	}
	// A later call proves that a signal handler let the program continue. (The process also stays
	// alive while a handler prints a backtrace.)
	if l.Signal != 0 && l.SignalAt >= called {
		e.Signal = int(l.Signal)
	}
	if l.Exit != 0 {
		e.ExitCode, e.CalledExit = int(l.Exit-1), true
	}
	return e
}

// EndedIn reports whether the process ended in a call, be it one after MPI_Finalize.
func (r *Recorder) EndedIn() bool {
	return slices.ContainsFunc(r.threads, func(t *thread) bool { return t.inFlight != 0 })
}

// EndedEarly describes the end of a process that did not get through MPI_Finalize; "" if it did.
func (r *Recorder) EndedEarly() string {
	if r.finalized {
		return ""
	}
	for _, t := range r.threads {
		if t.inFlight != 0 && !r.stopped {
			return "killed in " + mpi.ByID(t.inFlight).Name
		}
	}
	var last *thread
	for _, t := range r.threads {
		if t.calls > 0 && (last == nil || t.lastExit > last.lastExit) {
			last = t
		}
	}
	if last == nil {
		return "before MPI_Init"
	}
	if !r.stopped {
		return "after " + mpi.ByID(last.lastFunction).Name
	}
	text := trace.TracingStopped
	if r.life.Counted && r.life.Finalized == 0 { // it has ended, and would have been counted
		text = trace.EndedUntraced
	}
	text += mpi.ByID(last.lastFunction).Name
	if r.whyStopped != "" {
		text += ": " + r.whyStopped
	}
	return text
}
