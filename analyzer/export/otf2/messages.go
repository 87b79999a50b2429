package otf2

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A request is an incomplete operation, or a persistent one.
type request struct {
	kind       requestKind
	id         uint64
	written    bool // its begin is in the archive, and so is its other side
	active     bool
	persistent bool
	comm       int
	peer       trace.Value // of a message, as passed to the call
	tag, bytes uint64
	also       *request // the receive that a request of MPI_Isendrecv also has
	done       Event    // the event to write on completion: of collectives, accesses, files
}

type requestKind uint8

const (
	sendRequest requestKind = iota
	receiveRequest
	otherRequest
)

// message writes a call that sends, receives or both, blocking or with a request.
func (p *process) message(l *line, plan *plan) error {
	send, receive := plan.Operation != semantics.Receive, plan.Operation != semantics.Send
	var r *request
	if plan.Completion != semantics.Blocking {
		r = p.request(l, plan)
	}
	comm := l.event.Comm
	if send {
		if err := p.sendFrom(l, r, comm); err != nil {
			return err
		}
	}
	if receive {
		return p.receiveAt(l, plan, r, comm)
	}
	return nil
}

// sendFrom writes the sending side of a call.
func (p *process) sendFrom(l *line, r *request, comm int) error {
	bytes := p.size(l.in(semantics.Count), l.in(semantics.Datatype))
	if n := l.in(semantics.Partitions); n.Form == trace.Int {
		bytes *= uint64(max(0, n.Int))
	}
	dest, tag := l.in(semantics.Destination), uint64(max(0, l.in(semantics.Tag).Int))
	if r != nil {
		r.kind, r.comm, r.peer, r.tag, r.bytes = sendRequest, comm, *dest, tag, bytes
		if r.persistent {
			return nil
		}
		return p.postSend(l, r)
	}
	peer, there := p.peer(l, comm, dest)
	if !there {
		return nil
	}
	return p.begin(l, Event{Kind: MpiSend, Peer: peer, Object: p.comms[comm], Tag: uint32(tag), Sent: bytes})
}

// postSend writes the posting of a nonblocking send.
func (p *process) postSend(l *line, r *request) error {
	peer, there := p.peer(l, r.comm, &r.peer)
	r.active, r.written = true, there && l.shown
	if !r.written {
		return nil
	}
	return p.begin(l, Event{Kind: MpiIsend, Peer: peer, Object: p.comms[r.comm], Tag: uint32(r.tag), Sent: r.bytes, ID: r.id})
}

// peer returns the other side of a message that the current call posts, as a rank of the
// communicator; false if there is none, or the message is not written.
func (p *process) peer(l *line, comm int, rank *trace.Value) (uint32, bool) {
	if rank.Form != trace.Int || rank.Int < 0 || comm < 0 {
		return 0, false // MPI_PROC_NULL
	}
	world, known := p.member(comm, int(rank.Int))
	if !known || p.trace.Ranks().Find(world) < 0 {
		p.leave(l)
		return 0, false
	}
	left := p.isLeft(l)
	if !p.ranks[world] && !left {
		p.leave(l)
	}
	return uint32(rank.Int), !left && p.ranks[world]
}

// isLeft reports whether the next slot of the current call is left out, and moves to the one after
// it.
func (p *process) isLeft(l *line) bool { return p.isLeftSlot(l, false) }

func (p *process) isLeftSlot(l *line, collective bool) bool {
	_, left := p.leftOut[slot{location: int32(l.location), nth: l.nth, collective: collective, call: l.call}]
	l.nth++
	if left {
		p.leave(l)
	}
	return left
}

// leave counts something that is left out of the current call.
func (p *process) leave(l *line) {
	if l.shown {
		p.summary.LeftOut++
	}
}

// member returns the rank in MPI_COMM_WORLD of a peer in a communicator; for an intercommunicator,
// of one in the other group.
func (e *export) member(comm, rank int) (int, bool) {
	c := &e.trace.Communicators()[comm]
	list := c.Members
	if c.Remote.Len() > 0 {
		list = c.Remote
		if c.Members.Index(e.present) < 0 {
			list = c.Members
		}
	}
	if rank < 0 || rank >= list.Len() {
		return 0, false
	}
	return list.At(rank), true
}

