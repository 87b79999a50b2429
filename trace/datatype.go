package trace

import "strings"

// A Datatype is what a datatype of MPI takes in memory, rebuilt from the calls that constructed it (MPI 4.0 §5.1). All
// numbers are bytes.
type Datatype struct {
	Size           int64 // of the data: MPI_Type_size
	LB, Extent     int64 // MPI_Type_get_extent
	TrueLB, TrueUB int64 // of the data, whatever MPI_Type_create_resized says
	align          int64 // of the most demanding element
	resized        bool  // its bounds were set, and are not padded
}

func (d *Datatype) ub() int64 { return d.LB + d.Extent }

// Datatypes follows the calls of a rank and knows what each handle of a datatype stands for. Feed it all calls of the
// rank in their order. Types that some call made that it does not know (MPI_Type_create_darray, types of other
// languages) are not there, nor what is made of them.
type Datatypes struct {
	live map[int64]*Datatype
}

// Of is what a value of kind "datatype" stands for now; false where that is not known.
func (d *Datatypes) Of(v *Value) (Datatype, bool) {
	switch v.Form {
	case Name:
		n, ok := basicSizes[v.Text]
		return Datatype{Size: n, Extent: n, TrueUB: n, align: n}, ok
	case Handle, Int:
		if t := d.live[v.Int]; t != nil {
			return *t, true
		}
	}
	return Datatype{}, false
}

// basicSizes are those of the 64-bit ABIs of Linux (LP64).
var basicSizes = map[string]int64{
	"MPI_CHAR": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_BYTE": 1, "MPI_PACKED": 1, "MPI_INT8_T": 1,
	"MPI_UINT8_T": 1, "MPI_C_BOOL": 1, "MPI_CXX_BOOL": 1, "MPI_CHARACTER": 1, "MPI_INTEGER1": 1,
	"MPI_SHORT": 2, "MPI_UNSIGNED_SHORT": 2, "MPI_INT16_T": 2, "MPI_UINT16_T": 2, "MPI_INTEGER2": 2,
	"MPI_INT": 4, "MPI_UNSIGNED": 4, "MPI_FLOAT": 4, "MPI_INT32_T": 4, "MPI_UINT32_T": 4, "MPI_WCHAR": 4,
	"MPI_INTEGER": 4, "MPI_REAL": 4, "MPI_LOGICAL": 4, "MPI_INTEGER4": 4, "MPI_REAL4": 4,
	"MPI_LONG": 8, "MPI_UNSIGNED_LONG": 8, "MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_UNSIGNED_LONG_LONG": 8,
	"MPI_DOUBLE": 8, "MPI_INT64_T": 8, "MPI_UINT64_T": 8, "MPI_AINT": 8, "MPI_OFFSET": 8, "MPI_COUNT": 8,
	"MPI_DOUBLE_PRECISION": 8, "MPI_INTEGER8": 8, "MPI_REAL8": 8,
}

// See takes the next call.
func (d *Datatypes) See(e *Event) {
	switch e.Function.Class {
	case "datatype-create":
		if made, at := d.construct(e); at != nil && at.Form == Handle {
			if d.live == nil {
				d.live = map[int64]*Datatype{}
			}
			d.live[at.Int] = made
		}
	case "datatype-free":
		if v := e.argument("datatype"); v != nil && v.Form == Handle && e.Return.Int == 0 {
			delete(d.live, v.Int)
		}
	}
}

// argument is the value of a parameter before the call, or after it where it is an out parameter; nil if there is none.
func (e *Event) argument(name string) *Value {
	for a := range e.arguments {
		if a.parameter.Name != name {
			continue
		}
		if a.before != nil {
			return a.before
		}
		return a.after
	}
	return nil
}

// number is an argument that is a number.
func (e *Event) number(name string) int64 {
	if v := e.argument(name); v != nil {
		return v.Int
	}
	return 0
}

// element is the i-th number of an argument that is a list.
func (e *Event) element(name string, i int64) int64 {
	if v := e.argument(name); v != nil && i >= 0 && i < int64(len(v.List)) {
		return v.List[i].Int
	}
	return 0
}

// A block is n elements of a type, one after the other, from a place on.
type block struct {
	at, n int64
	of    Datatype
}

