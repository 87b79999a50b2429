package stopped

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// collectives compares the calls that the ranks of a communicator make as its n-th collective
// operation.
type collectives struct {
	mu       sync.Mutex
	trace    timeline.Trace
	counts   []map[int]uint32 // by row and communicator
	pending  map[position]*instance
	present  map[int]int         // number of members in the trace, by communicator
	mismatch map[int][]*instance // by communicator
}

// A position identifies an operation in the order of a communicator.
type position struct {
	comm    int
	ordinal uint32
}

// An instance is one operation with the ranks that have entered it, grouped by their arguments.
type instance struct {
	position
	arrived     int
	groups      []group
	open        bool // a rank ended in it
	nonblocking bool
	listed      bool // in collectives.mismatch
}

type group struct {
	asked
	rows []int
	site uint32
	id   uint16
}

// asked is the part of a call that must agree on all ranks.
type asked struct {
	function string
	root     int64 // −1: none, or not a number
	op       string
	bytes    int64 // −1: not known, or irrelevant
	sent     int64 // to each rank, if bytes are what is received from each; −1: not known, or none
}

func newCollectives(t timeline.Trace) collectives {
	return collectives{
		trace: t, counts: make([]map[int]uint32, t.Ranks().Len()), pending: map[position]*instance{}, present: map[int]int{}, mismatch: map[int][]*instance{},
	}
}

// see adds a call of a rank. Calls of different ranks may be added concurrently, those of a
// communicator in order.
func (s *collectives) see(row int, c *timeline.Call) {
	e, f := c.Event, c.Semantics
	if !f.Collective || e.Comm < 0 || c.Apart || !e.Unfinished() && !e.Succeeded() {
		return
	}
	switch f.Operation {
	case semantics.Barrier, semantics.AllToAll, semantics.OneToAll, semantics.AllToOne, semantics.Prefix, semantics.Neighbor,
		semantics.WindowCreate, semantics.FileOpen:
	case semantics.CommunicatorCreate:
		if f.Creation != semantics.FromParent {
			return
		}
	default:
		return
	}
	comm := &s.trace.Communicators()[e.Comm]
	if len(comm.Remote) > 0 {
		return
	}
	g := group{asked: askedIn(e), rows: []int{row}, site: e.Signature.Site, id: e.Function.ID}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[row] == nil {
		s.counts[row] = map[int]uint32{}
	}
	at := position{e.Comm, s.counts[row][e.Comm]}
	s.counts[row][e.Comm]++
	i := s.pending[at]
	if i == nil {
		i = &instance{position: at}
		s.pending[at] = i
	}
	i.arrived++
	k := slices.IndexFunc(i.groups, func(o group) bool { return o.agrees(&g.asked) })
	if k < 0 {
		i.groups = append(i.groups, g)
	} else {
		i.groups[k].rows = append(i.groups[k].rows, row)
	}
	i.open, i.nonblocking = i.open || e.Unfinished(), i.nonblocking || f.Completion == semantics.Nonblocking
	// one from which all ranks have returned has done no harm
	if len(i.groups) > 1 && (i.open || i.nonblocking) && !i.listed {
		s.mismatch[at.comm], i.listed = append(s.mismatch[at.comm], i), true
	}
	if i.arrived == s.members(e.Comm) {
		delete(s.pending, at)
	}
}

// mismatchAt returns the mismatch because of which an operation cannot end: it is that one, or
// comes after one in which a rank still is. It returns nil if there is none.
func (s *collectives) mismatchAt(comm int, ordinal uint32) *instance {
	var first *instance
	for _, i := range s.mismatch[comm] {
		if (i.ordinal == ordinal || i.open && i.ordinal < ordinal) && (first == nil || i.ordinal < first.ordinal) {
			first = i
		}
	}
	return first
}

// members returns the number of members of a communicator that are in the trace.
func (s *collectives) members(comm int) int {
	if n, known := s.present[comm]; known {
		return n
	}
	n := 0
	for _, rank := range s.trace.Communicators()[comm].Members.Ranks() {
		if s.trace.Ranks().Find(rank) >= 0 {
			n++
		}
	}
	s.present[comm] = n
	return n
}

// agrees reports whether two calls can belong to one operation.
func (a *asked) agrees(b *asked) bool {
	return a.function == b.function && a.root == b.root && (a.op == b.op || a.op == "" || b.op == "") &&
		(a.bytes == b.bytes || a.bytes < 0 || b.bytes < 0)
}

// sameCount reports whether all ranks must pass the same amount of data to a collective. Ranks may
// divide it differently among datatypes.
func sameCount(f *semantics.Function) bool {
	switch f.Movement {
	case semantics.Broadcast, semantics.Reduce, semantics.AllReduce, semantics.Scan:
		return true
	case semantics.AllGather, semantics.AllToAllExchange, semantics.ReduceScatter:
		return f.ReceivePerPeer // not lists of counts
	case semantics.NoMovement, semantics.Scatter, semantics.Gather:
	}
	return false
}

func askedIn(e *trace.Event) asked {
	a := asked{function: strings.TrimSuffix(e.Function.Name, "_c"), root: -1, bytes: -1, sent: -1}
	f := e.Semantics
	in := func(role semantics.Role) *trace.Value {
		if i := f.In[role]; i >= 0 && int(i) < len(e.In) {
			return &e.In[i]
		}
		return &trace.Value{}
	}
	if v := in(semantics.Root); v.Form == trace.Int {
		a.root = v.Int
	}
	next := 0
	for i := range e.Function.Parameters {
		if p := &e.Function.Parameters[i]; p.Direction != trace.Out && next < len(e.In) {
			if p.Kind == "op" && e.In[next].Form == trace.Name {
				a.op = e.In[next].Text
			}
			next++
		}
	}
	if sameCount(f) && f.Operation != semantics.Neighbor {
		count, datatype := in(semantics.Count), in(semantics.Datatype)
		if f.ReceivePerPeer {
			a.sent = amountOf(count, datatype)
		}
		if f.ReceivePerPeer && f.In[semantics.ReceiveCount] >= 0 { // what is sent may be MPI_IN_PLACE
			count = in(semantics.ReceiveCount)
		}
		if f.ReceivePerPeer && f.In[semantics.ReceiveDatatype] >= 0 {
			datatype = in(semantics.ReceiveDatatype)
		}
		a.bytes = amountOf(count, datatype)
	}
	return a
}

// amountOf returns the bytes of so many elements; −1 if they are not known.
func amountOf(count, datatype *trace.Value) int64 {
	if size, known := datatypes.Size(datatype.Text); known && count.Form == trace.Int {
		return count.Int * size
	}
	return -1
}

// differs describes, for the first of two groups that call the same function, how they differ.
func (g *group) differs(from *group) string {
	var parts []string
	if g.root != from.root && g.root >= 0 {
		parts = append(parts, fmt.Sprintf("root %d", g.root))
	}
	if g.op != from.op && g.op != "" {
		parts = append(parts, g.op)
	}
	if g.bytes != from.bytes && g.bytes >= 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", g.bytes))
	}
	if g.function != from.function || len(parts) == 0 {
		return ""
	}
	return "with " + strings.Join(parts, " and ")
}
