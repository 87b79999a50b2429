package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// Traffic is all that one rank sent to another on one communicator by point-to-point calls.
type Traffic struct {
	Comm         int // index into Communicators, −1: unknown
	Source, Dest int // ranks in MPI_COMM_WORLD; −1 where the communicator, or a member's rank in this world, is not known
	Messages     uint64
	Bytes        uint64 // of those messages whose datatype is predefined
	Unsized      uint64 // messages of derived datatypes
}

// Matrix is the communication matrix: who sent how much to whom, of sends of all kinds, persistent ones as often as they
// were started; MPI_PROC_NULL left out. Sorted by communicator, source and destination. It is computed on the grammar:
// a call that comes a million times is looked at once, unless its destination or size varies, whose values are then gone
// through. Only a thread on which one handle stood for several communicators, or a persistent request for messages of
// several sizes, is decoded call by call.
func (t *Reader) Matrix() ([]Traffic, error) {
	return t.MatrixBetween(func(int) (uint64, uint64) { return 0, math.MaxUint64 })
}

// MatrixBetween is the Matrix of some calls of each thread: of Threads()[i] those from the first index on to the one
// before the second. Persistent requests count where they are started.
func (t *Reader) MatrixBetween(calls func(thread int) (from, to uint64)) ([]Traffic, error) {
	sum := traffic{}
	byRoot := map[int][]grammar.Occurrences{}
	lengths, err := t.shared.Grammar.Lengths()
	if err != nil {
		return nil, err
	}
	type window struct {
		root     int
		from, to uint64
	}
	before, inside := map[window]map[int32]uint64{}, map[window]map[int32]uint64{}
	for i, number := range t.shared.Threads.root.All() {
		root := int(number)
		if byRoot[root] == nil {
			byRoot[root] = t.shared.Grammar.Counts(root)
		}
		s := sends{cursor: newCursor(&t.shared, t.plans, i, t, false), counts: byRoot[root], sum: sum, started: map[int64]*persistent{}}
		s.from, s.to = calls(i)
		if s.from > 0 || s.to < uint64(t.shared.Threads.calls.At(i)) {
			w := window{root, s.from, s.to}
			if inside[w] == nil {
				g := t.shared.Grammar
				before[w], inside[w] = g.CountsOf(g.Between(root, 0, w.from, lengths)), g.CountsOf(g.Between(root, w.from, w.to, lengths))
			}
			s.before, s.inside = before[w], inside[w]
		}
		ambiguous, err := s.bind()
		if err == nil && !ambiguous {
			ambiguous, err = s.persistentVary()
		}
		switch {
		case err != nil:
			return nil, err
		case ambiguous:
			s.cursor = newCursor(&t.shared, t.plans, i, t, false)
			err = s.decode()
		default:
			err = s.count()
		}
		if err != nil {
			return nil, err
		}
		s.startAll()
	}
	return sum.list(), nil
}

// traffic adds up what goes from rank to rank.
type traffic map[[3]int]*Traffic

func (t traffic) add(comm, source, dest int, messages, bytes, unsized uint64) {
	key := [3]int{comm, source, dest}
	if t[key] == nil {
		t[key] = &Traffic{Comm: comm, Source: source, Dest: dest}
	}
	t[key].Messages += messages
	t[key].Bytes += bytes
	t[key].Unsized += unsized
}

func (t traffic) list() []Traffic {
	list := make([]Traffic, 0, len(t))
	for _, one := range t {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Traffic) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest))
	})
	return list
}

// sends goes through the sends of a thread.
type sends struct {
	cursor  *Cursor
	counts  []grammar.Occurrences
	sum     traffic
	started map[int64]*persistent // by request id
	ordered bool                  // calls come in their order

	// where only a part of the calls counts: from and to, and how often signatures come before and in it
	from, to       uint64
	before, inside map[int32]uint64
}

// A persistent request is sent as often as it is started.
type persistent struct {
	known              bool
	comm, source, dest int
	bytes              uint64
	unsized            bool
	starts             uint64
}

// bind makes all handles of communicators known; ambiguous tells that one stood for several.
func (s *sends) bind() (ambiguous bool, err error) {
	c := s.cursor
	c.lone = true
	if c.siblingCreations() != nil {
		return true, nil
	}
	var first = map[int64]int{}
	for _, o := range s.counts {
		p := &c.plans[o.Terminal]
		if !p.creates {
			continue
		}
		c.event.Terminal = o.Terminal
		v, err := c.newVariableCall(p.function, &c.shared.Signatures[o.Terminal])
		if err != nil {
			return false, err
		}
		for range o.Count {
			instance, handle, err := c.birth(p, v)
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
			c.comms[handle.Int] = c.bind(instance)
		}
	}
	return false, nil
}

// persistentVary tells whether a signature that creates persistent sends does not say all about them: which of them a
// request stands for is then a matter of the calls' order.
func (s *sends) persistentVary() (bool, error) {
	c := s.cursor
	for _, o := range s.counts {
		p := &c.plans[o.Terminal]
		if means := p.semantics; !sendsData(means) || !p.variable || !means.IsPersistent() {
			continue
		}
		c.event.Terminal = o.Terminal
		v, err := c.newVariableCall(p.function, &c.shared.Signatures[o.Terminal])
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(v.slots, func(x slot) bool { return x.stream != nil }) {
			return true, nil
		}
	}
	return false, nil
}

