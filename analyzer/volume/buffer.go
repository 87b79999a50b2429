package volume

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Buffer describes which inputs of a collective function determine the size of the caller's
// largest buffer: the n of textbook costs of collectives (Thakur, Rabenseifner and Gropp, IJHPCA
// 19(1), 2005), which is the maximum over all participants. For a neighborhood collective it is the
// largest block to or from a neighbor.
type Buffer struct {
	sides    [2]side
	neighbor bool
}

// A side of an exchange: the data sent, or the data received.
type side struct {
	count, datatype int8 // −1: none
	perPeer         bool
}

// BufferOf returns the Buffer of a function.
func BufferOf(f *semantics.Function) Buffer {
	send := side{f.In[semantics.Count], f.In[semantics.Datatype], f.PerPeer}
	receive := side{f.In[semantics.ReceiveCount], f.In[semantics.ReceiveDatatype], f.ReceivePerPeer}
	if receive.datatype < 0 { // MPI_Reduce_scatter
		receive.datatype = send.datatype
	}
	return Buffer{[2]side{send, receive}, f.Operation == semantics.Neighbor}
}

// Of returns the size for a call of a trace with these communicators, in bytes: 0 if it has none or
// it is not known. Only sizes of predefined datatypes are known. A side that does not apply, as
// with MPI_IN_PLACE, is ignored.
func (b *Buffer) Of(e *trace.Event, communicators []trace.Communicator) int64 {
	largest := uint64(0)
	for _, s := range b.sides {
		count, datatype := argumentOf(e.In, s.count), argumentOf(e.In, s.datatype)
		if count == nil || datatype == nil {
			continue
		}
		bytes := uint64(0)
		switch {
		case count.Form == trace.Int:
			bytes = sizeOf(count.Int, datatype).Bytes
			if s.perPeer {
				bytes *= uint64(peers(e, communicators))
			}
		case count.Form == trace.List:
			bytes = sizeOfList(count.List, datatype, b.neighbor)
		}
		largest = max(largest, bytes)
	}
	return int64(largest)
}

// sizeOfList returns the sum, or the maximum, of the sizes of counts of elements, with one common
// datatype or one each.
func sizeOfList(counts []trace.Value, datatype *trace.Value, largest bool) (bytes uint64) {
	for i := range counts {
		own := datatype
		if datatype.Form == trace.List {
			if i >= len(datatype.List) {
				break
			}
			own = &datatype.List[i]
		}
		one := sizeOf(counts[i].Int, own).Bytes
		if largest {
			bytes = max(bytes, one)
		} else {
			bytes += one
		}
	}
	return bytes
}
