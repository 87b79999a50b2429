package traffic

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Pair is the total traffic from one rank to another on one communicator by point-to-point calls.
type Pair struct {
	Comm         int // index into Communicators, −1: unknown
	Source, Dest int // ranks in MPI_COMM_WORLD; −1 if the communicator, or a member's rank in this world, is not known
	Messages     uint64
	Bytes        uint64 // of messages with a predefined datatype
	Unsized      uint64 // messages of derived datatypes
}

// Matrix returns the communication matrix of all kinds of sends, persistent ones as often as they
// were started, without MPI_PROC_NULL; sorted by communicator, source and destination. It is
// computed on the grammar: a call that occurs a million times is evaluated once, unless its
// destination or size varies; then its values are read. A thread is decoded call by call only if
// one handle referred to several communicators, or a persistent request to messages of several
// sizes.
func Matrix(t *trace.Reader) ([]Pair, error) {
	return MatrixBetween(t, func(int) (uint64, uint64) { return 0, math.MaxUint64 })
}

// MatrixBetween is the Matrix of some calls of each thread: of Threads()[i] those with from ≤ index
// < to. Persistent requests count where they are started.
func MatrixBetween(t *trace.Reader, calls func(thread int) (from, to uint64)) ([]Pair, error) {
	all, err := t.DistinctCalls()
	if err != nil {
		return nil, err
	}
	sum := pairs{}
	for i := range t.Threads().Len() {
		from, to := calls(i)
		thread, err := all.Thread(i, from, to)
		if err != nil {
			return nil, err
		}
		s := sends{communicators: t.Communicators(), sum: sum, started: map[int64]*persistent{}}
		if err := s.thread(thread); err != nil {
			return nil, err
		}
	}
	return sum.list(), nil
}

// pairs sums up the traffic by pair.
type pairs map[[3]int]*Pair

func (p pairs) add(comm, source, dest int, messages, bytes, unsized uint64) {
	key := [3]int{comm, source, dest}
	if p[key] == nil {
		p[key] = &Pair{Comm: comm, Source: source, Dest: dest}
	}
	p[key].Messages += messages
	p[key].Bytes += bytes
	p[key].Unsized += unsized
}

func (p pairs) list() []Pair {
	list := make([]Pair, 0, len(p))
	for _, one := range p {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest))
	})
	return list
}

// sends evaluates the sends of a thread.
type sends struct {
	communicators []trace.Communicator
	sum           pairs
	started       map[int64]*persistent // by request id
	ordered       bool                  // calls come in program order
}

// A persistent request is sent as often as it is started.
type persistent struct {
	known              bool
	comm, source, dest int
	bytes              uint64
	unsized            bool
	starts             uint64
}

// thread counts the sends of a thread. If a signature that creates persistent sends does not
// determine them completely, the order of calls determines what a request refers to.
func (s *sends) thread(t *trace.ThreadCalls) (err error) {
	s.ordered = t.Ordered()
	if !s.ordered {
		s.ordered, err = t.Vary(func(f *semantics.Function) bool { return sendsData(f) && f.IsPersistent() })
	}
	switch {
	case err != nil:
		return err
	case s.ordered:
		err = t.InOrder(func(e *trace.Event, inside bool) {
			f := e.Semantics
			if inside && (sendsData(f) || f.Operation == semantics.Start) || sendsData(f) && f.IsPersistent() {
				s.call(e, 1)
			}
		})
	default:
		err = t.All(func(f *semantics.Function, n uint64) bool {
			return (sendsData(f) || f.Operation == semantics.Start) && (n > 0 || f.IsPersistent())
		}, s.call)
	}
	if err != nil {
		return err
	}
	s.startAll()
	return nil
}

// sendsData reports whether a call sends, or will send when it is started.
func sendsData(f *semantics.Function) bool {
	return f.Operation == semantics.Send || f.Operation == semantics.SendReceive
}

// call counts a call that was made n times.
func (s *sends) call(e *trace.Event, n uint64) {
	f := e.Semantics
	if f.Operation == semantics.Start {
		if v := e.Input(semantics.Request); v != nil {
			s.start(v, n)
		}
		return
	}
	dest := e.Input(semantics.Destination)
	if dest == nil || dest.Form != trace.Int {
		return
	}
	size := volume.PayloadOf(f).Of(e, s.communicators)
	m := persistent{
		known: true, comm: e.Comm, source: e.Rank, dest: s.peer(e, dest.Int),
		bytes: size.Bytes, unsized: !size.Known,
	}
	if f.IsPersistent() {
		request := int64(-1)
		if v := e.Output(semantics.Request); v != nil && v.Form == trace.Handle {
			request = v.Int
		}
		if have := s.started[request]; have != nil {
			if s.ordered { // starts so far are of what the request referred to so far
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
func (s *sends) start(v *trace.Value, n uint64) {
	for i := range v.List {
		s.start(&v.List[i], n)
	}
	if v.Form != trace.Handle {
		return
	}
	if s.started[v.Int] == nil {
		s.started[v.Int] = &persistent{}
	}
	s.started[v.Int].starts += n
}

// startAll counts the persistent sends. (A request id refers to one creating signature, so that its
// starts can be counted before it is known what it sends.)
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

// peer returns the world rank of a rank in the communicator of a call; in an intercommunicator, of
// the remote group.
func (s *sends) peer(e *trace.Event, rank int64) int {
	if e.Comm < 0 {
		return -1
	}
	c := &s.communicators[e.Comm]
	group := c.Members
	if len(c.Remote) > 0 && c.Members.Index(e.Rank) >= 0 {
		group = c.Remote
	}
	if rank < 0 || rank >= int64(group.Len()) {
		return -1
	}
	return group.At(int(rank))
}