// receiveAt writes the receiving side of a call.
func (p *process) receiveAt(l *line, plan *plan, r *request, comm int) error {
	source, tag := l.in(semantics.Source), l.in(semantics.Tag)
	if plan.In[semantics.ReceiveTag] >= 0 {
		tag = l.in(semantics.ReceiveTag)
	}
	if r != nil {
		if plan.Operation == semantics.SendReceive {
			r.also = &request{id: p.id()}
			r = r.also
		}
		r.kind, r.comm, r.peer, r.tag = receiveRequest, comm, *source, uint64(max(0, tag.Int))
		if !r.persistent {
			p.postReceive(l, r)
		}
		return nil
	}
	if isNull(source) || comm < 0 {
		return nil
	}
	p.received(l, !p.isLeft(l), comm, source, uint64(max(0, tag.Int)), statusOf(l.out(semantics.Status), 0), 0)
	return nil
}

// postReceive writes the posting of a nonblocking receive.
func (p *process) postReceive(l *line, r *request) {
	r.active, r.written = true, false
	if isNull(&r.peer) || r.comm < 0 {
		return
	}
	if r.written = !p.isLeft(l) && l.shown; r.written {
		l.endWith(Event{Kind: MpiIrecvRequest, ID: r.id})
	}
}

// received writes the receipt of a message. id is that of the request; 0: there is none.
func (p *process) received(l *line, written bool, comm int, source *trace.Value, tag uint64, s status, id uint64) {
	if !written || !l.shown {
		return
	}
	rank := source.Int
	if s.known && s.source >= 0 {
		rank, tag = s.source, uint64(max(0, s.tag))
	} else if source.Form != trace.Int {
		p.leave(l) // a wildcard with an unknown source
		return
	}
	world, known := p.member(comm, int(rank))
	if !known || !p.ranks[world] {
		p.leave(l)
		return
	}
	e := Event{Kind: MpiRecv, Peer: uint32(rank), Object: p.comms[comm], Tag: uint32(tag), Received: uint64(max(0, s.bytes)), ID: id}
	if id != 0 {
		e.Kind = MpiIrecv
	}
	l.endWith(e)
	p.summary.Messages++
}

// isNull reports whether a rank is MPI_PROC_NULL, or unknown.
func isNull(rank *trace.Value) bool {
	return rank.Form == trace.Name && rank.Text == "MPI_PROC_NULL" || rank.Form == trace.Absent
}

// A status is the status that a call returned for a completed operation.
type status struct {
	known, cancelled   bool
	source, tag, bytes int64
}

// statusOf reads the i-th one of a value.
func statusOf(v *trace.Value, i int) status {
	if v.Form == trace.List {
		if i >= len(v.List) {
			return status{}
		}
		v = &v.List[i]
	}
	if v.Form != trace.Status || len(v.List) < 5 {
		return status{}
	}
	return status{true, v.List[3].Int > 0, number(&v.List[0]), number(&v.List[1]), v.List[4].Int}
}

// number returns the number in a value, −1 for a name.
func number(v *trace.Value) int64 {
	if v.Form == trace.Int {
		return v.Int
	}
	return -1
}

// request records the request that a call creates.
func (p *process) request(l *line, plan *plan) *request {
	r := &request{kind: otherRequest, id: p.id(), persistent: plan.IsPersistent()}
	if h := l.out(semantics.Request); h.Form == trace.Handle {
		p.requests[h.Int] = r
	}
	return r
}

