package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The state that the decoding of a call depends on, and how Seek restores it to what decoding call
// by call would have left. Nothing else may be kept from one call to the next: new state must be
// added here and to Seek.
//
//   - walk, next: the position in the grammar. It is found by the lengths of the rules
//     (Grammar.Seek).
//   - calls, per signature: the position in each value stream, and the current lists of requests.
//     They are dropped, and made when the signature is next met: before has the number of calls of
//     each signature up to the cursor, and variableCall.skip skips their values, with the code that
//     also reads them (slot.take).
//   - calls, elastic values: those of the communicator of the signature's last call and the
//     caller's rank in it. They are recomputed wherever these differ (substitute), so they need no
//     restoring.
//   - comms, world: the communicators of handles. They are bound again by the creating calls before
//     the cursor (seekComms).
//   - self: the same for all calls of a thread. creations, of the rank's other threads: independent
//     of the position.
//   - part, until, ticks: the position in the thread's timing, and the clock. A block of a file is
//     self-contained and has the tick at which it begins; it is read up to the call (seekTime).
//   - overheads, extrapolating.extrapolations: lists that are iterated from the front; they start
//     over with the block of timing.
//   - extrapolating, the times of an interval: dropped, and loaded when a call of the interval is
//     next met. The leads' cursors are kept; they seek to an interval.
//   - event: Next sets every field that can differ; Overhead, OverheadTicks and TimesOf change only
//     with timing, which sets them.
//   - environment: its rank is set for every call that needs it.
//   - err: is kept. A cursor that has failed cannot be moved.

// Seek moves to the call with an index on the thread, so that Next returns it. At or beyond
// Thread.Calls no call follows. The grammar is not expanded: earlier calls are counted rule by
// rule, and value streams are skipped.
func (c *Cursor) Seek(index uint64) bool {
	if c.err != nil {
		return false
	}
	if !c.measure() {
		return false
	}
	index = min(index, c.thread.Calls)
	c.releaseCalls()
	c.walk, c.before = c.shared.Grammar.Seek(c.thread.Root, index, c.lengths)
	c.startComms()
	if !c.seekComms(index) {
		return false
	}
	c.next = index
	return !c.timed || c.seekTime(index)
}

// measure computes the lengths of the grammar's rules, which are valid: the trace has been opened.
func (c *Cursor) measure() bool {
	if c.lengths == nil {
		c.lengths, c.err = c.shared.Grammar.Lengths()
	}
	return c.err == nil
}

// SeekTime moves to the first call that ends after a time, in nanoseconds of the node's
// CLOCK_MONOTONIC, so that Next returns it. If there is none, no call follows. It reads only
// timing: in a file, the block with the call and the one before it. It fails for a trace without
// the times of calls.
func (c *Cursor) SeekTime(ns int64) bool {
	if c.err != nil {
		return false
	}
	if !c.timed {
		return c.fail(errNoTimes)
	}
	if !c.measure() {
		return false
	}
	from, err := c.blockBefore(ns)
	if err != nil {
		return c.fail(err)
	}
	walk, _ := c.shared.Grammar.Seek(c.thread.Root, from, c.lengths)
	for c.startTime(from); c.next < c.thread.Calls; c.next++ {
		if terminal, ok := walk.Next(); !ok || !c.time(terminal) {
			return false
		}
		if c.event.Exit > ns {
			break
		}
	}
	return c.Seek(c.next)
}

// blockBefore returns a call at the start of a block of timing, such that all calls before it have
// ended by ns. It is the last such call or the last but one; 0 if there are no blocks, or they have
// no start times. A block has the end of the last call before it. If that call was nested in
// another one, the other one may end later: it is in the block before.
func (c *Cursor) blockBefore(ns int64) (uint64, error) {
	file, stored := c.source.(*Reader)
	if !stored || len(c.thread.Extrapolations) > 0 {
		return 0, nil
	}
	first, after := uint64(0), (c.thread.Calls+timing.BlockCalls-1)/timing.BlockCalls
	for first+1 < after {
		middle := (first + after) / 2
		_, start, _, size, err := file.timingBlock(c.number, middle*timing.BlockCalls)
		if err != nil {
			return 0, fmt.Errorf("trace: timing of rank %d thread %d from call %d: %w", c.thread.Rank, c.thread.Thread, middle*timing.BlockCalls, err)
		}
		file.budget.Give(size)
		if c.clock.Nanoseconds(c.thread.FirstTick+start) <= ns {
			first = middle
		} else {
			after = middle
		}
	}
	return (max(first, 1) - 1) * timing.BlockCalls, nil
}

var errNoTimes = errors.New("the trace has no times of calls")

// seekTime moves the timing to the call with an index. A block of a file has its start time.
func (c *Cursor) seekTime(index uint64) bool {
	from := uint64(0)
	if _, stored := c.source.(*Reader); stored {
		from = index - index%timing.BlockCalls
	}
	walk, _ := c.shared.Grammar.Seek(c.thread.Root, from, c.lengths)
	for c.startTime(from); c.next < index; c.next++ {
		terminal, ok := walk.Next()
		if !ok || !c.time(terminal) {
			return false
		}
	}
	return true
}

