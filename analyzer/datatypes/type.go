package datatypes

import (
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Type is the memory layout of an MPI datatype, reconstructed from the calls that constructed it
// (MPI 4.0 §5.1). All numbers are bytes.
type Type struct {
	Size           int64 // size of the data: MPI_Type_size
	LB, Extent     int64 // MPI_Type_get_extent
	TrueLB, TrueUB int64 // bounds of the data, regardless of MPI_Type_create_resized
	Blocks         int64 // number of contiguous pieces of data; adjacent ones count as one
	align          int64 // alignment of the most demanding element
	resized        bool  // its bounds were set explicitly and are not padded
	name           string
	parts          []part
}

// A part of a derived type is n elements of another type, the first one at an offset, the others at
// a stride.
type part struct {
	at, n, stride int64
	of            *Type
}

// run returns n contiguous elements of a type from an offset on.
func run(at, n int64, of *Type) part { return part{at, n, of.Extent, of} }

// isRun reports whether a part is one contiguous piece of data.
func (p *part) isRun() bool { return p.of.Blocks == 1 && (p.n == 1 || p.stride == p.of.Size) }

// BlocksOf returns the number of contiguous pieces of data of n elements that follow each other.
func (d *Type) BlocksOf(n int64) int64 {
	whole := part{0, n, d.Extent, d}
	if whole.isRun() {
		return 1
	}
	return n * d.Blocks
}

func (d *Type) ub() int64 { return d.LB + d.Extent }

// derived returns the type of parts. The type of a structure is padded to the alignment of its
// elements (MPI 4.0 §5.1.6).
func derived(structure bool, parts ...part) *Type {
	t := &Type{}
	ub, end := int64(0), int64(math.MinInt64) // end of the last piece
	for _, p := range parts {
		if p.n <= 0 {
			continue
		}
		last := p.at + (p.n-1)*p.stride
		from, to := min(p.at, last), max(p.at, last)
		if len(t.parts) == 0 {
			t.LB, ub = from+p.of.LB, to+p.of.ub()
			t.TrueLB, t.TrueUB = from+p.of.TrueLB, to+p.of.TrueUB
		}
		t.parts = append(t.parts, p)
		switch {
		case !p.isRun():
			t.Blocks, end = t.Blocks+p.n*p.of.Blocks, math.MinInt64
		case p.at+p.of.TrueLB == end:
			end = to + p.of.TrueUB // goes on
		default:
			t.Blocks, end = t.Blocks+1, to+p.of.TrueUB
		}
		t.Size += p.n * p.of.Size
		t.LB, ub = min(t.LB, from+p.of.LB), max(ub, to+p.of.ub())
		t.TrueLB, t.TrueUB = min(t.TrueLB, from+p.of.TrueLB), max(t.TrueUB, to+p.of.TrueUB)
		t.align = max(t.align, p.of.align)
		t.resized = t.resized || p.of.resized
	}
	if len(t.parts) == 1 && t.parts[0].n == 1 && t.parts[0].at == 0 && !structure {
		return t.parts[0].of
	}
	t.Extent = ub - t.LB
	if structure && !t.resized && t.align > 0 {
		t.Extent = (t.Extent + t.align - 1) / t.align * t.align
	}
	return t
}

// bounded returns the type with other bounds.
func (d *Type) bounded(lb, extent int64) *Type {
	t := *d
	t.LB, t.Extent, t.resized = lb, extent, true
	return &t
}

// maxMapText bounds the text of a typemap.
const maxMapText = 1000

// TypeMap returns the typemap (MPI 4.0 §5.1) as text: a predefined type by its name, a derived one
// as its parts in braces, each with its number of elements, their stride unless they are
// contiguous, and the offset of the first,
//
//	{3 MPI_DOUBLE @0, MPI_INT @24, 2 {MPI_INT @0} every 16 @32}
//
// all in bytes. A very long text ends in "…".
func (d *Type) TypeMap() string {
	b := d.appendMap(nil)
	if len(b) > maxMapText {
		return string(b[:maxMapText]) + "…"
	}
	return string(b)
}

func (d *Type) appendMap(b []byte) []byte {
	if d.name != "" {
		return append(b, d.name...)
	}
	b = append(b, '{')
	for i, p := range d.parts {
		if len(b) > maxMapText {
			break
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		if p.n != 1 {
			b = fmt.Appendf(b, "%d ", p.n)
		}
		b = p.of.appendMap(b)
		if p.n != 1 && p.stride != p.of.Extent {
			b = fmt.Appendf(b, " every %d", p.stride)
		}
		b = fmt.Appendf(b, " @%d", p.at)
	}
	return append(b, '}')
}

// Table follows the calls of a rank and maps handles to datatypes. The caller must pass all calls
// of the rank to See, in program order. Types of unsupported calls (those of other languages, and
// the results of MPI_Type_get_contents), and types made of them, are unknown.
type Table struct {
	// Bare is set to keep sizes, bounds and numbers of blocks only, without typemaps, which may
	// have as many parts as an array has elements.
	Bare bool

	live map[int64]*Type
}

// Of returns the current datatype of a value of kind "datatype", false if it is not known.
func (d *Table) Of(v *trace.Value) (Type, bool) {
	switch v.Form {
	case trace.Name:
		return basic(v.Text)
	case trace.Handle:
		if t := d.live[v.Int]; t != nil {
			return *t, true
		}
	}
	return Type{}, false
}

// See adds the next call. It returns the datatype that the call made, nil for other calls and if it
// is not known.
func (d *Table) See(e *trace.Event) *Type {
	switch e.Semantics.Operation {
	case semantics.DatatypeCreate:
		at := e.Output(semantics.Datatype)
		if at == nil || at.Form != trace.Handle {
			return nil
		}
		if d.live == nil {
			d.live = map[int64]*Type{}
		}
		made := d.construct(e)
		if made != nil && d.Bare {
			bare := *made
			bare.parts = nil
			made = &bare
		}
		d.live[at.Int] = made
		return made
	case semantics.DatatypeFree:
		if v := e.Input(semantics.Datatype); v != nil && v.Form == trace.Handle && e.Succeeded() {
			delete(d.live, v.Int)
		}
	}
	return nil
}

// numberOf returns an argument that is a number.
func numberOf(e *trace.Event, role semantics.Role) int64 {
	if v := e.Input(role); v != nil {
		return v.Int
	}
	return 0
}

// elementOf returns the i-th number of an argument that is a list.
func elementOf(e *trace.Event, role semantics.Role, i int64) int64 {
	if v := listedOf(e, role, i); v != nil {
		return v.Int
	}
	return 0
}

// listedOf returns the i-th value of an argument that is a list, nil if there is none.
func listedOf(e *trace.Event, role semantics.Role, i int64) *trace.Value {
	if v := e.Input(role); v != nil && i >= 0 && i < int64(len(v.List)) {
		return &v.List[i]
	}
	return nil
}
