package trace

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// DistinctCalls yields the calls of threads without their order: calls with equal values once, with
// their number. It works on the grammar, so that a call that is repeated a million times is decoded
// once.
type DistinctCalls struct {
	file    *Reader
	lengths []uint64
	counts  map[int][]grammar.Occurrences // by root: many threads share one
	parts   map[partOfRoot]*partCounts
}

// A partOfRoot is a range of the expansion of a root.
type partOfRoot struct {
	root     int
	from, to uint64
}

// partCounts is the number of calls of each signature before a part and in it.
type partCounts struct{ before, inside map[int32]uint64 }

// DistinctCalls returns the distinct calls of all threads of the trace.
func (t *Reader) DistinctCalls() (*DistinctCalls, error) {
	lengths, err := t.shared.Grammar.Lengths()
	if err != nil {
		return nil, err
	}
	return &DistinctCalls{t, lengths, map[int][]grammar.Occurrences{}, map[partOfRoot]*partCounts{}}, nil
}

// ThreadCalls are the distinct calls of a part of a thread.
type ThreadCalls struct {
	cursor   *Cursor // its communicators are bound; it is never moved
	counts   []grammar.Occurrences
	from, to uint64
	part     *partCounts // nil: all calls
	ordered  bool
}

// Thread returns the distinct calls of Threads()[thread] with indices from ≤ i < to.
func (d *DistinctCalls) Thread(thread int, from, to uint64) (*ThreadCalls, error) {
	t := d.file
	root := int(t.shared.Threads.root.At(thread))
	if d.counts[root] == nil {
		d.counts[root] = t.shared.Grammar.Counts(root)
	}
	c := &ThreadCalls{cursor: newCursor(&t.shared, t.plans, thread, t), counts: d.counts[root], from: from, to: to}
	if from > 0 || to < uint64(t.shared.Threads.calls.At(thread)) {
		at := partOfRoot{root, from, to}
		if d.parts[at] == nil {
			g := t.shared.Grammar
			d.parts[at] = &partCounts{g.CountsOf(g.Between(root, 0, from, d.lengths)), g.CountsOf(g.Between(root, from, to, d.lengths))}
		}
		c.part = d.parts[at]
	}
	var err error
	c.ordered, err = c.bind()
	return c, err
}

// Ordered reports whether one handle was bound to several communicators. Then the communicator of a
// call is only known from the calls before it: use InOrder.
func (c *ThreadCalls) Ordered() bool { return c.ordered }

// bind binds all handles of communicators; ambiguous reports that one was bound to several, or may
// have been.
func (c *ThreadCalls) bind() (ambiguous bool, err error) {
	at := c.cursor
	at.lone = true
	if slices.ContainsFunc(at.creators(), at.isSibling) {
		return true, nil
	}
	first := map[int64]int{}
	for _, o := range c.counts {
		if !at.plans[o.Terminal].creates {
			continue
		}
		if ambiguous, err := c.bindCreated(o, first); ambiguous || err != nil {
			return ambiguous, err
		}
	}
	return false, nil
}

// bindCreated binds the handles that calls with one signature return; first has the communicator of
// each handle.
func (c *ThreadCalls) bindCreated(o grammar.Occurrences, first map[int64]int) (ambiguous bool, err error) {
	at := c.cursor
	p, signature := &at.plans[o.Terminal], &at.shared.Signatures[o.Terminal]
	if p.newComm >= 0 && dependsOnRank(signature.Out[p.newComm]) {
		return true, nil
	}
	at.event.Terminal = o.Terminal
	v, err := at.newVariableCall(p.function, signature)
	if err != nil {
		return false, err
	}
	defer v.release(at.source.memory())
	for range o.Count {
		instance, handle, err := at.nextCreation(p, v)
		if err != nil {
			return false, err
		}
		switch {
		case p.newComm < 0: // MPI_COMM_WORLD
			handle.Int = -1
		case handle.Form != Handle:
			continue
		}
		if had, known := first[handle.Int]; known && had != instance {
			return true, nil
		}
		first[handle.Int] = instance
		if p.newComm < 0 {
			at.world = at.bind(instance)
		} else {
			at.comms[handle.Int] = at.bind(instance)
		}
	}
	return false, nil
}

// Vary reports whether values of a signature of some functions differ from call to call.
func (c *ThreadCalls) Vary(of func(f *semantics.Function) bool) (bool, error) {
	at := c.cursor
	for _, o := range c.counts {
		p := &at.plans[o.Terminal]
		if !p.variable || !of(p.semantics) {
			continue
		}
		at.event.Terminal = o.Terminal
		v, err := at.newVariableCall(p.function, &at.shared.Signatures[o.Terminal])
		if err != nil {
			return false, err
		}
		v.release(at.source.memory())
		if v.streams > 0 {
			return true, nil
		}
	}
	return false, nil
}

