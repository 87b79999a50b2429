package reexecution

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Each calls f for every call of a thread's canonical form, in order. location is an index into
// timeline.Locations.
func Each(ctx context.Context, t timeline.Trace, location int, f func(*Call) error) error {
	l := timeline.Locations(t)[location]
	open := func(index uint64) (cursor, error) {
		c, err := t.Calls(l.Rank, l.Thread)
		if err == nil && !c.Seek(index) {
			err = c.Err()
		}
		return c, err
	}
	c := canonical{
		issue: f, gaps: polling.NewGaps(t).Of(location), requests: map[int64]made{},
		persistent: map[int64][]trace.Value{}, started: map[int64]bool{}, ahead: newLookahead(open, maxAhead),
	}
	if err := c.meanGaps(t, location); err != nil {
		return err
	}
	return timeline.EachOf(ctx, t, location, l, nil, c.see)
}

// A made request.
type made struct{ receives, persistent bool }

// A canonical converts the calls of one thread to their canonical form.
type canonical struct {
	issue   func(*Call) error
	gaps    *polling.LocationGaps
	thread  activity.Thread
	mean    map[int32]int64 // gaps by terminal in ns, if single calls have no times
	compute int64           // ns since the last issued call
	call    Call

	// requests has the unfreed requests of this thread.
	requests map[int64]made
	// persistent has the inputs of persistent receives with wildcards, which are replaced by an
	// MPI_Irecv at each start, by request; started are the active ones.
	persistent map[int64][]trace.Value
	started    map[int64]bool
	ahead      *lookahead
}

// meanGaps prepares for a trace with aggregated timing.
func (c *canonical) meanGaps(t timeline.Trace, location int) error {
	aggregates, err := t.Aggregates(location)
	if err != nil || len(aggregates) == 0 {
		return err
	}
	thread := t.Threads().At(location)
	row := t.Ranks().Find(thread.Rank)
	clock := t.Ranks().At(row).Clock
	nanoseconds := clock.Nanoseconds()
	c.mean = make(map[int32]int64, len(aggregates))
	for i := range aggregates {
		if g := &aggregates[i].Gaps; g.Count > 0 {
			c.mean[aggregates[i].Terminal] = nanoseconds(thread.FirstTick+g.Sum/int64(g.Count)) - nanoseconds(thread.FirstTick)
		}
	}
	return nil
}

// see processes the next recorded call.
func (c *canonical) see(r *timeline.Call) error {
	e := r.Event
	step := c.thread.See(&r.Record, c.gaps.See(e))
	if step != nil {
		for _, s := range step.Spans() {
			if s.Kind == activity.Computation {
				c.compute += s.To - s.From
			}
		}
	}
	if !e.Timed && e.Index > 0 {
		c.compute += c.mean[e.Terminal]
	}
	if e.Timed && step != nil && step.Nested || !executed(e) || !found(e) {
		return nil
	}
	f := mpi.ByID(e.Function.ID)
	if f == nil {
		return fmt.Errorf("%s is not known to this version of cairn", e.Function.Name)
	}
	if treatment, why := TreatmentOf(f); treatment == LeftOut {
		return nil
	} else if treatment == Refused {
		return fmt.Errorf("%s cannot be executed again: %s", f.Name, why)
	}
	c.call = Call{
		Function: f, Semantics: e.Semantics, In: e.In, Out: e.Out, Index: e.Index, MayFail: !e.Succeeded(), NewComm: e.NewComm,
		Enter: r.Enter, EnterError: r.EnterError, Timed: e.Timed, // a tick is at most a nanosecond
	}
	return c.give(e)
}

// give issues the call in its canonical form.
func (c *canonical) give(e *trace.Event) error {
	s := e.Semantics
	switch {
	case completes(s):
		return c.complete(e)
	case s.Operation == semantics.Start:
		return c.start(e)
	case s.Operation == semantics.RequestFree:
		return c.free(e)
	case s.Operation == semantics.Probe:
		c.in(probeForm, narrow(s, e.In, matchedBy(at(e.Out, s.Out[semantics.Status])))...)
		c.call.Out = []trace.Value{*at(e.Out, s.Out[semantics.Status])}
	case s.Operation == semantics.MatchedProbe:
		status := *at(e.Out, s.Out[semantics.Status])
		c.in(mprobeForm, narrow(s, e.In, matchedBy(&status))...)
		c.call.Out = []trace.Value{*at(e.Out, s.Out[semantics.Message]), status}
	case s.Operation == semantics.WindowSynchronize && s.Polls:
		c.in(winWaitForm, e.In...)
		c.call.Out = nil
	case s.Receives() && s.Completion == semantics.Blocking && isWild(s, e.In):
		c.call.In = narrow(s, e.In, matchedBy(at(e.Out, s.Out[semantics.Status])))
	case s.Receives() && s.Completion == semantics.Persistent && isWild(s, e.In):
		if r := at(e.Out, s.Out[semantics.Request]); r.Form == trace.Handle {
			c.persistent[r.Int] = append([]trace.Value{*at(e.Out, s.Out[semantics.Buffer])}, e.In...)
			return nil
		}
	case s.Receives() && s.Completion == semantics.Nonblocking && isWild(s, e.In):
		if r := at(e.Out, s.Out[semantics.Request]); r.Form == trace.Handle {
			m, err := c.ahead.next(e.Index, r.Int, c.persistent)
			if err != nil {
				return err
			}
			c.call.In = narrow(s, e.In, m)
		}
	}
	c.note(s)
	return c.emit()
}

