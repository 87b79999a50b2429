package simgrid

import (
	"math"
	"math/bits"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// whatever is the size of a receive: the sender determines it.
const whatever = math.MaxInt32

// collective writes a rank's part in a collective.
func (w *writer) collective(c *timeline.Call, e *entry) {
	of := e.of
	if of.loose {
		return
	}
	if of.ranks == nil || of.apart || of.class == match.Neighbor || w.isInter(of) {
		w.recorder.left.add("calls of "+c.Function.Name, 1)
		return
	}
	d := data{c}
	blocking := of.blocking == len(of.ranks)
	switch {
	case blocking && isWorld(of.ranks, w.trace.Meta().WorldSize):
		name, arguments := d.action(len(of.ranks), of.root)
		for _, v := range arguments {
			if v > math.MaxInt32 {
				w.recorder.left.add("sizes of 2 GiB or more in "+c.Function.Name, 1)
				name, arguments = "barrier", nil
				break
			}
		}
		w.action(name, arguments...)
		return
	case len(of.ranks) == 1:
		return
	}
	w.asMessages.add(c.Function.Name, 1)
	x := exchange{w: w, of: of, own: e.part, tag: w.recorder.tags[channel{of.comm, collectiveTag}], data: d, done: e.done}
	if blocking && !d.differs() {
		x.blocking(len(of.ranks))
	} else {
		x.direct()
		if blocking {
			w.complete(e.done, semantics.Unknown)
		}
	}
}

func (w *writer) isInter(of *collective) bool {
	communicators := w.trace.Communicators()
	return of.comm >= 0 && of.comm < len(communicators) && len(communicators[of.comm].Remote) > 0
}

// An exchange writes a collective as messages.
type exchange struct {
	w    *writer
	of   *collective
	own  int // part
	tag  int
	data data
	done uint64 // the call that completes it, + 1
}

func (x *exchange) send(to int, bytes int64) {
	x.w.action("isend", int64(x.of.ranks[to]), int64(x.tag), bytes)
	x.w.pending = append(x.w.pending, pending{x.done, x.of.ranks[to], x.tag, true})
}

func (x *exchange) receive(from int) {
	x.w.action("irecv", int64(x.of.ranks[from]), int64(x.tag), whatever)
	x.w.pending = append(x.w.pending, pending{x.done, x.of.ranks[from], x.tag, false})
}

func (x *exchange) await() { x.w.complete(x.done, semantics.Unknown) }

// blocking writes the collective in rounds: dissemination, a binomial tree, or a chain.
func (x *exchange) blocking(n int) {
	bytes := x.data.toEach()
	switch x.of.class {
	case match.OneToAll:
		me := (x.own - x.of.root + n) % n
		if me != 0 {
			x.receive((me&(me-1) + x.of.root) % n) // clear its lowest bit
			x.await()
		}
		lowest := bits.TrailingZeros(uint(me))
		if me == 0 {
			lowest = bits.Len(uint(n - 1))
		}
		for k := lowest - 1; k >= 0; k-- {
			if child := me + 1<<k; child < n {
				x.send((child+x.of.root)%n, bytes)
			}
		}
	case match.AllToOne:
		me := (x.own - x.of.root + n) % n
		for k := 1; k < n && me&k == 0; k <<= 1 {
			if child := me + k; child < n {
				x.receive((child + x.of.root) % n)
				x.await()
			}
		}
		if me != 0 {
			x.send((me&(me-1)+x.of.root)%n, bytes)
		}
	case match.Prefix:
		if x.own > 0 {
			x.receive(x.own - 1)
			x.await()
		}
		if x.own < n-1 {
			x.send(x.own+1, bytes)
		}
	default:
		for k := 1; k < n; k <<= 1 {
			x.receive((x.own - k + n) % n)
			x.send((x.own+k)%n, bytes)
			x.await()
		}
	}
	x.await()
}

// direct writes a message from each participant to each that needs its data.
func (x *exchange) direct() {
	n, root := len(x.of.ranks), x.of.root
	for i := range n {
		from, to := (x.own-i+n)%n, (x.own+i)%n
		if i == 0 {
			continue
		}
		if x.needs(x.own, from, root) {
			x.receive(from)
		}
		if x.needs(to, x.own, root) {
			x.send(to, x.data.to(to))
		}
	}
}

// needs reports whether a part needs the data of another one.
func (x *exchange) needs(part, from, root int) bool {
	switch x.of.class {
	case match.OneToAll:
		return from == root
	case match.AllToOne:
		return part == root
	case match.Prefix:
		return from < part
	default:
		return true
	}
}

// data are the arguments of a collective call.
type data struct{ *timeline.Call }

func (d data) argument(role semantics.Role) *trace.Value {
	if at := d.Semantics.In[role]; at >= 0 && int(at) < len(d.Event.In) {
		return &d.Event.In[at]
	}
	return nil
}

// size returns the size of the i-th element of a datatype argument; 0 if unknown.
func size(datatype *trace.Value, i int) int64 {
	if datatype == nil {
		return 0
	}
	if datatype.Form == trace.List && i < len(datatype.List) {
		datatype = &datatype.List[i]
	}
	if datatype.Form != trace.Name {
		return 0
	}
	bytes, _ := datatypes.Size(datatype.Text)
	return bytes
}

// side returns the count and the datatype of one side, or those of the other side where the former
// has none or they are not significant.
func (d data) side(receive bool) (count, datatype *trace.Value) {
	count, datatype = d.argument(semantics.Count), d.argument(semantics.Datatype)
	other, its := d.argument(semantics.ReceiveCount), d.argument(semantics.ReceiveDatatype)
	if receive {
		count, datatype, other, its = other, its, count, datatype
	}
	if count == nil || count.Form == trace.Absent {
		count = other
	}
	if datatype == nil || datatype.Form == trace.Absent {
		datatype = its
	}
	return count, datatype
}

// bytes returns the number of bytes sent to, or received from, part i; 0 if unknown.
func (d data) bytes(receive bool, i int) int64 {
	count, datatype := d.side(receive)
	switch {
	case count == nil:
		return 0
	case count.Form == trace.Int:
		return max(0, count.Int) * size(datatype, i)
	case count.Form == trace.List && i < len(count.List):
		return max(0, count.List[i].Int) * size(datatype, i)
	}
	return 0
}

func (d data) to(part int) int64 { return d.bytes(false, part) }
func (d data) toEach() int64     { return d.to(0) }

// differs reports whether a participant sends different data to each of the others: that takes
// messages from each to each.
func (d data) differs() bool {
	count, _ := d.side(false)
	return count != nil && count.Form == trace.List || d.kind() == "MPI_Alltoall" || d.kind() == "MPI_Scatter"
}

// kind returns the function's name without the suffix for large counts.
func (d data) kind() string { return strings.TrimSuffix(d.Function.Name, "_c") }

// action returns SimGrid's action for a collective of all ranks, with sizes in bytes.
func (d data) action(n, root int) (name string, arguments []int64) {
	send, receive, r := d.bytes(false, 0), d.bytes(true, 0), int64(root)
	list := func(receive bool) (list []int64, sum int64) {
		for i := range n {
			b := d.bytes(receive, i)
			list, sum = append(list, b), sum+b
		}
		return list, sum
	}
	switch d.kind() {
	case "MPI_Bcast":
		return "bcast", []int64{send, r}
	case "MPI_Reduce":
		return "reduce", []int64{send, 0, r}
	case "MPI_Allreduce":
		return "allreduce", []int64{send, 0}
	case "MPI_Scan":
		return "scan", []int64{send, 0}
	case "MPI_Exscan":
		return "exscan", []int64{send, 0}
	case "MPI_Alltoall":
		return "alltoall", []int64{send, receive}
	case "MPI_Gather":
		return "gather", []int64{send, receive, r}
	case "MPI_Scatter":
		return "scatter", []int64{send, receive, r}
	case "MPI_Allgather":
		return "allgather", []int64{send, receive}
	case "MPI_Gatherv":
		parts, _ := list(true)
		return "gatherv", append(append([]int64{send}, parts...), r)
	case "MPI_Allgatherv":
		parts, _ := list(true)
		return "allgatherv", append([]int64{send}, parts...)
	case "MPI_Scatterv":
		parts, _ := list(false)
		return "scatterv", append(parts, receive, r)
	case "MPI_Alltoallv", "MPI_Alltoallw":
		sent, all := list(false)
		received, most := list(true)
		return "alltoallv", append(append(append([]int64{all}, sent...), most), received...)
	case "MPI_Reduce_scatter", "MPI_Reduce_scatter_block":
		parts, _ := list(true)
		return "reducescatter", append(parts, 0)
	}
	return "barrier", nil
}