// count takes every signature as often as it comes.
func (s *sends) count() error {
	c := s.cursor
	c.before = s.before
	for _, o := range s.counts {
		p, signature := &c.plans[o.Terminal], &c.shared.Signatures[o.Terminal]
		means := p.semantics
		if !sendsData(means) && means.Operation != semantics.Start {
			continue
		}
		if s.inside != nil {
			if o.Count = s.inside[o.Terminal]; o.Count == 0 && !means.IsPersistent() {
				continue
			}
		}
		e := &c.event
		e.Terminal, e.Function, e.Semantics, e.Comm, e.OwnRank = o.Terminal, p.function, p.semantics, -1, -1
		e.In, e.Out = signature.In, signature.Out
		if p.comm >= 0 {
			b := c.communicator(&signature.In[p.comm], c.ownRank(signature))
			e.Comm, e.OwnRank = b.comm, b.ownRank
		}
		if !p.variable {
			s.call(e, o.Count)
			continue
		}
		v, err := c.newVariableCall(p.function, signature)
		if err != nil {
			return err
		}
		e.In, e.Out = v.in, v.out
		varies := slices.ContainsFunc(v.slots, func(x slot) bool { return x.stream != nil })
		if err := v.resolve(c.placeOf(p, e.OwnRank)); err != nil {
			return err
		}
		times, each := uint64(1), o.Count
		if varies && o.Count > 0 {
			times, each = o.Count, 1
		}
		for range times {
			for i := range v.slots {
				if v.slots[i].stream != nil {
					if err := v.slots[i].next(c.source.memory()); err != nil {
						return err
					}
				}
			}
			if varies {
				if err := v.resolve(c.placeOf(p, e.OwnRank)); err != nil {
					return err
				}
			}
			s.call(e, each)
		}
	}
	return nil
}

// decode goes through the calls one by one.
func (s *sends) decode() error {
	s.ordered = true
	for s.cursor.Next() {
		e := s.cursor.Event()
		if s.inside != nil && e.Index >= s.to {
			break
		}
		in := s.inside == nil || e.Index >= s.from
		means := e.Semantics
		if in && (sendsData(means) || means.Operation == semantics.Start) || sendsData(means) && means.IsPersistent() {
			s.call(e, 1)
		}
	}
	return s.cursor.Err()
}

// sendsData reports whether a call sends, or will send when it is started.
func sendsData(f *semantics.Function) bool {
	return f.Operation == semantics.Send || f.Operation == semantics.SendReceive
}

// call counts a call that was made n times.
func (s *sends) call(e *Event, n uint64) {
	means := e.Semantics
	if means.Operation == semantics.Start {
		if v := argumentAt(e.In, means.In[semantics.Request]); v != nil {
			s.start(v, n)
		}
		return
	}
	dest := argumentAt(e.In, means.In[semantics.Destination])
	if dest == nil || dest.Form != Int {
		return
	}
	size := PayloadOf(means).Of(e, s.cursor.shared.Communicators)
	m := persistent{
		known: true, comm: e.Comm, source: s.cursor.thread.Rank, dest: s.peer(e, dest.Int),
		bytes: size.Bytes, unsized: !size.Known,
	}
	if means.IsPersistent() {
		request := int64(-1)
		if v := argumentAt(e.Out, means.Out[semantics.Request]); v != nil && v.Form == Handle {
			request = v.Int
		}
		if have := s.started[request]; have != nil {
			if s.ordered { // what was started until now is what the request was until now
				s.addStarted(have)
			} else {
				m.starts = have.starts
			}
		}
		s.started[request] = &m
		return
	}
	s.add(&m, n)
}

func (s *sends) add(m *persistent, n uint64) {
	unsized := uint64(0)
	if m.unsized {
		unsized = n
	}
	s.sum.add(m.comm, m.source, m.dest, n, n*m.bytes, unsized)
}

// start counts the starts of a request, or of a list of them.
func (s *sends) start(v *Value, n uint64) {
	for i := range v.List {
		s.start(&v.List[i], n)
	}
	if v.Form != Handle && v.Form != Int {
		return
	}
	if s.started[v.Int] == nil {
		s.started[v.Int] = &persistent{}
	}
	s.started[v.Int].starts += n
}

// startAll counts the persistent sends. (A request id stands for one creating signature, so that its starts can be
// counted before it is known what it sends.)
func (s *sends) startAll() {
	for _, m := range s.started {
		s.addStarted(m)
	}
}

// addStarted counts one of them.
func (s *sends) addStarted(m *persistent) {
	if m.known && m.starts > 0 {
		s.add(m, m.starts)
	}
}

// peer is the world rank of a rank in the communicator of a call; in an intercommunicator, of the other group.
func (s *sends) peer(e *Event, rank int64) int {
	if e.Comm < 0 {
		return -1
	}
	c := &s.cursor.shared.Communicators[e.Comm]
	group := c.Members
	if len(c.Remote) > 0 && c.Members.Index(s.cursor.thread.Rank) >= 0 {
		group = c.Remote
	}
	if rank < 0 || rank >= int64(group.Len()) {
		return -1
	}
	return group.At(int(rank))
}