// in replaces the function of the call and its inputs.
func (c *canonical) in(f form, values ...trace.Value) {
	c.call.Function, c.call.Semantics, c.call.In = f.function, f.semantics, values
}

func (c *canonical) emit() error {
	c.call.Compute, c.compute = c.compute, 0
	return c.issue(&c.call)
}

// note records the request that the call created, if any.
func (c *canonical) note(s *semantics.Function) {
	if s.In[semantics.Request] >= 0 {
		return
	}
	if r := at(c.call.Out, s.Out[semantics.Request]); r != nil && r.Form == trace.Handle {
		// the status of a receive from MPI_PROC_NULL has an implementation's values
		receives := s.Receives() && !isNamed(at(c.call.In, s.In[semantics.Source]), "MPI_PROC_NULL")
		c.requests[r.Int] = made{receives, s.IsPersistent()}
	}
}

// complete issues the call that waits for what a call completed.
func (c *canonical) complete(e *trace.Event) error {
	done := completionOf(e)
	requests, statuses := make([]trace.Value, len(done.requests)), make([]trace.Value, len(done.requests))
	for i, r := range done.requests {
		requests[i] = r
		if status := done.status(i); status != nil && r.Form == trace.Handle && c.requests[r.Int].receives {
			statuses[i] = *status
		}
		if r.Form != trace.Handle {
			continue
		}
		switch given := c.persistent[r.Int]; {
		case given == nil:
			if !c.requests[r.Int].persistent {
				delete(c.requests, r.Int)
			}
		case c.started[r.Int]:
			delete(c.started, r.Int)
			delete(c.requests, r.Int)
		default: // nothing to do for an inactive request
			requests[i], statuses[i] = named("MPI_REQUEST_NULL"), trace.Value{}
		}
	}
	if op := e.Semantics.Operation; len(requests) == 1 && (op == semantics.Wait || op == semantics.WaitAny) {
		c.in(waitForm, requests[0])
		c.call.Out = []trace.Value{{}, statuses[0]}
		return c.emit()
	}
	c.in(waitAllForm, integer(int64(len(requests))), list(requests...))
	c.call.Out = []trace.Value{list(make([]trace.Value, len(requests))...), list(statuses...)}
	return c.emit()
}

// start issues calls that start persistent requests.
func (c *canonical) start(e *trace.Event) error {
	started := elements(at(e.In, e.Semantics.In[semantics.Request]))
	wild := false
	for _, r := range started {
		wild = wild || r.Form == trace.Handle && c.persistent[r.Int] != nil
	}
	if !wild {
		return c.emit()
	}
	for _, r := range started {
		given := c.persistent[r.Int]
		if r.Form != trace.Handle || given == nil {
			c.in(startForm, r)
			c.call.Out = []trace.Value{r}
		} else {
			m, err := c.ahead.next(e.Index, r.Int, c.persistent)
			if err != nil {
				return err
			}
			c.in(irecvForm, narrow(irecvForm.semantics, given[1:], m)...)
			c.call.Out = []trace.Value{given[0], r}
			c.started[r.Int], c.requests[r.Int] = true, made{receives: true}
		}
		if err := c.emit(); err != nil {
			return err
		}
	}
	return nil
}

// free issues a call that frees a request, if it exists.
func (c *canonical) free(e *trace.Event) error {
	r := at(e.In, e.Semantics.In[semantics.Request])
	if r == nil || r.Form != trace.Handle {
		return c.emit()
	}
	delete(c.requests, r.Int)
	if c.persistent[r.Int] != nil {
		delete(c.persistent, r.Int)
		if !c.started[r.Int] {
			return nil
		}
		delete(c.started, r.Int)
	}
	return c.emit()
}