// start writes the start of persistent requests.
func (p *process) start(l *line) error {
	for _, h := range handles(l.in(semantics.Request)) {
		r := p.requests[h]
		if r == nil || !r.persistent || r.active {
			continue
		}
		r.id = p.id()
		var err error
		switch r.kind {
		case sendRequest:
			err = p.postSend(l, r)
		case receiveRequest:
			p.postReceive(l, r)
		case otherRequest:
			err = p.postCollective(l, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handles returns the ids of requests in a value, without MPI_REQUEST_NULL.
func handles(v *trace.Value) []int64 {
	list := v.List
	if v.Form != trace.List {
		list = []trace.Value{*v}
	}
	ids := make([]int64, 0, len(list))
	for i := range list {
		if list[i].Form == trace.Handle {
			ids = append(ids, list[i].Int)
		}
	}
	return ids
}

// complete writes the completions of a call, or that it tested without success.
func (p *process) complete(l *line, plan *plan) error {
	requests, statuses := l.in(semantics.Request), l.out(semantics.Status)
	if plan.Out[semantics.Flag] >= 0 && number(l.out(semantics.Flag)) <= 0 {
		if r := p.requests[requests.Int]; requests.Form == trace.Handle && r != nil && r.active && r.written && r.kind != otherRequest {
			l.endWith(Event{Kind: MpiRequestTest, ID: r.id})
		}
		return nil
	}
	one := func(v *trace.Value, s status) {
		if v.Form == trace.Handle {
			p.completed(l, v.Int, s)
		}
	}
	switch plan.Operation {
	case semantics.Wait:
		one(requests, statusOf(statuses, 0))
	case semantics.WaitAll:
		for i := range requests.List {
			one(&requests.List[i], statusOf(statuses, i))
		}
	case semantics.WaitAny:
		if i := number(l.out(semantics.Index)); i >= 0 && i < int64(len(requests.List)) {
			one(&requests.List[i], statusOf(statuses, 0))
		}
	case semantics.WaitSome:
		indices := l.out(semantics.Index)
		for k := range indices.List {
			if i := number(&indices.List[k]); i >= 0 && i < int64(len(requests.List)) {
				one(&requests.List[i], statusOf(statuses, k))
			}
		}
	}
	return nil
}

// completed writes the completion of a request.
func (p *process) completed(l *line, handle int64, s status) {
	r := p.requests[handle]
	if r == nil {
		return
	}
	p.ended(l, r, s)
	if r.also != nil {
		p.ended(l, r.also, s)
	}
	if !r.persistent {
		delete(p.requests, handle)
	}
}

// ended writes the completion of an operation.
func (p *process) ended(l *line, r *request, s status) {
	if r.active && r.written && l.shown {
		switch {
		case s.cancelled:
			l.endWith(Event{Kind: MpiRequestCancelled, ID: r.id})
		case r.kind == sendRequest:
			l.endWith(Event{Kind: MpiIsendComplete, ID: r.id})
		case r.kind == receiveRequest:
			p.received(l, true, r.comm, &r.peer, r.tag, s, r.id)
		default:
			p.completedOther(l, r, s)
		}
	}
	r.active = false
}

// completedOther writes the completion of a collective operation, or of an access to a window or
// file.
func (p *process) completedOther(l *line, r *request, s status) {
	if r.done.Kind == IoOperationComplete && s.known {
		r.done.Received = uint64(max(0, s.bytes))
	}
	if r.done.Kind == NonBlockingCollectiveComplete {
		r.done.ID = r.id
		p.summary.Collectives++
	}
	l.endWith(r.done)
}

func (p *process) free(l *line) {
	for _, h := range handles(l.in(semantics.Request)) {
		delete(p.requests, h)
	}
}

// matchedProbe records whether a message that is taken now will be written when it is received.
func (p *process) matchedProbe(l *line) {
	h := l.out(semantics.Message)
	if l.event.Semantics.Out[semantics.Flag] >= 0 && number(l.out(semantics.Flag)) <= 0 || h.Form == trace.Name {
		return
	}
	if s := statusOf(l.out(semantics.Status), 0); s.known && s.source >= 0 {
		p.messages[h.Int] = taken{!p.isLeft(l) && l.shown, l.event.Comm}
	}
}

// matchedReceive writes the receipt of a message that was taken before.
func (p *process) matchedReceive(l *line, plan *plan) error {
	h := l.in(semantics.Message)
	t, is := p.messages[h.Int]
	if !is || h.Form == trace.Name {
		return nil
	}
	delete(p.messages, h.Int)
	if plan.Completion == semantics.Nonblocking {
		r := p.request(l, plan)
		r.kind, r.comm, r.active, r.written = receiveRequest, t.comm, true, t.written && l.shown
		if r.written {
			l.endWith(Event{Kind: MpiIrecvRequest, ID: r.id})
		}
		return nil
	}
	p.received(l, t.written, t.comm, &noValue, 0, statusOf(l.out(semantics.Status), 0), 0)
	return nil
}

// A taken message is one that a matched probe has taken.
type taken struct {
	written bool
	comm    int
}
