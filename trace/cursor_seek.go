package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Seek goes to the call with an index on the thread, so that Next gives it; at or beyond Thread.Calls nothing follows.
// The grammar is not expanded: what comes before is counted rule by rule, and value streams are passed over.
func (c *Cursor) Seek(index uint64) bool {
	if c.err != nil {
		return false
	}
	if !c.measure() {
		return false
	}
	index = min(index, c.thread.Calls)
	c.walk, c.before = c.shared.Grammar.seek(c.thread.Root, index, c.lengths)
	c.calls = variableCalls{}
	c.startComms()
	c.behind.forget(c.source.memory())
	c.current, c.back = false, false
	if !c.seekComms(index) {
		return false
	}
	c.next = index
	return !c.timed || c.seekTime(index)
}

// measure finds the lengths of the grammar's rules, which are valid, or the trace would not have been opened.
func (c *Cursor) measure() bool {
	if c.lengths == nil {
		c.lengths, c.err = c.shared.Grammar.Lengths()
	}
	return c.err == nil
}

// seekComms binds handles of communicators as the calls before an index did: the last call of each creating signature
// is made again, in order.
func (c *Cursor) seekComms(index uint64) bool {
	type creating struct {
		terminal int32
		at       uint64
	}
	var last []creating
	for terminal, n := range c.before {
		if n == 0 || !c.plans[terminal].creates {
			continue
		}
		f := finder{c.shared.Grammar.Rules, c.lengths, terminal, map[int]bool{}}
		if at, ok := f.last(c.thread.Root, index); ok {
			last = append(last, creating{terminal, at})
		}
	}
	slices.SortFunc(last, func(a, b creating) int { return cmp.Compare(a.at, b.at) })
	for _, l := range last {
		c.before[l.terminal]--
		c.next = l.at
		if err := c.create(l.terminal); err != nil {
			return c.fail(err)
		}
	}
	return true
}

// create binds the communicator that the next call of a signature makes. Of the call's values only the handle counts:
// on the others' account, communicators would have to be known that may have been bound anew since.
func (c *Cursor) create(terminal int32) error {
	p := &c.plans[terminal]
	c.event.Terminal = terminal
	v, err := c.newVariableCall(p.function, &c.shared.Signatures[terminal])
	if err != nil {
		return err
	}
	c.calls.put(terminal, v, len(c.shared.Signatures))
	instance, handle, err := c.birth(p, v)
	if err != nil {
		return err
	}
	switch {
	case p.newComm < 0:
		c.world = c.bind(instance)
	case handle.Form == Handle || handle.Form == Int:
		c.comms[handle.Int] = c.bind(instance)
	}
	return nil
}

// birth is the communicator that the next call of v makes, and its handle if the call returns one.
func (c *Cursor) birth(p *callPlan, v *variableCall) (instance int, handle Value, err error) {
	for i := range v.slots {
		if s := &v.slots[i]; s.stream != nil {
			if err := s.next(c.source.memory()); err != nil {
				return -1, handle, err
			}
		}
	}
	if instance, err = c.instance(v); err == nil && p.newComm >= 0 {
		handle, err = c.place.evaluate(v.out[p.newComm])
	}
	return instance, handle, err
}

// skip passes over the values of n calls.
func (v *variableCall) skip(n uint64) error {
	takes := map[*valueStream][]filling{}
	var streams []*valueStream
	take := func(s *valueStream, fill filling) {
		if s == nil {
			return
		}
		if takes[s] == nil {
			streams = append(streams, s)
		}
		takes[s] = append(takes[s], fill)
	}
	for i := range v.slots {
		take(v.slots[i].stream, v.slots[i].fill)
	}
	take(v.created, fillInt)
	for _, s := range streams {
		if !skipCalls(s, takes[s], n) {
			return s.err()
		}
	}
	return nil
}

// skipCalls passes over what n calls take from a stream, each as the fillings say.
func skipCalls(s *valueStream, fills []filling, n uint64) bool {
	single := func(f filling) bool { return f == fillInt || f == fillFloat }
	if !slices.ContainsFunc(fills, func(f filling) bool { return !single(f) }) {
		for range fills {
			if !s.skip(n) {
				return false
			}
		}
		return true
	}
	for range n {
		for _, f := range fills {
			x, ok := s.next()
			if !ok || !single(f) && x > 0 && !s.skip(uint64(x)) {
				return false
			}
		}
	}
	return true
}

// SeekTime goes to the first call that ends after a time, in nanoseconds of the node's CLOCK_MONOTONIC, so that Next
// gives it; if there is none nothing follows. Of what comes before only timing is read, of a file that of the block
// with the call. It fails for a trace without the times of calls.
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
	walk, _ := c.shared.Grammar.seek(c.thread.Root, from, c.lengths)
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

// blockBefore is the last call before which all have ended by a time and with which a block of timing begins, 0 where
// there are no blocks, or these do not say when they begin.
func (c *Cursor) blockBefore(ns int64) (uint64, error) {
	file, stored := c.source.(*Reader)
	if !stored || len(c.thread.StandIns) > 0 {
		return 0, nil
	}
	first, after := uint64(0), (c.thread.Calls+TimingBlockCalls-1)/TimingBlockCalls
	for first+1 < after {
		middle := (first + after) / 2
		start, _, size, err := file.timingBlock(c.number, middle*TimingBlockCalls)
		if err != nil {
			return 0, fmt.Errorf("trace: timing of rank %d thread %d from call %d: %w", c.thread.Rank, c.thread.Thread, middle*TimingBlockCalls, err)
		}
		file.budget.give(size)
		if c.clock.nanoseconds(c.thread.FirstTick+start) <= ns {
			first = middle
		} else {
			after = middle
		}
	}
	return first * TimingBlockCalls, nil
}

var errNoTimes = errors.New("the trace has no times of calls")

// seekTime goes to the timing of the call with an index. A block of a file says when it begins.
func (c *Cursor) seekTime(index uint64) bool {
	from := uint64(0)
	if _, stored := c.source.(*Reader); stored {
		from = index - index%TimingBlockCalls
	}
	walk, _ := c.shared.Grammar.seek(c.thread.Root, from, c.lengths)
	for c.startTime(from); c.next < index; c.next++ {
		terminal, ok := walk.Next()
		if !ok || !c.time(terminal) {
			return false
		}
	}
	return true
}

// startTime goes to the timing of a call with which a block begins.
func (c *Cursor) startTime(from uint64) {
	c.leavePart()
	c.holds = c.thread.Holds
	if len(c.thread.StandIns) > 0 {
		c.standing.restart(c.thread, c.source.memory())
	}
	c.next, c.until, c.ticks = from, from, c.thread.FirstTick
}
