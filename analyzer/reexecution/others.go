package reexecution

import (
	"context"
	"errors"
	"iter"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// An After is the number of calls that another thread must have made before a call. Threads count
// from 0 among those of the rank.
type After struct {
	Thread int
	Calls  uint64
}

// Others are the other threads of a rank. A thread frees what others use only after they are done
// with it: the program ensures that by a join or a lock, which no trace has. So a call that frees a
// handle waits for those calls of the others that used it and were entered before, as far as times
// show it.
//
// A number is given again once its object is freed. Which objects a thread made itself, and has not
// freed, is known exactly, whatever times say: threads that use a number for objects of their own
// do not wait for each other. They must not, since the order of such calls differs from rank to
// rank, and some of them may be collective.
type Others struct {
	threads []*other
	mine    map[used]int // objects that this thread made and has not freed
	failed  []error
}

// An other thread is followed up to the time of a call.
type other struct {
	number int
	all    *Others
	next   func() (*Call, bool)
	stop   func()
	ahead  *Call // the one that comes next
	calls  uint64
	made   map[used]int // objects that it made and has not freed; MPI may return one again
	// The last calls, counted from 1, that used an object which it made itself, and one which it
	// did not.
	own, foreign map[used]uint64
	// requests are the handles that were used to make a request: until it is completed, the
	// others do not free them. Open MPI 4.1 crashes if the communicator of an MPI_Ibarrier
	// is freed before.
	requests map[int64][]used
}

type used struct {
	kind mpi.Kind
	id   int64
}

// NewOthers follows the threads of a rank, given as locations, except one of them. The caller must
// call Close.
func NewOthers(ctx context.Context, t timeline.Trace, locations []int, but int) *Others {
	o := &Others{mine: map[used]int{}, failed: make([]error, len(locations))}
	for i, l := range locations {
		if l == but {
			continue
		}
		x := &other{number: i, all: o, made: map[used]int{}, own: map[used]uint64{}, foreign: map[used]uint64{}, requests: map[int64][]used{}}
		x.next, x.stop = iter.Pull(calls(ctx, t, l, &o.failed[i]))
		x.ahead, _ = x.next()
		o.threads = append(o.threads, x)
	}
	return o
}

// Close ends the following.
func (o *Others) Close() {
	for _, x := range o.threads {
		x.stop()
	}
}

// Before returns what a call has to wait for. Calls must be passed in order.
func (o *Others) Before(c *Call) (list []After, err error) {
	if len(o.threads) == 0 {
		return nil, nil
	}
	// 1. What the others used by a number before it was given to a new object is not that object.
	made, freed := changed(c)
	if len(made) > 0 && c.Timed {
		o.follow(c.Enter - c.EnterError)
	}
	for _, h := range made {
		if o.mine[h] == 0 { // otherwise it is the same one
			o.forget(h)
		}
		o.mine[h]++
	}
	// 2. What they used of the objects that the call frees. Without its time that is not known.
	if !c.Timed || len(freed) == 0 {
		for _, h := range freed {
			less(o.mine, h)
		}
		return nil, errors.Join(o.failed...)
	}
	o.follow(c.Enter + c.EnterError)
	for _, x := range o.threads {
		var calls uint64
		for _, h := range freed {
			calls = max(calls, x.foreign[h])
			if o.mine[h] == 0 {
				calls = max(calls, x.own[h])
				x.drop(h)
			}
		}
		if calls > 0 {
			list = append(list, After{x.number, calls})
		}
	}
	for _, h := range freed {
		o.forget(h)
		less(o.mine, h)
	}
	return list, errors.Join(o.failed...)
}

func (o *Others) follow(until int64) {
	for _, x := range o.threads {
		x.follow(until)
	}
}

// forget notes that an object is gone.
func (o *Others) forget(h used) {
	for _, x := range o.threads {
		delete(x.foreign, h)
	}
}

// freed notes that a thread freed an object which another one made.
func (o *Others) freed(h used) {
	o.forget(h)
	if o.mine[h] > 0 {
		less(o.mine, h)
		return
	}
	for _, x := range o.threads {
		if x.made[h] > 0 {
			x.drop(h)
			return
		}
	}
}

func less(counts map[used]int, h used) {
	if counts[h]--; counts[h] <= 0 {
		delete(counts, h)
	}
}

// follow moves to the last call that may have been entered before a time.
func (x *other) follow(until int64) {
	for more := x.ahead != nil; more && (!x.ahead.Timed || x.ahead.Enter-x.ahead.EnterError < until); {
		x.calls++
		x.use(x.ahead)
		x.ahead, more = x.next()
	}
}

// use notes which handles a call uses, itself and by the requests that it completes.
func (x *other) use(c *Call) {
	made, freed := changed(c)
	for _, h := range made {
		x.made[h]++
	}
	var uses []used
	var requests []int64
	eachHandle(c, func(p *mpi.Param, before, after *trace.Value) {
		for _, v := range append(elements(before), elements(after)...) {
			switch {
			case v.Form != trace.Handle:
			case p.Kind != mpi.KindRequest:
				uses = append(uses, used{p.Kind, v.Int})
			case before == nil:
				requests = append(requests, v.Int)
			default:
				for _, h := range x.requests[v.Int] {
					x.note(h)
				}
			}
		}
	})
	for _, h := range uses {
		x.note(h)
	}
	for _, id := range requests {
		x.requests[id] = uses
	}
	for _, h := range freed {
		if x.made[h] > 0 {
			x.drop(h)
		} else {
			x.all.freed(h)
		}
	}
}

// note notes that the present call uses an object.
func (x *other) note(h used) {
	if x.made[h] > 0 {
		x.own[h] = x.calls
	} else {
		x.foreign[h] = x.calls
	}
}

// drop notes that an object of the thread is freed.
func (x *other) drop(h used) {
	if less(x.made, h); x.made[h] == 0 {
		delete(x.own, h)
	}
}

// changed returns the handles that the call makes and frees. Requests belong to their thread.
func changed(c *Call) (made, freed []used) {
	eachHandle(c, func(p *mpi.Param, before, after *trace.Value) {
		switch {
		case p.Kind == mpi.KindRequest || after == nil:
		case before == nil && after.Form == trace.Handle:
			made = append(made, used{p.Kind, after.Int})
		case before != nil && before.Form == trace.Handle && after.Form == trace.Name:
			freed = append(freed, used{p.Kind, before.Int})
		}
	})
	return made, freed
}

// eachHandle calls do for the parameters that are handles.
func eachHandle(c *Call, do func(p *mpi.Param, before, after *trace.Value)) {
	in, out := int8(0), int8(0)
	for i := range c.Function.Params {
		p := &c.Function.Params[i]
		var before, after *trace.Value
		if p.Direction.IsIn() {
			before = at(c.In, in)
			in++
		}
		if p.Direction.IsOut() {
			after = at(c.Out, out)
			out++
		}
		if p.Kind.IsHandle() {
			do(p, before, after)
		}
	}
}