// startTime moves the timing to the first call of a block.
func (c *Cursor) startTime(from uint64) {
	c.releasePart()
	c.overheads = c.thread.Overheads
	if len(c.thread.Extrapolations) > 0 {
		c.extrapolating.restart(c.thread, c.source.memory())
	}
	c.next, c.until, c.ticks = from, from, c.thread.FirstTick
	c.off.Ticks = 0
}

// seekComms binds handles of communicators as the calls before index did.
func (c *Cursor) seekComms(index uint64) bool {
	relative := false
	var creating []int32
	for terminal, n := range c.before {
		if p := &c.plans[terminal]; n > 0 && p.creates {
			creating = append(creating, terminal)
			relative = relative || p.newComm >= 0 && dependsOnRank(c.shared.Signatures[terminal].Out[p.newComm])
		}
	}
	slices.Sort(creating)
	if !relative {
		return c.createLast(creating)
	}
	if c.ofAllThreads() != nil { // they bind the handles
		return c.createLast(slices.DeleteFunc(creating, func(t int32) bool { return c.plans[t].newComm >= 0 }))
	}
	return c.err == nil && c.createAll(creating, index)
}

// createLast binds the communicator that the last call with each handle created, for signatures
// whose handles do not depend on the caller's rank. Of these calls only the handle and the instance
// are used: the base of other values may have been bound again since.
func (c *Cursor) createLast(creating []int32) bool {
	type creation struct {
		at       uint64
		terminal int32
		handle   Value
		instance int
	}
	var last []creation
	for _, terminal := range creating {
		finder := grammar.NewFinder(c.shared.Grammar, c.lengths, func(t int32) bool { return t == terminal })
		p, calls := &c.plans[terminal], c.before[terminal]
		first := calls - 1
		if p.newComm >= 0 && c.shared.Signatures[terminal].Out[p.newComm].Form == Stream {
			first = 0 // each call may return another handle
		}
		c.event.Terminal, c.before[terminal] = terminal, first
		v, err := c.newVariableCall(p.function, &c.shared.Signatures[terminal])
		if err != nil {
			return c.fail(err)
		}
		c.calls.put(terminal, v, len(c.shared.Signatures))
		byHandle := map[int64]creation{}
		for k := first; k < calls; k++ {
			instance, handle, err := c.nextCreation(p, v)
			if err != nil {
				return c.fail(err)
			}
			if p.newComm < 0 || handle.Form == Handle {
				byHandle[handle.Int] = creation{k, terminal, handle, instance}
			}
		}
		for _, one := range byHandle {
			one.at, _ = finder.Nth(c.thread.Root, one.at)
			last = append(last, one)
		}
	}
	slices.SortFunc(last, func(a, b creation) int { return cmp.Compare(a.at, b.at) })
	for _, one := range last {
		if c.plans[one.terminal].newComm < 0 {
			c.world = c.bind(one.instance)
		} else {
			c.comms[one.handle.Int] = c.bind(one.instance)
		}
	}
	return true
}

// createAll repeats all creating calls before index, in order: their handles depend on the caller's
// rank in the communicators that they were called on.
func (c *Cursor) createAll(creating []int32, index uint64) bool {
	for _, terminal := range creating {
		delete(c.before, terminal)
	}
	finder := grammar.NewFinder(c.shared.Grammar, c.lengths, func(t int32) bool { return c.plans[t].creates })
	return finder.Each(c.thread.Root, 0, index, func(terminal int32, at uint64) bool {
		c.next = at
		return c.substitute(c.begin(terminal))
	})
}

// dependsOnRank reports whether a value of a signature depends, on one thread, on the caller's
// rank.
func dependsOnRank(v Value) bool {
	switch v.Form {
	case RankOffset:
		return true
	case Elastic:
		switch Operator(v.Int) {
		case Cases, Constant:
			return slices.ContainsFunc(v.List, dependsOnRank)
		}
		return true
	}
	return false
}

// nextCreation returns the communicator that the next call of v creates, and its handle if the call
// returns one.
func (c *Cursor) nextCreation(p *callPlan, v *variableCall) (instance int, handle Value, err error) {
	for i := range v.slots[:v.streams] {
		if err := v.slots[i].next(c.source.memory()); err != nil {
			return -1, handle, err
		}
	}
	if instance, err = c.instance(v); err == nil && p.newComm >= 0 {
		handle, err = c.environment.evaluate(v.out[p.newComm])
	}
	return instance, opaqueHandle.normalized(handle), err
}

// Symbolic ids of communicators are reused after MPI_Comm_free, so the communicator of a handle
// depends on the calls before: a creating call binds the handle that it returns to a communicator
// instance. Threads of one rank share the handles. Where several of them create communicators, the
// creations of all are ordered by time.

