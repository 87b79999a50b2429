package trace

import (
	"cmp"
	"math"
	"slices"
)

// Symbolic ids of communicators are used again after MPI_Comm_free, so what a handle stands for depends on the calls
// before: a creating call binds the handle that it returned to a communicator instance. Threads of one rank share the
// handles; where several of them create communicators, the creations of all are put in order by their time.

// A binding is a communicator instance (−1: unknown) and the caller's rank in it.
type binding struct {
	comm, ownRank int
}

// A creation is the moment when a handle was bound.
type creation struct {
	handle int64
	exit   int64 // ticks; the least number when the trace has no timing
	binding
}

// created binds the communicator that the current call made to its handle; a call that returns no handle (MPI_Init)
// makes MPI_COMM_WORLD.
func (c *Cursor) created(p *callPlan, e *Event) {
	b := c.bind(e.NewComm)
	if p.newComm < 0 {
		c.world = b
		return
	}
	if v := &e.Out[p.newComm]; v.Form == Handle || v.Form == Int {
		c.comms[v.Int] = b
	}
}

// bind finds the caller's rank in a communicator instance.
func (c *Cursor) bind(comm int) binding {
	instance := &c.shared.Communicators[comm]
	rank := instance.Members.Index(c.thread.Rank)
	if rank < 0 {
		rank = instance.Remote.Index(c.thread.Rank)
	}
	return binding{comm, rank}
}

// bound is what a handle stands for at the current call.
func (c *Cursor) bound(handle int64) binding {
	own, known := c.comms[handle]
	if c.ofAllThreads() == nil {
		if !known {
			return binding{-1, -1}
		}
		return own
	}
	// the last creation before the call, else the first after it
	best := binding{-1, -1}
	for _, made := range c.creations {
		if made.handle == handle && (best.comm < 0 || made.exit <= c.event.EnterTicks) {
			best = made.binding
		}
	}
	return best
}

// ofAllThreads is siblingCreations, looked for once.
func (c *Cursor) ofAllThreads() []creation {
	if !c.lone {
		c.lone = true
		c.creations = c.siblingCreations()
	}
	return c.creations
}

// siblingCreations lists all creations of communicators on the rank, in order, if other threads than c's create some.
// If they cannot all be found it is empty, not nil, and c has failed.
func (c *Cursor) siblingCreations() []creation {
	var threads []int
	siblings := false
	first := c.shared.firstThread(c.thread.Rank)
	for i := first; i < c.shared.Threads.Len(); i++ {
		t := c.shared.Threads.At(i)
		if t.Rank != c.thread.Rank {
			break
		}
		if c.creates(&t) {
			threads = append(threads, i)
			siblings = siblings || i != c.number
		}
	}
	if !siblings {
		return nil
	}
	var all []creation
	for _, i := range threads {
		source, timed := c.source.beside(i)
		cursor := newCursor(c.shared, c.plans, i, source, c.timed && timed)
		cursor.lone = true // no siblings of its own
		for cursor.Next() {
			e := &cursor.event
			if p := &c.plans[e.Terminal]; e.NewComm >= 0 && p.newComm >= 0 {
				exit := e.ExitTicks
				if !cursor.timed {
					exit = math.MinInt64
				}
				if v := &e.Out[p.newComm]; v.Form == Handle || v.Form == Int {
					all = append(all, creation{v.Int, exit, c.bind(e.NewComm)})
				}
			}
		}
		if cursor.err != nil {
			c.err = cursor.err
			return []creation{}
		}
	}
	slices.SortStableFunc(all, func(a, b creation) int { return cmp.Compare(a.exit, b.exit) })
	return all
}

// creates tells whether a thread has streams of communicators, that is, creating calls.
func (c *Cursor) creates(t *Thread) bool {
	return slices.ContainsFunc(t.Streams, func(ref StreamRef) bool {
		s := &c.shared.Signatures[ref.Terminal]
		return s.Communicator.Form == Stream && s.Communicator.Int == int64(ref.Number)
	})
}
