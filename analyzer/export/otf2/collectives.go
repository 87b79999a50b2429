package otf2

import (
	"strings"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A collective is OTF2's number of an operation, and the side whose arguments have an element for
// each member.
type collective struct {
	op                       uint8
	sendsToEach, takesOfEach bool
}

// collectives are OTF2's operations by the names of MPI's functions. OTF2 has no neighborhood
// collectives.
var collectives = map[string]collective{
	"barrier":              {op: CollectiveBarrier},
	"bcast":                {op: CollectiveBcast},
	"gather":               {op: CollectiveGather, takesOfEach: true},
	"gatherv":              {op: CollectiveGatherv},
	"scatter":              {op: CollectiveScatter, sendsToEach: true},
	"scatterv":             {op: CollectiveScatterv},
	"allgather":            {op: CollectiveAllgather, takesOfEach: true},
	"allgatherv":           {op: CollectiveAllgatherv},
	"alltoall":             {op: CollectiveAlltoall, sendsToEach: true, takesOfEach: true},
	"alltoallv":            {op: CollectiveAlltoallv},
	"alltoallw":            {op: CollectiveAlltoallw},
	"allreduce":            {op: CollectiveAllreduce},
	"reduce":               {op: CollectiveReduce},
	"reduce_scatter":       {op: CollectiveReduceScatter},
	"reduce_scatter_block": {op: CollectiveReduceScatterBlock, sendsToEach: true},
	"scan":                 {op: CollectiveScan},
	"exscan":               {op: CollectiveExscan},
}

// collectiveOf returns the operation of a function; nil: OTF2 has none like it.
func collectiveOf(function string, f *semantics.Function) *collective {
	name := strings.ToLower(strings.TrimPrefix(function, "MPI_"))
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_c"), "_init")
	if f.Completion == semantics.Nonblocking {
		name = strings.TrimPrefix(name, "i")
	}
	if c, known := collectives[name]; known {
		return &c
	}
	return nil
}

// collect writes a call that takes part in a collective operation, creates a request for it, or
// prepares one.
func (p *process) collect(l *line, plan *plan) error {
	comm := l.event.Comm
	root, takesPart := rootOf(l)
	if comm < 0 || l.event.OwnRank < 0 {
		return nil
	}
	done := Event{Kind: MpiCollectiveEnd, Object: p.comms[comm], Peer: root}
	if plan.collective != nil {
		done.Op = plan.collective.op
		done.Sent, done.Received = p.exchanged(l, plan)
	}
	written := plan.collective != nil
	if plan.Completion == semantics.Blocking {
		// A rank outside of an intercommunicator's operation, with MPI_PROC_NULL as its root, takes
		// part only in OTF2's view.
		if takesPart && p.isLeftSlot(l, true) || !written {
			return nil
		}
		return p.takePart(l, done)
	}
	done.Kind = NonBlockingCollectiveComplete
	r := p.request(l, plan)
	r.done, r.comm = done, comm
	r.written = written
	if r.persistent {
		return nil
	}
	return p.postCollective(l, r)
}

// postCollective writes the begin of a nonblocking collective operation.
func (p *process) postCollective(l *line, r *request) error {
	r.active = true
	if left := r.done.Peer != RootThisGroup && p.isLeftSlot(l, true); left || !l.shown || r.done.Kind != NonBlockingCollectiveComplete {
		r.written = false
	}
	if !r.written {
		return nil
	}
	return p.begin(l, Event{Kind: NonBlockingCollectiveRequest, ID: r.id})
}

// takePart writes a blocking operation.
func (p *process) takePart(l *line, done Event) error {
	if !l.shown {
		return nil
	}
	p.summary.Collectives++
	l.endWith(done)
	return p.begin(l, Event{Kind: MpiCollectiveBegin})
}

// rootOf returns the root of a call, and whether the caller takes part in what package match
// matches: with MPI_PROC_NULL as root it does not.
func rootOf(l *line) (uint32, bool) {
	v := l.in(semantics.Root)
	switch {
	case v.Form == trace.Int && v.Int >= 0:
		return uint32(v.Int), true
	case v.Form == trace.Name && v.Text == "MPI_ROOT":
		return RootSelf, true
	case v.Form == trace.Name && v.Text == "MPI_PROC_NULL":
		return RootThisGroup, false
	}
	return Undefined, true
}

// exchanged returns the number of bytes that the caller sends and receives, according to the
// arguments of the call. The root of a broadcast sends its buffer once.
func (p *process) exchanged(l *line, plan *plan) (sent, received uint64) {
	comm := &p.trace.Communicators()[l.event.Comm]
	members := uint64(comm.Members.Len())
	if comm.Remote.Len() > 0 {
		// if both groups have the same size, which MPI does not require
		members = uint64(comm.Remote.Len())
		if comm.Members.Index(p.present) < 0 {
			members = uint64(comm.Members.Len())
		}
	}
	root := l.in(semantics.Root)
	isRoot := root.Form == trace.Int && root.Int == int64(l.event.OwnRank) && comm.Remote.Len() == 0 ||
		root.Form == trace.Name && root.Text == "MPI_ROOT"
	stands := root.Form == trace.Name && root.Text == "MPI_PROC_NULL"
	send, receive := p.buffers(l, plan)
	if plan.collective.sendsToEach {
		send *= members
	}
	if plan.collective.takesOfEach {
		receive *= members
	}
	switch plan.collective.op {
	case CollectiveBcast:
		receive = send
	case CollectiveAllreduce, CollectiveScan, CollectiveExscan, CollectiveReduce:
		receive = send
	}
	switch {
	case stands:
		return 0, 0
	case plan.Operation == semantics.OneToAll && isRoot && comm.Remote.Len() > 0:
		return send, 0
	case plan.Operation == semantics.OneToAll && isRoot && plan.collective.op == CollectiveBcast:
		return send, 0
	case plan.Operation == semantics.OneToAll && !isRoot:
		return 0, receive
	case plan.Operation == semantics.AllToOne && isRoot && comm.Remote.Len() > 0:
		return 0, receive
	case plan.Operation == semantics.AllToOne && !isRoot:
		return send, 0
	}
	return send, receive
}

// buffers returns the sizes of the buffers in the arguments of a collective call. With
// MPI_IN_PLACE, the missing side equals the other one.
func (p *process) buffers(l *line, plan *plan) (send, receive uint64) {
	count, datatype := l.in(semantics.Count), l.in(semantics.Datatype)
	takes, type2 := l.in(semantics.ReceiveCount), l.in(semantics.ReceiveDatatype)
	if type2.Form == trace.Absent {
		type2 = datatype
	}
	switch plan.collective.op {
	case CollectiveReduceScatter: // of the vector, one part
		send = p.size(takes, datatype)
		if own := l.event.OwnRank; takes.Form == trace.List && own < len(takes.List) {
			receive = p.sizeOf(takes.List[own].Int, datatype)
		}
		return send, receive
	case CollectiveReduceScatterBlock:
		receive = p.size(takes, datatype)
		return receive, receive
	}
	send = p.size(count, datatype)
	receive = p.size(takes, type2)
	return send, receive
}

// createCommunicator writes a call that creates a communicator.
func (p *process) createCommunicator(l *line, plan *plan) error {
	e := l.event
	if e.NewComm >= 0 && e.Comm >= 0 {
		p.parents[e.NewComm] = e.Comm
	}
	if e.Comm < 0 || plan.Creation != semantics.FromParent && plan.Creation != semantics.FromMerge {
		return nil // others are not collective over a communicator
	}
	done := Event{Kind: MpiCollectiveEnd, Op: CollectiveCreate, Object: p.comms[e.Comm], Peer: Undefined}
	if plan.Completion == semantics.Blocking {
		if p.isLeftSlot(l, true) {
			return nil
		}
		return p.takePart(l, done)
	}
	done.Kind = NonBlockingCollectiveComplete
	r := p.request(l, plan)
	r.done, r.comm, r.written = done, e.Comm, true
	return p.postCollective(l, r)
}

// freeCommunicator writes the end of a communicator. The matcher does not follow frees, so the
// members that free it in the time range form the operation.
func (p *process) freeCommunicator(l *line) error {
	if l.event.Comm < 0 {
		return nil
	}
	return p.takePart(l, Event{Kind: MpiCollectiveEnd, Op: CollectiveDestroy, Object: p.comms[l.event.Comm], Peer: Undefined})
}
