package trace

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// seekComms binds handles of communicators as the calls before an index did.
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
	if c.ofAllThreads() != nil { // which say what handles stand for
		return c.createLast(slices.DeleteFunc(creating, func(t int32) bool { return c.plans[t].newComm >= 0 }))
	}
	return c.err == nil && c.createAll(creating, index)
}

// createLast binds what the last call with each handle has made, for signatures whose handles do not depend on the
// caller's rank. Of these calls only handle and instance count: what other values are relative to may have been bound
// anew since.
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
			first = 0 // each call may have another handle
		}
		c.event.Terminal, c.before[terminal] = terminal, first
		v, err := c.newVariableCall(p.function, &c.shared.Signatures[terminal])
		if err != nil {
			return c.fail(err)
		}
		c.calls.put(terminal, v, len(c.shared.Signatures))
		byHandle := map[int64]creation{}
		for k := first; k < calls; k++ {
			instance, handle, err := c.birth(p, v)
			if err != nil {
				return c.fail(err)
			}
			if p.newComm < 0 || handle.Form == Handle || handle.Form == Int {
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

// createAll makes all creating calls before an index again, in order: their handles depend on the caller's rank in the
// communicators that they were called on.
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

// dependsOnRank reports whether a value of a signature, on one thread, depends on the caller's rank.
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

// birth is the communicator that the next call of v makes, and its handle if the call returns one.
func (c *Cursor) birth(p *callPlan, v *variableCall) (instance int, handle Value, err error) {
	for i := range v.slots[:v.streams] {
		if err := v.slots[i].next(c.source.memory()); err != nil {
			return -1, handle, err
		}
	}
	if instance, err = c.instance(v); err == nil && p.newComm >= 0 {
		handle, err = c.place.evaluate(v.out[p.newComm])
	}
	return instance, handle, err
}
