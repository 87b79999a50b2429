package volume

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Buffer says which inputs of a collective function's calls tell how large the largest buffer of the caller is: that is the n
// of textbook costs of collectives (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005), where the largest one of all
// participants is taken. Of a neighborhood collective it is the largest block that goes to, or comes from, a neighbor.
type Buffer struct {
	sides    [2]side
	neighbor bool
}

// A side of an exchange: what is sent, and what is received.
type side struct {
	count, datatype int8 // −1: none
	perPeer         bool
}

// BufferOf is that of a function.
func BufferOf(f *semantics.Function) Buffer {
	send := side{f.In[semantics.Count], f.In[semantics.Datatype], f.PerPeer}
	receive := side{f.In[semantics.ReceiveCount], f.In[semantics.ReceiveDatatype], f.ReceivePerPeer}
	if receive.datatype < 0 { // MPI_Reduce_scatter
		receive.datatype = send.datatype
	}
	return Buffer{[2]side{send, receive}, f.Operation == semantics.Neighbor}
}

// Of is the size of a call of a trace with these communicators, in bytes: 0 where it has none, or none that is known. The
// sizes of predefined datatypes are known. A side that does not count, as with MPI_IN_PLACE, is left out.
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

// sizeOfList is the sum, or the largest, of counts of elements, all of one datatype or each of its own.
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
