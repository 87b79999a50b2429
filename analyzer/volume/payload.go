package volume

import (
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Payload describes which inputs of a function determine how much data a call moves: the sending
// side if there are two; all partitions of a partitioned message (MPI 4.0 §4.2: its count is per
// partition); and the data for all processes, the caller included, if a count is per process
// (MPI_Alltoall).
type Payload struct {
	count, datatype, partitions int8 // −1: none
	perPeer                     bool
}

// A Size is the size of the data of a call, in bytes.
type Size struct {
	Bytes uint64
	Moves bool // the call moves data
	Known bool // the size of its datatype is known; otherwise Bytes is 0
}

// PayloadOf returns the Payload of a function.
func PayloadOf(f *semantics.Function) Payload {
	if !f.MovesData() {
		return Payload{-1, -1, -1, false}
	}
	p := Payload{f.In[semantics.Count], f.In[semantics.Datatype], f.In[semantics.Partitions], f.PerPeer}
	if p.count < 0 {
		p.count, p.perPeer = f.In[semantics.ReceiveCount], f.ReceivePerPeer
	}
	if p.datatype < 0 {
		p.datatype = f.In[semantics.ReceiveDatatype]
	}
	return p
}

// Always returns the size of all calls with a signature, false if it differs between calls, ranks
// or communicators.
func (p Payload) Always(s *trace.Signature) (Size, bool) {
	if p.perPeer {
		return Size{}, false
	}
	for _, at := range [...]int8{p.count, p.datatype, p.partitions} {
		if v := argumentOf(s.In, at); v != nil && v.Varies() {
			return Size{}, false
		}
	}
	return p.in(s.In), true
}

// Of returns the size for a call of a trace with these communicators. Only sizes of predefined
// datatypes are known.
func (p Payload) Of(e *trace.Event, communicators []trace.Communicator) Size {
	size := p.in(e.In)
	if p.perPeer {
		size.Bytes *= uint64(peers(e, communicators))
	}
	return size
}

// Derived returns the datatype of a call's data and the number of its elements; nil if it is a
// predefined one, or one for each process.
func (p Payload) Derived(e *trace.Event) (datatype *trace.Value, elements int64) {
	count, of := argumentOf(e.In, p.count), argumentOf(e.In, p.datatype)
	if count == nil || of == nil || count.Form != trace.Int || of.Form != trace.Handle {
		return nil, 0
	}
	return of, count.Int
}

// peers returns the number of processes that a call of a collective has data for: those of the
// communicator, or of the remote group; 1 if it is not known.
func peers(e *trace.Event, communicators []trace.Communicator) int {
	if e.Comm < 0 || e.Comm >= len(communicators) {
		return 1
	}
	c := &communicators[e.Comm]
	if c.Remote.Len() > 0 {
		return c.Remote.Len()
	}
	return max(1, c.Members.Len())
}

// in returns the size by a call's inputs, for one process if it is the same for each.
func (p Payload) in(in []trace.Value) Size {
	count, datatype := argumentOf(in, p.count), argumentOf(in, p.datatype)
	if count == nil || datatype == nil {
		return Size{}
	}
	elements := int64(0)
	switch count.Form {
	case trace.Int:
		elements = count.Int
	case trace.List:
		if datatype.Form == trace.List {
			return sizeOfEach(count.List, datatype.List)
		}
		for i := range count.List {
			elements += count.List[i].Int
		}
	default:
		return Size{}
	}
	if partitions := argumentOf(in, p.partitions); partitions != nil {
		elements *= partitions.Int
	}
	return sizeOf(elements, datatype)
}

// sizeOfEach returns the size of counts of elements, each with its own datatype.
func sizeOfEach(counts, datatypes []trace.Value) Size {
	sum := Size{Moves: true, Known: true}
	for i := range min(len(counts), len(datatypes)) {
		one := sizeOf(counts[i].Int, &datatypes[i])
		sum.Bytes += one.Bytes
		sum.Known = sum.Known && one.Known
	}
	if !sum.Known {
		sum.Bytes = 0
	}
	return sum
}

// sizeOf returns the size of elements of a datatype. No elements have size 0, whatever the
// datatype.
func sizeOf(elements int64, datatype *trace.Value) Size {
	if elements <= 0 {
		return Size{Moves: true, Known: true}
	}
	if datatype.Form == trace.Name {
		if size, known := datatypes.Size(datatype.Text); known {
			return Size{Bytes: uint64(elements * size), Moves: true, Known: true}
		}
	}
	return Size{Moves: true}
}

// argumentOf returns the argument at a position given by semantics, nil if there is none.
func argumentOf(values []trace.Value, at int8) *trace.Value {
	if at < 0 || int(at) >= len(values) {
		return nil
	}
	return &values[at]
}
