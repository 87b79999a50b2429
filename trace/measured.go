package trace

import "math/bits"

// What was measured of ranks is alike and never equal: its last digits are chance, and nobody asks for them. So it is rounded,
// and written as what it differs by from the mean of what is like it.

// Rounded is a count as a trace holds what was measured: exact up to 128, else the nearest of 64 evenly spaced numbers from a
// power of two to the next, so off by 1/128 of it at most. −1, which is not known, stays.
func Rounded(v int64) int64 { return unrounded(roundedCode(v)) }

// RoundedNS is a time in ns, likewise: in steps of 8,192 ns, and off by 1/128 of it at most where that is more.
func RoundedNS(ns int64) int64 { return unroundedNS(roundedNS(ns)) }

// unknown is the value of what could not be measured.
const unknown = -1

// Codes of rounded numbers: c < 64 is c; c ≥ 64 is (64 + c mod 64) · 2^(c div 64 − 1); −1 is −1.
const (
	roundedBits = 6
	maxRounded  = (63-roundedBits)<<roundedBits | 1<<roundedBits - 1
)

func roundedCode(v int64) int64 {
	if v < 2<<roundedBits {
		return max(v, unknown)
	}
	shift := bits.Len64(uint64(v)) - roundedBits - 1
	m := (uint64(v) + 1<<(shift-1)) >> shift // 2^roundedBits to 2^(roundedBits+1)
	return min(int64(shift)<<roundedBits+int64(m), maxRounded)
}

func unrounded(code int64) int64 {
	if code < 2<<roundedBits {
		return code
	}
	return (1<<roundedBits + code&(1<<roundedBits-1)) << (code>>roundedBits - 1)
}

// measuredUnit is in which steps of ns times of evidence are known, maxRoundedNS a bound of their codes that keeps them
// within 2^59 ns.
const (
	measuredUnit = 1 << 13
	maxRoundedNS = 40 << roundedBits
)

func roundedNS(ns int64) int64 { return min(roundedCode(inUnits(ns, measuredUnit)), maxRoundedNS) }

func unroundedNS(code int64) int64 {
	if code < 0 {
		return unknown
	}
	return unrounded(code) * measuredUnit
}

// inUnits is a count in a unit, rounded to the nearest. What is unknown stays so.
func inUnits(v, unit int64) int64 {
	if v < 0 {
		return unknown
	}
	return v/unit + (v%unit+unit/2)/unit
}

// A grouping is an order of rows: those of one group after the other, groups by their first rows, and in a group as they are.
type grouping struct {
	order []int32
	ends  []int // of the groups
}

// groupRows groups rows by a number that each has.
func groupRows(of []int64) grouping {
	var next []int // how many rows each group has, then where the next one goes
	place := map[int64]int{}
	for _, v := range of {
		k, known := place[v]
		if !known {
			k = len(next)
			place[v] = k
			next = append(next, 0)
		}
		next[k]++
	}
	g := grouping{make([]int32, len(of)), make([]int, len(next))}
	at := 0
	for k, n := range next {
		next[k], at = at, at+n
		g.ends[k] = at
	}
	for i, v := range of {
		k := place[v]
		g.order[next[k]] = int32(i)
		next[k]++
	}
	return g
}

// expect gives a function that is told number by number, in the order of the groups, and says what each is expected to be
// before: the mean of those before it in its group, rounded down; of a group's first one, that of the whole group before.
func (g *grouping) expect() (next func() int64, tell func(v int64)) {
	group, at, n, sum, mean := 0, 0, int64(0), int64(0), int64(0)
	return func() int64 { return mean }, func(v int64) {
		n++
		sum += v
		mean = sum / n
		if sum%n < 0 {
			mean--
		}
		if at++; group < len(g.ends) && at == g.ends[group] {
			group, n, sum = group+1, 0, 0
		}
	}
}

// measured writes a column of what was measured, in the order of a grouping.
func (s *sectionWriter) measured(list *Numbers, g *grouping) {
	values := list.Values(nil)
	expected, tell := g.expect()
	s.column(len(values), func(i int) int64 {
		v := values[g.order[i]]
		d := v - expected()
		tell(v)
		return d
	})
}

// measured reads what sectionWriter.measured wrote of numbers from low up to, but not including, high.
func (d *decoder) measured(g *grouping, low, high int64) (list Numbers) {
	before := d.scratch
	defer func() {
		d.budget.give(d.scratch - before)
		d.scratch = before
	}()
	values := d.column(len(g.order))
	if d.err != nil || !d.temporary(int64(len(values))*8) {
		return list
	}
	all := make([]int64, len(values))
	expected, tell := g.expect()
	for i, v := range values {
		v += expected()
		if v < low || v >= high {
			d.fail(errNumber)
			return Numbers{}
		}
		tell(v)
		all[g.order[i]] = v
	}
	list = NewNumbers(all...)
	if !d.budget.take(list.bytes()) {
		d.fail(errMemory)
		return Numbers{}
	}
	return list
}

// grouping groups rows that are being read.
func (d *decoder) grouping(n int, of func() []int64) *grouping {
	if d.err != nil || !d.temporary(int64(n)*32) {
		return &grouping{}
	}
	g := groupRows(of())
	return &g
}
