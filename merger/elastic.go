package merger

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// This file decides how the final merge writes values that differ from rank to rank: peers, roots,
// tags, colors, keys, sizes, results.
//
// A slot has a value for each thread of a shape. r is the caller's rank in the communicator of the
// call, or in the world if the call has none. The slot is written in the first of these forms that
// gives all its values:
//
//	constant       c
//	offset         r + b
//	modulo         (r + b) mod n
//	Cartesian      the rank at a displacement in a periodic grid of the program, or in one with as
//	               many points as the world has ranks
//	stride         a + b·(r div c), a + b·(r mod c), a + b·((r div c) mod d)
//	cases          a few constants, names or offsets, and a column with the index of the case
//	column         the values
//
// Of the last two the shorter one is used. So a worker's destination 0 stays 0 for any number of
// workers, and the neighbors of a stencil become a handful of offsets. Pilgrim (SC '21, §3.4.2) has
// the constant and the offset; ScalaTrace II (ICS '13, §3.1) has tables.
//
// A reader derives r from the communicator of a handle by following the calls of one thread. A
// process with several threads may create the communicator on one and use it on another, so such
// calls are written without r.
//
// A slot with one value, of a rank that is unlike all others, is written like that of most such
// ranks (common.go).
//
// The choice depends on the content of all ranks, not on the order of merges. Shards have only
// columns, and cases for names.

// relativeTo returns r of a signature on the threads of a shape, or nil if a reader could not
// derive it. own is the caller's rank according to the signature.
func (e *exporter) relativeTo(s *exported, t *template, own *codec.Numbers) *codec.Numbers {
	switch {
	case !e.final:
		return nil
	case !t.hasComm:
		return &s.world
	case t.onHandle && s.threaded || !own.Within(0, math.MaxInt32+1):
		return nil
	}
	return own
}

// An encodingChoice writes the slots of one signature of a shape.
type encodingChoice struct {
	*exporter
	own   *codec.Numbers // r by place; nil: unknown
	ranks []int64        // the same, computed when needed
}

// rank is r by place, nil if it is unknown.
func (f *encodingChoice) rank() []int64 {
	if f.ranks == nil && f.own != nil {
		f.ranks = f.own.Values(nil)
	}
	return f.ranks
}

// write chooses how the values with these codes are written.
func (f *encodingChoice) write(of codec.Numbers) trace.Value {
	if constant, ok := of.Constant(); ok {
		return f.coded(constant)
	}
	codes := of.Values(nil)
	values, names := numbersOf(codes)
	if !f.final {
		return f.raw(codes, values, names)
	}
	if len(names) == 0 {
		if v, ok := f.ofRank(values); ok {
			return v
		}
	}
	if v, ok := f.cases(codes); ok {
		return v
	}
	return f.raw(codes, values, names)
}

// ofRank returns the function of the rank that gives these values, if there is one.
func (f *encodingChoice) ofRank(values []int64) (trace.Value, bool) {
	for _, way := range []func([]int64) (trace.Value, bool){f.offset, f.modulo, f.cartesian, f.inferred, f.stride} {
		if v, ok := way(values); ok {
			return v, true
		}
	}
	return trace.Value{}, false
}

// coded is the value of a code.
func (f *encodingChoice) coded(code int64) trace.Value {
	if code&1 == 1 {
		return trace.Value{Form: trace.Name, Text: f.table.names[code>>1]}
	}
	return integer(code >> 1)
}

// numbersOf returns the numbers of codes, 0 for names, and the codes of the names in order of first
// use.
func numbersOf(codes []int64) (values, names []int64) {
	values = make([]int64, len(codes))
	for i, code := range codes {
		if code&1 == 0 {
			values[i] = code >> 1
		} else if !slices.Contains(names, code) {
			names = append(names, code)
		}
	}
	return values, names
}

// raw returns a column; if there are names, it returns cases: one for each name and one for the
// column.
func (f *encodingChoice) raw(codes, values, names []int64) trace.Value {
	if len(names) == 0 {
		return trace.Value{Form: trace.Column, Int: f.column(values)}
	}
	which := make([]int64, len(codes))
	v := trace.Value{Form: trace.Elastic, Int: int64(trace.Cases), List: []trace.Value{{}, {}}}
	for _, name := range names {
		v.List = append(v.List, f.coded(name))
	}
	for i, code := range codes {
		if code&1 == 1 {
			which[i] = int64(1 + slices.Index(names, code))
		}
	}
	v.List[0] = integer(f.column(which))
	v.List[1] = trace.Value{Form: trace.Column, Int: f.column(values)}
	return v
}

func (f *encodingChoice) offset(values []int64) (trace.Value, bool) {
	own := f.rank()
	if own == nil {
		return trace.Value{}, false
	}
	b := values[0] - own[0]
	for i, v := range values {
		if v-own[i] != b {
			return trace.Value{}, false
		}
	}
	return trace.Value{Form: trace.RankOffset, Int: b}, true
}