// A binding is a communicator instance (−1: unknown) and the caller's rank in it.
type binding struct {
	comm, ownRank int
}

// A creation is the binding of a handle at some time.
type creation struct {
	exit int64 // ticks; the smallest int64 if the trace has no timing
	binding
}

// created binds the communicator that the current call created to its handle. A call that returns
// no handle (MPI_Init) creates MPI_COMM_WORLD.
func (c *Cursor) created(p *callPlan, e *Event) {
	b := c.bind(e.NewComm)
	if p.newComm < 0 {
		c.world = b
		return
	}
	if v := &e.Out[p.newComm]; v.Form == Handle {
		c.comms[v.Int] = b
	}
}

// bind returns the binding of a communicator instance.
func (c *Cursor) bind(comm int) binding {
	instance := &c.shared.Communicators[comm]
	rank := instance.Members.Index(c.thread.Rank)
	if rank < 0 {
		rank = instance.Remote.Index(c.thread.Rank)
	}
	return binding{comm, rank}
}

// bound returns the binding of a handle at the current call.
func (c *Cursor) bound(handle int64) binding {
	own, known := c.comms[handle]
	if c.ofAllThreads() == nil {
		if !known {
			return binding{-1, -1}
		}
		return own
	}
	made := c.creations.byHandle[handle]
	if len(made) == 0 {
		return binding{-1, -1}
	}
	// the last creation before the call, else the first after it
	later, _ := slices.BinarySearchFunc(made, c.event.EnterTicks, func(m creation, enter int64) int {
		if m.exit <= enter {
			return -1
		}
		return 1
	})
	return made[max(later-1, 0)].binding
}

// A rankCreations has the creations of communicators by all threads of a rank. Its cursors share
// it, since finding them takes the calls of all these threads.
type rankCreations struct {
	once     sync.Once
	byHandle map[int64][]creation // in order
	err      error

	listing sync.Once
	threads []int // those that create communicators
}

// ofAllThreads returns the creations on the rank if threads other than c's create communicators. If
// they cannot all be found it sets c.err.
func (c *Cursor) ofAllThreads() *rankCreations {
	if c.lone {
		return c.creations
	}
	c.lone = true
	threads := c.creators()
	if !slices.ContainsFunc(threads, c.isSibling) {
		return nil
	}
	c.creations = c.source.creations(c.thread.Rank)
	c.creations.once.Do(func() { c.creations.byHandle, c.creations.err = c.creationsBy(threads) })
	if c.creations.err != nil {
		c.err = c.creations.err
	}
	return c.creations
}

// creationsBy finds what some threads of the rank create.
func (c *Cursor) creationsBy(threads []int) (map[int64][]creation, error) {
	all := map[int64][]creation{}
	for _, i := range threads {
		cursor := newCursor(c.shared, c.plans, i, c.source.sibling(i))
		cursor.lone = true // it has no siblings to look for
		for cursor.Next() {
			e := &cursor.event
			if p := &c.plans[e.Terminal]; e.NewComm >= 0 && p.newComm >= 0 {
				exit := e.ExitTicks
				if !cursor.timed {
					exit = math.MinInt64
				}
				if v := &e.Out[p.newComm]; v.Form == Handle {
					all[v.Int] = append(all[v.Int], creation{exit, c.bind(e.NewComm)})
				}
			}
		}
		if cursor.err != nil {
			return nil, cursor.err
		}
	}
	for _, made := range all {
		slices.SortStableFunc(made, func(a, b creation) int { return cmp.Compare(a.exit, b.exit) })
	}
	return all, nil
}

// creators lists the threads of the rank that create communicators. Of a rank with several threads
// they are found once, and not by each thread again.
func (c *Cursor) creators() []int {
	first := c.shared.firstThread(c.thread.Rank)
	if next := first + 1; next == c.shared.Threads.Len() || c.shared.Threads.At(next).Rank != c.thread.Rank {
		return c.creatorsFrom(first)
	}
	r := c.source.creations(c.thread.Rank)
	r.listing.Do(func() { r.threads = c.creatorsFrom(first) })
	return r.threads
}

// creatorsFrom lists those from a row on.
func (c *Cursor) creatorsFrom(row int) (threads []int) {
	at := c.shared.Threads.Lookup()
	for i := row; i < c.shared.Threads.Len(); i++ {
		t := at(i)
		if t.Rank != c.thread.Rank {
			break
		}
		if c.creates(&t) {
			threads = append(threads, i)
		}
	}
	return threads
}

// isSibling reports whether Threads()[thread] is another thread than c's.
func (c *Cursor) isSibling(thread int) bool { return thread != c.number }

// creates reports whether a thread has streams of communicators, that is, creating calls.
func (c *Cursor) creates(t *Thread) bool {
	return slices.ContainsFunc(t.Streams, func(ref StreamRef) bool {
		s := &c.shared.Signatures[ref.Terminal]
		return s.Communicator.Form == Stream && s.Communicator.Int == int64(ref.Number)
	})
}
