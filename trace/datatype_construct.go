package trace

import "strings"

// construct is the type that a constructor made (MPI 4.0 §5.1.2 to §5.1.5), nil where it is not known.
func (d *Datatypes) construct(e *Event) *Datatype {
	old := &Datatype{}
	if v := e.argument("oldtype"); v != nil {
		t, ok := d.Of(v)
		if !ok {
			return nil
		}
		old = &t
	}
	count, blocklength := e.number("count"), e.number("blocklength")
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(e.Function.Name, "MPI_Type_"), "create_"), "_c")
	switch name {
	case "contiguous":
		return derived(false, run(0, count, old))
	case "dup":
		return old
	case "resized":
		return old.bounded(e.number("lb"), e.number("extent"))
	case "vector":
		return vector(count, blocklength, e.number("stride")*old.Extent, old)
	case "hvector":
		return vector(count, blocklength, e.number("stride"), old)
	case "indexed", "hindexed", "indexed_block", "hindexed_block":
		parts := make([]part, 0, max(count, 0))
		for i := range count {
			at, n := e.element("array_of_displacements", i), blocklength
			if !strings.HasPrefix(name, "h") {
				at *= old.Extent
			}
			if !strings.HasSuffix(name, "_block") {
				n = e.element("array_of_blocklengths", i)
			}
			parts = append(parts, run(at, n, old))
		}
		return derived(false, parts...)
	case "struct":
		var parts []part
		for i := range count {
			v := e.listed("array_of_types", i)
			if v == nil {
				return nil
			}
			of, ok := d.Of(v)
			if !ok {
				return nil
			}
			parts = append(parts, run(e.element("array_of_displacements", i), e.element("array_of_blocklengths", i), &of))
		}
		return derived(true, parts...)
	case "subarray":
		return subarray(e, old)
	case "darray":
		return darray(e, old)
	case "f90_integer", "f90_real", "f90_complex":
		return f90(name, e)
	}
	return nil
}

func vector(count, blocklength, stride int64, old *Datatype) *Datatype {
	if blocklength == 1 {
		return derived(false, part{0, count, stride, old})
	}
	return derived(false, part{0, count, stride, derived(false, run(0, blocklength, old))})
}

// dimensions yields the dimensions of an array from the one whose elements follow each other to the outermost.
func dimensions(e *Event) func(func(int64) bool) {
	n, order := e.number("ndims"), e.argument("order")
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
func subarray(e *Event, old *Datatype) *Datatype {
	t, stride := old, old.Extent
	for i := range dimensions(e) {
		t = derived(false, part{e.element("array_of_starts", i) * stride, e.element("array_of_subsizes", i), stride, t})
		stride *= e.element("array_of_sizes", i)
	}
	return t.bounded(0, stride)
}

// darray is what a process of a grid has of an array that is distributed over it, with the extent of the whole array
// (MPI 4.0 §5.1.4). The grid is in row-major order whatever the order of the array.
func darray(e *Event, old *Datatype) *Datatype {
	ndims := e.number("ndims")
	place := make([]int64, max(ndims, 0))
	left := e.number("rank")
	for i := ndims - 1; i >= 0; i-- {
		processes := e.element("array_of_psizes", i)
		if processes < 1 {
			return nil
		}
		place[i], left = left%processes, left/processes
	}
	t, stride := old, old.Extent
	for i := range dimensions(e) {
		size, processes := e.element("array_of_gsizes", i), e.element("array_of_psizes", i)
		argument, distribution := e.listed("array_of_dargs", i), e.listed("array_of_distribs", i)
		if argument == nil || distribution == nil {
			return nil
		}
		block := argument.Int
		byDefault := argument.Form == Name
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
		// every processes-th block, the last one as far as the array goes
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

// An f90Kind has so many decimal digits and exponents; an integer has a range only.
type f90Kind struct {
	digits, exponent int64
	name             string
}

// f90 is the smallest of gfortran's kinds with so many decimal digits and such exponents (selected_real_kind,
// selected_int_kind; MPI 4.0 §19.1.9).
func f90(name string, e *Event) *Datatype {
	wanted := func(parameter string) int64 {
		if v := e.argument(parameter); v != nil && v.Form == Int {
			return v.Int
		}
		return 0 // MPI_UNDEFINED
	}
	digits, exponent := wanted("p"), wanted("r")
	kinds := map[string][]f90Kind{
		"f90_integer": {{0, 2, "MPI_INTEGER1"}, {0, 4, "MPI_INTEGER2"}, {0, 9, "MPI_INTEGER4"}, {0, 18, "MPI_INTEGER8"}, {0, 38, "MPI_INTEGER16"}},
		"f90_real":    {{6, 37, "MPI_REAL4"}, {15, 307, "MPI_REAL8"}, {33, 4931, "MPI_REAL16"}},
		"f90_complex": {{6, 37, "MPI_COMPLEX8"}, {15, 307, "MPI_COMPLEX16"}, {33, 4931, "MPI_COMPLEX32"}},
	}[name]
	for _, k := range kinds {
		if digits <= k.digits && exponent <= k.exponent {
			t, _ := basic(k.name)
			return &t
		}
	}
	return nil
}
