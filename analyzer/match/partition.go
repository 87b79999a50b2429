package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Partitioned messages (MPI 4.0 §4). MPI_Pready releases a partition; the message as a whole is
// sent with its last partition. A receiver may test single partitions by MPI_Parrived. Its number
// of partitions may differ from the sender's: partition j of R has arrived when all overlapping
// ones of the sender's S have.

// partitions are the partitions of one end of a message, and the successful tests of a receiver.
type partitions struct {
	list     []partition // for a receive only the length is used
	arrivals []arrival
}

// A partition of a send: when it was ready.
type partition struct {
	ready Point
	id    EventID // like End.Posted
	known bool
}

// An arrival is a successful test of a partition.
type arrival struct {
	partition int
	done      *Completion
}

// maxPartitions bounds the memory that a corrupt trace can make the analyzer allocate.
const maxPartitions = 1 << 20

// ready handles MPI_Pready and its plural forms.
func (m *Matcher) ready(p *plan, c *Call, row int) {
	r := m.ranks[row].requests.get(p.in(c.event, semantics.Request).Int)
	if r == nil || !r.active || r.ends[0] == nil {
		return
	}
	e := r.ends[0]
	e.Post.set(c, row)
	m.posted(e)
	part := partition{e.Post, e.Posted, true}
	mark := func(i int64) {
		if e.parts != nil && i >= 0 && i < int64(len(e.parts.list)) {
			e.parts.list[i] = part
		}
	}
	first := p.in(c.event, semantics.Partition)
	switch {
	case first.Form == trace.List:
		for i := range first.List {
			mark(number(&first.List[i]))
		}
	case p.In[semantics.LastPartition] >= 0:
		for i, end := number(first), number(p.in(c.event, semantics.LastPartition)); i <= end && i < maxPartitions; i++ {
			mark(i)
		}
	default:
		mark(number(first))
	}
}

// isUnready reports whether a send has partitions that were not released.
func (e *End) isUnready() bool {
	return !e.receive && e.parts != nil && slices.ContainsFunc(e.parts.list, func(p partition) bool { return !p.known })
}

// arrived handles a successful MPI_Parrived.
func (m *Matcher) arrived(p *plan, c *Call, row int) {
	if p.missed(c.event) {
		return
	}
	r := m.ranks[row].requests.get(p.in(c.event, semantics.Request).Int)
	if r == nil || !r.active || r.ends[1] == nil {
		return
	}
	e := r.ends[1]
	done := m.completion(c, row)
	m.polled(p, done)
	done.open++
	if e.parts == nil {
		e.parts = new(partitions)
	}
	e.parts.arrivals = append(e.parts.arrivals, arrival{int(number(p.in(c.event, semantics.Partition))), done})
	m.seal(done)
}

// reportArrivals reports the partitions that were tested.
func (m *Matcher) reportArrivals(s, r *End) {
	if r.parts == nil || s.parts == nil {
		return
	}
	for _, a := range r.parts.arrivals {
		n, parts := len(s.parts.list), max(1, len(r.parts.list))
		if n == 0 || a.partition < 0 || a.partition >= parts {
			continue
		}
		var last *partition
		for i := a.partition * n / parts; i < ((a.partition+1)*n+parts-1)/parts; i++ {
			if q := &s.parts.list[i]; q.known && (last == nil || q.ready.Enter > last.ready.Enter) {
				last = q
			}
		}
		if last == nil {
			continue
		}
		m.message = Message{
			Kind: Partition, Send: &End{Post: last.ready, Posted: last.id}, Receive: &End{Post: r.Post, Done: a.done, receive: true},
			Comm: int(r.channel.comm), Tag: r.channel.tag, Bytes: -1,
		}
		m.handler.Message(&m.message)
	}
}

// settleArrivals settles the calls that tested partitions.
func (m *Matcher) settleArrivals(e *End) {
	if e.parts == nil {
		return
	}
	for _, a := range e.parts.arrivals {
		m.resolve(a.done)
	}
	e.parts.arrivals = nil
}

// divide allocates the partitions of a message.
func (e *End) divide(n int32) {
	if n > 0 && n <= maxPartitions {
		e.parts = &partitions{list: make([]partition, n)}
	}
}
