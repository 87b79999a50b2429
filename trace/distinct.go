package trace

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// DistinctCalls gives the calls of threads without their order, those with equal values once with their number: it is
// computed on the grammar, so that a call that comes a million times is looked at once.
type DistinctCalls struct {
	file    *Reader
	lengths []uint64
	counts  map[int][]grammar.Occurrences // by root: many threads share one
	parts   map[partOfRoot]*partCounts
}

// A partOfRoot is some calls of what a root expands to.
type partOfRoot struct {
	root     int
	from, to uint64
}

// partCounts says how often each signature comes before a part and in it.
type partCounts struct{ before, inside map[int32]uint64 }

// DistinctCalls is for all threads of the trace.
func (t *Reader) DistinctCalls() (*DistinctCalls, error) {
	lengths, err := t.shared.Grammar.Lengths()
	if err != nil {
		return nil, err
	}
	return &DistinctCalls{t, lengths, map[int][]grammar.Occurrences{}, map[partOfRoot]*partCounts{}}, nil
}

// ThreadCalls are the distinct calls of a part of a thread.
type ThreadCalls struct {
	cursor   *Cursor // whose communicators are bound, and which is not moved
	again    func() *Cursor
	counts   []grammar.Occurrences
	from, to uint64
	part     *partCounts // nil: all calls
	ordered  bool
}

// Thread gives those of Threads()[thread], from the call with one index on to the one before another.
func (d *DistinctCalls) Thread(thread int, from, to uint64) (*ThreadCalls, error) {
	t := d.file
	root := int(t.shared.Threads.root.At(thread))
	if d.counts[root] == nil {
		d.counts[root] = t.shared.Grammar.Counts(root)
	}
	again := func() *Cursor { return newCursor(&t.shared, t.plans, thread, t, false) }
	c := &ThreadCalls{cursor: again(), again: again, counts: d.counts[root], from: from, to: to}
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

// Ordered reports whether one handle stood for several communicators: then the communicator of a call is known from those
// before it only, and InOrder has it.
func (c *ThreadCalls) Ordered() bool { return c.ordered }

// bind makes all handles of communicators known; ambiguous says that one stood for several.
func (c *ThreadCalls) bind() (ambiguous bool, err error) {
	at := c.cursor
	at.lone = true
	if at.siblingCreations() != nil {
		return true, nil
	}
	first := map[int64]int{}
	for _, o := range c.counts {
		p := &at.plans[o.Terminal]
		if !p.creates {
			continue
		}
		at.event.Terminal = o.Terminal
		v, err := at.newVariableCall(p.function, &at.shared.Signatures[o.Terminal])
		if err != nil {
			return false, err
		}
		for range o.Count {
			instance, handle, err := at.birth(p, v)
			if err != nil {
				return false, err
			}
			if p.newComm < 0 || handle.Form != Handle && handle.Form != Int {
				continue
			}
			if had, known := first[handle.Int]; known && had != instance {
				return true, nil
			}
			first[handle.Int] = instance
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
		if v.hasStreams() {
			return true, nil
		}
	}
	return false, nil
}

// All calls visit with the calls of functions that are wanted, and how many there are; of a signature of which there are
// none in the part, wanted is asked with n = 0. Where values differ from call to call there is one event for each. Of an
// event only Rank, Thread, Terminal, Function, Semantics, Comm, OwnRank, In and Out are set; it is valid until visit
// returns.
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

// signature gives the calls with one signature.
func (c *ThreadCalls) signature(o grammar.Occurrences, visit func(e *Event, n uint64)) error {
	at := c.cursor
	p, signature := &at.plans[o.Terminal], &at.shared.Signatures[o.Terminal]
	e := &at.event
	e.Terminal, e.Function, e.Semantics, e.Comm, e.OwnRank = o.Terminal, p.function, p.semantics, -1, -1
	e.In, e.Out = signature.In, signature.Out
	if p.comm >= 0 {
		b := at.communicator(&signature.In[p.comm], at.ownRank(signature))
		e.Comm, e.OwnRank = b.comm, b.ownRank
	}
	if !p.variable {
		visit(e, o.Count)
		return nil
	}
	v, err := at.newVariableCall(p.function, signature)
	if err != nil {
		return err
	}
	e.In, e.Out = v.in, v.out
	varies := v.hasStreams()
	if err := v.resolve(at.environmentOf(p, e.OwnRank)); err != nil {
		return err
	}
	times, each := uint64(1), o.Count
	if varies && o.Count > 0 {
		times, each = o.Count, 1
	}
	for range times {
		for i := range v.slots {
			if v.slots[i].stream != nil {
				if err := v.slots[i].next(at.source.memory()); err != nil {
					return err
				}
			}
		}
		if varies {
			if err := v.resolve(at.environmentOf(p, e.OwnRank)); err != nil {
				return err
			}
		}
		visit(e, each)
	}
	return nil
}

// InOrder calls visit with every call of the thread from its beginning up to the end of the part, in order and without times;
// inside says whether it is in the part.
func (c *ThreadCalls) InOrder(visit func(e *Event, inside bool)) error {
	for at := c.again(); ; {
		if !at.Next() {
			return at.Err()
		}
		e := at.Event()
		if e.Index >= c.to {
			return nil
		}
		visit(e, e.Index >= c.from)
	}
}

// hasStreams reports whether values differ from call to call.
func (v *variableCall) hasStreams() bool {
	return slices.ContainsFunc(v.slots, func(x slot) bool { return x.stream != nil })
}

// A Count says how often a rank (all its threads) called a function.
type Count struct {
	Rank     int
	Function uint16
	Calls    uint64
}

// Counts are the calls per rank and function, computed on the grammar; sorted by rank, then function.
func (t *Reader) Counts() ([]Count, error) { return t.shared.Counts() }

// Counts are the calls per rank and function, computed on the grammar; sorted by rank, then function.
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
