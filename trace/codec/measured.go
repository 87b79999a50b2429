package codec

import "math/bits"

// What was measured of ranks is alike and never equal: its last digits are chance, and nobody asks for them. So it is rounded,
// and written as what it differs by from the mean of what is like it.

// Rounded is a count as a trace holds what was measured: exact up to 128, else the nearest of 64 evenly spaced numbers from a
// power of two to the next, so off by 1/128 of it at most. −1, which is not known, stays.
func Rounded(v int64) int64 { return Unrounded(RoundedCode(v)) }

// RoundedNS is a time in ns, likewise: in steps of 8,192 ns, and off by 1/128 of it at most where that is more.
func RoundedNS(ns int64) int64 { return UnroundedNS(RoundedNSCode(ns)) }

// unknown is the value of what could not be measured.
const unknown = -1

// Codes of rounded numbers: c < 64 is c; c ≥ 64 is (64 + c mod 64) · 2^(c div 64 − 1); −1 is −1.
const (
	RoundedBits = 6
	MaxRounded  = (63-RoundedBits)<<RoundedBits | 1<<RoundedBits - 1
)

// RoundedCode is the code of a count that is to be rounded.
func RoundedCode(v int64) int64 {
	if v < 2<<RoundedBits {
		return max(v, unknown)
	}
	shift := bits.Len64(uint64(v)) - RoundedBits - 1
	m := (uint64(v) + 1<<(shift-1)) >> shift // 2^roundedBits to 2^(roundedBits+1)
	return min(int64(shift)<<RoundedBits+int64(m), MaxRounded)
}

// Unrounded is the count of a code.
func Unrounded(code int64) int64 {
	if code < 2<<RoundedBits {
		return code
	}
	return (1<<RoundedBits + code&(1<<RoundedBits-1)) << (code>>RoundedBits - 1)
}

// measuredUnit is in which steps of ns times of evidence are known, MaxRoundedNS a bound of their codes that keeps them
// within 2^59 ns.
const (
	measuredUnit = 1 << 13
	MaxRoundedNS = 40 << RoundedBits
)

// RoundedNSCode is the code of a time in ns, rounded to steps of 8,192 ns; UnroundedNS is the inverse.
func RoundedNSCode(ns int64) int64 { return min(RoundedCode(InUnits(ns, measuredUnit)), MaxRoundedNS) }

// UnroundedNS is the time in ns of a code, −1 of one below 0.
func UnroundedNS(code int64) int64 {
	if code < 0 {
		return unknown
	}
	return Unrounded(code) * measuredUnit
}

// InUnits is a count in a unit, rounded to the nearest. What is unknown stays so.
func InUnits(v, unit int64) int64 {
	if v < 0 {
		return unknown
	}
	return v/unit + (v%unit+unit/2)/unit
}

// A Grouping is an order of rows: those of one group after the other, groups by their first rows, and in a group as they are.
type Grouping struct {
	order []int32
	ends  []int // of the groups
}

// GroupRows groups rows by a number that each has.
func GroupRows(of []int64) Grouping {
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
	g := Grouping{make([]int32, len(of)), make([]int, len(next))}
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

// expect gives a function that is given number by number, in the order of the groups, and says what each is expected to be
// before: the mean of those before it in its group, rounded down; of a group's first one, that of the whole group before.
func (g *Grouping) expect() (next func() int64, tell func(v int64)) {
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

// Measured writes a column of what was measured, in the order of a grouping.
func (s *SectionWriter) Measured(list *Numbers, g *Grouping) {
	values := list.Values(nil)
	expected, tell := g.expect()
	s.Column(len(values), func(i int) int64 {
		v := values[g.order[i]]
		d := v - expected()
		tell(v)
		return d
	})
}

// Measured reads what SectionWriter.Measured wrote of numbers from low up to, but not including, high.
func (d *Decoder) Measured(g *Grouping, low, high int64) (list Numbers) {
	before := d.Scratch
	defer func() {
		d.Budget.Give(d.Scratch - before)
		d.Scratch = before
	}()
	values := d.Column(len(g.order))
	if d.Err != nil || !d.Temporary(int64(len(values))*8) {
		return list
	}
	all := make([]int64, len(values))
	expected, tell := g.expect()
	for i, v := range values {
		v += expected()
		if v < low || v >= high {
			d.Fail(ErrNumber)
			return Numbers{}
		}
		tell(v)
		all[g.order[i]] = v
	}
	list = NewNumbers(all...)
	if !d.Budget.Take(list.Bytes()) {
		d.Fail(ErrMemory)
		return Numbers{}
	}
	return list
}

// Grouping groups rows that are being read.
func (d *Decoder) Grouping(n int, of func() []int64) *Grouping {
	if d.Err != nil || !d.Temporary(int64(n)*32) {
		return &Grouping{}
	}
	g := GroupRows(of())
	return &g
}