// construct is the type that a constructor made (nil where it is not known) and its handle.
func (d *Datatypes) construct(e *Event) (made *Datatype, handle *Value) {
	handle = e.argument("newtype")
	if handle == nil {
		return nil, nil
	}
	var old Datatype
	if v := e.argument("oldtype"); v != nil {
		var ok bool
		if old, ok = d.Of(v); !ok {
			return nil, handle
		}
	}
	var blocks []block
	count := e.number("count")
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(e.Function.Name, "MPI_Type_"), "create_"), "_c")
	switch name {
	case "contiguous":
		blocks = []block{{0, count, old}}
	case "dup":
		return &old, handle
	case "resized":
		t := old
		t.LB, t.Extent, t.resized = e.number("lb"), e.number("extent"), true
		return &t, handle
	case "vector", "hvector":
		stride := e.number("stride")
		if name == "vector" {
			stride *= old.Extent
		}
		for i := range min(count, 2) { // the ends say it all
			blocks = append(blocks, block{[]int64{0, count - 1}[i] * stride, e.number("blocklength"), old})
		}
		t := together(blocks, false)
		t.Size = count * e.number("blocklength") * old.Size
		return &t, handle
	case "indexed", "hindexed", "indexed_block", "hindexed_block":
		for i := range count {
			at, n := e.element("array_of_displacements", i), e.number("blocklength")
			if !strings.HasPrefix(name, "h") {
				at *= old.Extent
			}
			if !strings.HasSuffix(name, "_block") {
				n = e.element("array_of_blocklengths", i)
			}
			blocks = append(blocks, block{at, n, old})
		}
	case "struct":
		types := e.argument("array_of_types")
		for i := range count {
			if types == nil || i >= int64(len(types.List)) {
				return nil, handle
			}
			of, ok := d.Of(&types.List[i])
			if !ok {
				return nil, handle
			}
			blocks = append(blocks, block{e.element("array_of_displacements", i), e.element("array_of_blocklengths", i), of})
		}
		t := together(blocks, true)
		return &t, handle
	case "subarray":
		return subarray(e, &old), handle
	default:
		return nil, handle
	}
	t := together(blocks, false)
	return &t, handle
}

// together is the type of blocks. That of a structure is padded to the alignment of its elements (MPI 4.0 §5.1.6).
func together(blocks []block, structure bool) Datatype {
	var t Datatype
	first, ub := true, int64(0)
	for _, b := range blocks {
		if b.n == 0 {
			continue
		}
		t.Size += b.n * b.of.Size
		last := b.at + (b.n-1)*b.of.Extent
		from, to := min(b.at, last), max(b.at, last)
		if first {
			t.LB, ub = from+b.of.LB, to+b.of.ub()
			t.TrueLB, t.TrueUB = from+b.of.TrueLB, to+b.of.TrueUB
			first = false
		}
		t.LB, ub = min(t.LB, from+b.of.LB), max(ub, to+b.of.ub())
		t.TrueLB, t.TrueUB = min(t.TrueLB, from+b.of.TrueLB), max(t.TrueUB, to+b.of.TrueUB)
		t.align = max(t.align, b.of.align)
		t.resized = t.resized || b.of.resized
	}
	t.Extent = ub - t.LB
	if structure && !t.resized && t.align > 0 {
		t.Extent = (t.Extent + t.align - 1) / t.align * t.align
	}
	return t
}

// subarray has the extent of the whole array.
func subarray(e *Event, old *Datatype) *Datatype {
	whole, part := int64(1), int64(1)
	first, last, stride := int64(0), int64(0), old.Extent
	n := e.number("ndims")
	order := e.argument("order")
	fortran := order != nil && order.Text == "MPI_ORDER_FORTRAN"
	for k := range n {
		i := n - 1 - k
		if fortran {
			i = k
		}
		size, sub, start := e.element("array_of_sizes", i), e.element("array_of_subsizes", i), e.element("array_of_starts", i)
		first += start * stride
		last += (start + sub - 1) * stride
		stride *= size
		whole, part = whole*size, part*sub
	}
	return &Datatype{
		Size: part * old.Size, Extent: whole * old.Extent, TrueLB: first + old.TrueLB, TrueUB: last + old.TrueUB,
		align: old.align, resized: true,
	}
}
