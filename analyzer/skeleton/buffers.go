package skeleton

import (
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// buffers is the size of the memory that calls send from and receive into, in bytes.
type buffers struct {
	message int64 // of one call, for any number of ranks
	block   int64 // per rank, for calls with a block for each
	before  int64 // before the address that is passed: types may have negative lower bounds
	unknown bool  // there is a type of unknown size
}

// unknownType is the size assumed for an element of a type of unknown size.
const unknownType = 64

// see records the next call of a rank.
func (b *buffers) see(w *walker, e *trace.Event) {
	f := e.Semantics
	if f == nil || f.In[semantics.Buffer] < 0 && f.Out[semantics.Buffer] < 0 {
		return
	}
	blocks := f.In[semantics.ReceiveCount] >= 0 && f.Collective
	b.side(w, e, f.In[semantics.Count], f.In[semantics.Datatype], f.In[semantics.Displacements], blocks)
	b.side(w, e, f.In[semantics.ReceiveCount], f.In[semantics.ReceiveDatatype], f.In[semantics.ReceiveDisplacements], blocks)
	b.side(w, e, f.In[semantics.ReceiveCount], f.In[semantics.Datatype], -1, true)
	b.side(w, e, f.In[semantics.TargetCount], f.In[semantics.TargetDatatype], -1, false)
	in := 0
	for i := range e.Function.Parameters {
		p := &e.Function.Parameters[i]
		if p.Direction == trace.Out {
			continue
		}
		if p.Kind == "bytes" && in < len(e.In) && e.In[in].Form == trace.Int {
			b.message = max(b.message, e.In[in].Int)
		}
		in++
	}
}

// side records one side of an exchange: indices of its arguments.
func (b *buffers) side(w *walker, e *trace.Event, count, datatype, displacements int8, blocks bool) {
	if count < 0 || datatype < 0 || int(max(count, datatype)) >= len(e.In) {
		return
	}
	counts, types := &e.In[count], &e.In[datatype]
	if counts.Form != trace.List {
		need := b.span(w, counts.Int*partitions(e), types)
		if blocks && counts.Form == trace.Int {
			b.block = max(b.block, need)
		} else if counts.Form == trace.Int {
			b.message = max(b.message, need)
		}
		return
	}
	at := int64(0)
	for i := range counts.List {
		typ := types
		bytes := false
		if types.Form == trace.List && i < len(types.List) {
			typ, bytes = &types.List[i], true
		}
		need := b.span(w, counts.List[i].Int, typ)
		if displacements < 0 || int(displacements) >= len(e.In) || i >= len(e.In[displacements].List) {
			at += need // for calls that place the parts one after the other
			b.message = max(b.message, at)
			continue
		}
		place := e.In[displacements].List[i].Int
		if !bytes {
			place *= b.typeOf(w, typ).Extent
		}
		b.message = max(b.message, place+need)
		b.before = max(b.before, -place)
	}
}

// partitions is the number of parts of a message, each of as many elements as the call has.
func partitions(e *trace.Event) int64 {
	if at := e.Semantics.In[semantics.Partitions]; at >= 0 && int(at) < len(e.In) && e.In[at].Form == trace.Int {
		return e.In[at].Int
	}
	return 1
}

func (b *buffers) typeOf(w *walker, v *trace.Value) datatypes.Type {
	if t, known := w.types.Of(v); known {
		return t
	}
	b.unknown = b.unknown || v.Form == trace.Handle
	return datatypes.Type{Size: unknownType, Extent: unknownType, TrueUB: unknownType}
}

// span returns the extent in bytes of n elements of a type.
func (b *buffers) span(w *walker, n int64, typ *trace.Value) int64 {
	if n <= 0 || typ.Form == trace.Absent {
		return 0
	}
	t := b.typeOf(w, typ)
	last := (n - 1) * t.Extent
	b.before = max(b.before, -t.TrueLB, -(last + t.TrueLB))
	return max(t.TrueUB, last+t.TrueUB)
}