// All calls visit with the calls of the wanted functions and their numbers. wanted is called with
// n = 0 for signatures without calls in the part. Where values differ from call to call there is
// one event per call, and none for n = 0. Only Rank, Thread, Terminal, Function, Semantics, Comm,
// OwnRank, In and Out of an event are set. It is valid until visit returns.
func (c *ThreadCalls) All(wanted func(f *semantics.Function, n uint64) bool, visit func(e *Event, n uint64)) error {
	at := c.cursor
	if c.part != nil {
		at.before = c.part.before
	}
	for _, o := range c.counts {
		if c.part != nil {
			o.Count = c.part.inside[o.Terminal]
		}
		if wanted(at.plans[o.Terminal].semantics, o.Count) {
			if err := c.signature(o, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// signature visits the calls with one signature.
func (c *ThreadCalls) signature(o grammar.Occurrences, visit func(e *Event, n uint64)) error {
	at := c.cursor
	p, signature := &at.plans[o.Terminal], &at.shared.Signatures[o.Terminal]
	e := &at.event
	e.Terminal, e.Function, e.Semantics, e.Comm, e.OwnRank = o.Terminal, p.function, p.semantics, -1, -1
	v := &variableCall{in: signature.In, out: signature.Out}
	if p.variable {
		var err error
		if v, err = at.newVariableCall(p.function, signature); err != nil {
			return err
		}
		defer v.release(at.source.memory())
	}
	e.In, e.Out = v.in, v.out
	times, each := uint64(1), o.Count
	if v.streams > 0 {
		times, each = o.Count, 1
	}
	for range times {
		for i := range v.streams {
			if err := v.slots[i].next(at.source.memory()); err != nil {
				return err
			}
		}
		if p.comm >= 0 {
			b := at.communicator(&v.in[p.comm], at.ownRank(signature))
			e.Comm, e.OwnRank = b.comm, b.ownRank
		}
		if err := v.resolve(at.environmentOf(p, e.OwnRank)); err != nil {
			return err
		}
		visit(e, each)
	}
	return nil
}

// InOrder calls visit with every call of the thread from its beginning to the end of the part, in
// order; inside reports whether the call is in the part.
func (c *ThreadCalls) InOrder(visit func(e *Event, inside bool)) error {
	for at := newCursor(c.cursor.shared, c.cursor.plans, c.cursor.number, c.cursor.source); ; {
		if !at.Next() {
			return at.Err()
		}
		e := at.Event()
		if e.Index >= c.to {
			at.release()
			return nil
		}
		visit(e, e.Index >= c.from)
	}
}

// A Count is the number of calls of a function by a rank (all its threads).
type Count struct {
	Rank     int
	Function uint16
	Calls    uint64
}

// Counts returns the calls per rank and function, counted on the grammar; sorted by rank, then
// function.
func (t *Reader) Counts() ([]Count, error) { return t.shared.Counts() }

// Counts returns the calls per rank and function, counted on the grammar; sorted by rank, then
// function.
func (c *Content) Counts() ([]Count, error) {
	if err := c.Grammar.Validate(); err != nil {
		return nil, err
	}
	byRoot := map[int]map[uint16]uint64{} // many threads share a root
	var counts []Count
	ranks, roots := c.Threads.rank.Lookup(), c.Threads.root.Lookup()
	for i := 0; i < c.Threads.Len(); {
		rank := int(ranks(i))
		calls := map[uint16]uint64{}
		for ; i < c.Threads.Len() && int(ranks(i)) == rank; i++ {
			root := int(roots(i))
			if byRoot[root] == nil {
				byRoot[root] = c.functionCounts(root)
			}
			for function, n := range byRoot[root] {
				calls[function] += n
			}
		}
		first := len(counts)
		for function, n := range calls {
			counts = append(counts, Count{rank, function, n})
		}
		slices.SortFunc(counts[first:], func(a, b Count) int { return cmp.Compare(a.Function, b.Function) })
	}
	return counts, nil
}

// functionCounts counts the calls of a root by function.
func (c *Content) functionCounts(root int) map[uint16]uint64 {
	calls := map[uint16]uint64{}
	for _, o := range c.Grammar.Counts(root) {
		calls[c.Signatures[o.Terminal].Function] += o.Count
	}
	return calls
}
