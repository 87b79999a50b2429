package datatypes

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// construct returns the type that a constructor made (MPI 4.0 §5.1.2 to §5.1.5), nil if it is not
// known.
func (d *Table) construct(e *trace.Event) *Type {
	old := &Type{}
	if v := e.Input(semantics.OldDatatype); v != nil {
		t, ok := d.Of(v)
		if !ok {
			return nil
		}
		old = &t
	}
	count, blocklength := numberOf(e, semantics.Count), numberOf(e, semantics.BlockLength)
	how := e.Semantics.Datatype
	switch how {
	case semantics.Contiguous:
		return derived(false, run(0, count, old))
	case semantics.Duplicate:
		return old
	case semantics.Resized:
		return old.bounded(numberOf(e, semantics.LowerBound), numberOf(e, semantics.Extent))
	case semantics.Vector:
		return vector(count, blocklength, numberOf(e, semantics.Stride)*old.Extent, old)
	case semantics.HVector:
		return vector(count, blocklength, numberOf(e, semantics.Stride), old)
	case semantics.Indexed, semantics.HIndexed, semantics.IndexedBlock, semantics.HIndexedBlock:
		parts := make([]part, 0, max(count, 0))
		for i := range count {
			at, n := elementOf(e, semantics.TypeDisplacements, i), blocklength
			if how == semantics.Indexed || how == semantics.IndexedBlock {
				at *= old.Extent
			}
			if how == semantics.Indexed || how == semantics.HIndexed {
				n = elementOf(e, semantics.BlockLengths, i)
			}
			parts = append(parts, run(at, n, old))
		}
		return derived(false, parts...)
	case semantics.Structure:
		var parts []part
		for i := range count {
			v := listedOf(e, semantics.OldDatatypes, i)
			if v == nil {
				return nil
			}
			of, ok := d.Of(v)
			if !ok {
				return nil
			}
			parts = append(parts, run(elementOf(e, semantics.TypeDisplacements, i), elementOf(e, semantics.BlockLengths, i), &of))
		}
		return derived(true, parts...)
	case semantics.Subarray:
		return subarray(e, old)
	case semantics.DistributedArray:
		return darray(e, old)
	case semantics.F90Integer, semantics.F90Real, semantics.F90Complex:
		return f90(how, e)
	}
	return nil
}

func vector(count, blocklength, stride int64, old *Type) *Type {
	if blocklength == 1 {
		return derived(false, part{0, count, stride, old})
	}
	return derived(false, part{0, count, stride, derived(false, run(0, blocklength, old))})
}

// dimensions yields the dimensions of an array, from the contiguous one to the outermost.
func dimensions(e *trace.Event) func(func(int64) bool) {
	n, order := numberOf(e, semantics.Dimensions), e.Input(semantics.Order)
	fortran := order != nil && order.Text == "MPI_ORDER_FORTRAN"
	return func(yield func(int64) bool) {
		for k := range n {
			i := n - 1 - k
			if fortran {
				i = k
			}
			if !yield(i) {
				return
			}
		}
	}
}

// subarray has the extent of the whole array (MPI 4.0 §5.1.3).
func subarray(e *trace.Event, old *Type) *Type {
	t, stride := old, old.Extent
	for i := range dimensions(e) {
		t = derived(false, part{elementOf(e, semantics.Starts, i) * stride, elementOf(e, semantics.Subsizes, i), stride, t})
		stride *= elementOf(e, semantics.Sizes, i)
	}
	return t.bounded(0, stride)
}

// darray returns the part of a distributed array that a process of a grid has, with the extent of
// the whole array (MPI 4.0 §5.1.4). The grid is in row-major order whatever the order of the array.
func darray(e *trace.Event, old *Type) *Type {
	ndims := numberOf(e, semantics.Dimensions)
	place := make([]int64, max(ndims, 0))
	left := numberOf(e, semantics.GridRank)
	for i := ndims - 1; i >= 0; i-- {
		processes := elementOf(e, semantics.Grid, i)
		if processes < 1 {
			return nil
		}
		place[i], left = left%processes, left/processes
	}
	t, stride := old, old.Extent
	for i := range dimensions(e) {
		size, processes := elementOf(e, semantics.Sizes, i), elementOf(e, semantics.Grid, i)
		argument, distribution := listedOf(e, semantics.DistributionArguments, i), listedOf(e, semantics.Distributions, i)
		if argument == nil || distribution == nil {
			return nil
		}
		block := argument.Int
		byDefault := argument.Form == trace.Name
		switch {
		case distribution.Text == "MPI_DISTRIBUTE_NONE":
			block, processes, place[i] = size, 1, 0
		case distribution.Text == "MPI_DISTRIBUTE_BLOCK" && byDefault:
			block = (size + processes - 1) / processes
		case byDefault:
			block = 1
		}
		if block < 1 {
			return nil
		}
		// every processes-th block; the last one may be incomplete
		round, first := block*processes, place[i]*block
		mine := max(0, size-first)
		whole, rest := mine/round, mine%round
		if rest >= block {
			whole, rest = whole+1, 0
		}
		t = derived(false,
			part{first * stride, whole, round * stride, derived(false, part{0, block, stride, t})},
			part{(first + whole*round) * stride, min(1, rest), 0, derived(false, part{0, rest, stride, t})})
		stride *= size
	}
	return t.bounded(0, stride)
}

// An f90Kind is a Fortran kind with its decimal digits and exponents; an integer has a range only.
type f90Kind struct {
	digits, exponent int64
	name             string
}

// f90 returns the smallest of gfortran's kinds with the requested decimal digits and exponents
// (selected_real_kind, selected_int_kind; MPI 4.0 §19.1.9).
func f90(how semantics.DatatypeConstructor, e *trace.Event) *Type {
	wanted := func(role semantics.Role) int64 {
		if v := e.Input(role); v != nil && v.Form == trace.Int {
			return v.Int
		}
		return 0 // MPI_UNDEFINED
	}
	digits, exponent := wanted(semantics.Digits), wanted(semantics.ExponentRange)
	kinds := map[semantics.DatatypeConstructor][]f90Kind{
		semantics.F90Integer: {{0, 2, "MPI_INTEGER1"}, {0, 4, "MPI_INTEGER2"}, {0, 9, "MPI_INTEGER4"}, {0, 18, "MPI_INTEGER8"}, {0, 38, "MPI_INTEGER16"}},
		semantics.F90Real:    {{6, 37, "MPI_REAL4"}, {15, 307, "MPI_REAL8"}, {33, 4931, "MPI_REAL16"}},
		semantics.F90Complex: {{6, 37, "MPI_COMPLEX8"}, {15, 307, "MPI_COMPLEX16"}, {33, 4931, "MPI_COMPLEX32"}},
	}[how]
	for _, k := range kinds {
		if digits <= k.digits && exponent <= k.exponent {
			t, _ := basic(k.name)
			return &t
		}
	}
	return nil
}