func elastic(operator trace.Operator, operands ...int64) trace.Value {
	v := trace.Value{Form: trace.Elastic, Int: int64(operator), List: make([]trace.Value, len(operands))}
	for i, x := range operands {
		v.List[i] = integer(x)
	}
	return v
}

// modulo takes n from the first two offsets that differ.
func (f *encodingChoice) modulo(values []int64) (trace.Value, bool) {
	own := f.rank()
	if own == nil {
		return trace.Value{}, false
	}
	first, n := values[0]-own[0], int64(0)
	for i, v := range values {
		if b := v - own[i]; b != first {
			n = max(b-first, first-b)
			break
		}
	}
	if n < 2 || n > 1<<31-1 {
		return trace.Value{}, false
	}
	b := floorMod(first, n)
	for i, v := range values {
		if v != floorMod(own[i]+b, n) {
			return trace.Value{}, false
		}
	}
	if b > n/2 {
		b -= n
	}
	return elastic(trace.Modulo, b, n), true
}

func floorMod(x, n int64) int64 {
	if x %= n; x < 0 {
		x += n
	}
	return x
}

// A grid is the extents of a Cartesian communicator.
type grid []int64

func (g grid) size() int64 {
	n := int64(1)
	for _, extent := range g {
		n *= extent
	}
	return n
}

// coordinates of a rank, row-major.
func (g grid) coordinates(rank int64) []int64 {
	at := make([]int64, len(g))
	for i := len(g) - 1; i >= 0; i-- {
		at[i] = rank % g[i]
		rank /= g[i]
	}
	return at
}

// addGrids lists the distinct grids of the communicators.
func (e *exporter) addGrids() {
	seen := map[string]bool{}
	for i := range e.c.Communicators {
		var g grid
		var key []byte
		for _, n := range e.c.Communicators[i].Topology.Dims {
			g = append(g, int64(n))
			key = appendCount(key, int64(n))
		}
		if len(g) > 0 && !seen[string(key)] && slices.Min(g) > 0 {
			seen[string(key)] = true
			e.grids = append(e.grids, g)
		}
	}
}

// shifted returns the rank at a displacement, if from is in the grid.
func (g grid) shifted(from int64, by []int64) (to int64, there bool) {
	rank, stride := int64(0), int64(1)
	for k := len(g) - 1; k >= 0; k-- {
		rank += stride * floorMod(from%g[k]+by[k], g[k])
		stride *= g[k]
		from /= g[k]
	}
	return rank, from == 0
}

func (f *encodingChoice) cartesian(values []int64) (trace.Value, bool) {
	return f.within(f.grids, values)
}

// inferred tries the two- and three-dimensional grids with as many points as the world has ranks.
func (f *encodingChoice) inferred(values []int64) (trace.Value, bool) {
	return f.within(f.worldGrids(), values)
}

// within returns a displacement in one of the grids that gives all values.
func (f *encodingChoice) within(grids []grid, values []int64) (trace.Value, bool) {
	own := f.rank()
	if own == nil {
		return trace.Value{}, false
	}
	for _, g := range grids {
		size := g.size()
		if v, r := values[0], own[0]; v < 0 || v >= size || r >= size {
			continue
		}
		from, to := g.coordinates(own[0]), g.coordinates(values[0])
		by := make([]int64, len(g))
		for k := range g {
			if by[k] = floorMod(to[k]-from[k], g[k]); by[k] > g[k]/2 {
				by[k] -= g[k]
			}
		}
		fits := true
		for i, v := range values {
			if to, there := g.shifted(own[i], by); !there || to != v {
				fits = false
				break
			}
		}
		if fits {
			operands := append([]int64{int64(len(g))}, g...)
			return elastic(trace.Cartesian, append(operands, by...)...), true
		}
	}
	return trace.Value{}, false
}

// worldGrids are the grids of two and three dimensions with as many points as the world has ranks.
func (e *exporter) worldGrids() []grid {
	if e.ofWorld == nil {
		e.ofWorld = []grid{} // none, but computed
		n := int64(e.worldSize)
		var divisors []int64
		for d := int64(2); d <= n/2; d++ {
			if n%d == 0 {
				divisors = append(divisors, d)
			}
		}
		for _, d := range divisors {
			e.ofWorld = append(e.ofWorld, grid{n / d, d})
		}
		for _, d := range divisors {
			for _, c := range divisors {
				if m := n / d; m%c == 0 && m/c > 1 {
					e.ofWorld = append(e.ofWorld, grid{m / c, c, d})
				}
			}
		}
	}
	return e.ofWorld
}

// stride tries the divisors and moduli suggested by the grids and by the values.
func (f *encodingChoice) stride(values []int64) (trace.Value, bool) {
	own := f.rank()
	if own == nil {
		return trace.Value{}, false
	}
	for _, s := range f.strides(values) {
		if v, ok := f.linear(values, s.divisor, s.modulus); ok {
			return v, true
		}
	}
	return trace.Value{}, false
}

type stride struct{ divisor, modulus int64 }

// strides lists the combinations to try: div, mod, both.
func (f *encodingChoice) strides(values []int64) []stride {
	own := f.rank()
	var divisors []int64
	for _, g := range f.grids {
		n := int64(1)
		for i := len(g) - 1; i > 0; i-- {
			n *= g[i]
			divisors = append(divisors, n)
		}
	}
	// where the value changes between neighbors
	for i := 1; i < len(values); i++ {
		if own[i] == own[i-1]+1 && values[i] != values[i-1] && own[i] > 0 {
			divisors = append(divisors, own[i])
			break
		}
	}
	// where the first value repeats, or the values decrease
	for i := 1; i < len(values); i++ {
		if own[i] == own[i-1]+1 && (values[i] == values[0] || values[i] < values[i-1]) && own[i] > 0 {
			divisors = append(divisors, own[i])
			break
		}
	}
	slices.Sort(divisors)
	divisors = slices.Compact(divisors)
	list := []stride{{1, 0}}
	for _, c := range divisors {
		list = append(list, stride{c, 0})
	}
	for _, c := range divisors {
		list = append(list, stride{1, c})
	}
	for _, c := range divisors {
		for _, d := range divisors {
			if d > c && d%c == 0 {
				list = append(list, stride{c, d / c})
			}
		}
	}
	return list
}

// linear fits a + b·((r div c) mod d).
func (f *encodingChoice) linear(values []int64, c, d int64) (trace.Value, bool) {
	own := f.rank()
	quotient := func(r int64) int64 {
		if d == 0 {
			return r / c
		}
		return r / c % d
	}
	q0 := quotient(own[0])
	a, b, known := values[0], int64(0), false
	for i, v := range values {
		q := quotient(own[i])
		if q == q0 {
			if v != values[0] {
				return trace.Value{}, false
			}
			continue
		}
		if !known {
			if (v-values[0])%(q-q0) != 0 {
				return trace.Value{}, false
			}
			b, known = (v-values[0])/(q-q0), true
			a = values[0] - b*q0
		}
		if v != a+b*q {
			return trace.Value{}, false
		}
	}
	return elastic(trace.Stride, a, b, c, d), known
}

const (
	maxCases    = 6
	maxDistinct = 256 // of the values, or offsets, that are still to be covered
)

// cases covers the values greedily: the next case is the constant or offset that gives most of the
// remaining values.
func (f *encodingChoice) cases(codes []int64) (trace.Value, bool) {
	own := f.rank()
	which := make([]int64, len(codes))
	for i := range which {
		which[i] = -1
	}
	v := trace.Value{Form: trace.Elastic, Int: int64(trace.Cases), List: []trace.Value{{}}}
	for left := len(codes); left > 0; {
		if len(v.List) > maxCases {
			return trace.Value{}, false
		}
		constants, offsets := map[int64]int{}, map[int64]int{}
		for i, code := range codes {
			if which[i] >= 0 {
				continue
			}
			if len(constants) <= maxDistinct {
				constants[code]++
			}
			if own != nil && code&1 == 0 && len(offsets) <= maxDistinct {
				offsets[code>>1-own[i]]++
			}
		}
		constant, n := mostFrequent(constants)
		offset, m := mostFrequent(offsets)
		if max(n, m) == 0 || len(constants) > maxDistinct && len(offsets) > maxDistinct {
			return trace.Value{}, false
		}
		number := int64(len(v.List) - 1)
		covers := func(i int) bool { return codes[i] == constant }
		if m > n {
			covers = func(i int) bool { return codes[i]&1 == 0 && codes[i]>>1-own[i] == offset }
			v.List = append(v.List, trace.Value{Form: trace.RankOffset, Int: offset})
		} else {
			v.List = append(v.List, f.coded(constant))
		}
		for i := range codes {
			if which[i] < 0 && covers(i) {
				which[i] = number
				left--
			}
		}
	}
	if values, names := numbersOf(codes); len(names) == 0 {
		if len(codec.AppendSequence(nil, values)) < len(codec.AppendSequence(nil, which))+3*len(v.List) {
			return trace.Value{}, false
		}
	}
	v.List[0] = integer(f.column(which))
	return v, true
}

// mostFrequent returns the key with the highest count; among several, the smallest.
func mostFrequent(counts map[int64]int) (key int64, count int) {
	for k, n := range counts {
		if n > count || n == count && k < key {
			key, count = k, n
		}
	}
	return key, count
}

// betterRelative reports whether a stream has fewer distinct sequences if r is subtracted from its
// values.
func (e *exporter) betterRelative(codes, own *codec.Numbers) bool {
	if _, constant := codes.Constant(); constant || own == nil {
		return false
	}
	absolute, constant, relative := map[int64]bool{}, map[int64]bool{}, map[string]bool{}
	rank := own.Lookup()
	for place, code := range codes.All() {
		if code == noStream {
			return false
		}
		if code&1 == 0 {
			absolute[code] = true
			constant[code>>1-rank(place)] = true
			continue
		}
		absolute[code] = true
		values := e.plus(e.table.sequences.List[code>>1], -rank(place))
		relative[values.Key()] = true
	}
	return len(constant)+len(relative) < len(absolute)
}
