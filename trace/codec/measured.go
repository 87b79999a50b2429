package codec

import "math/bits"

// Measurements of ranks are alike but never equal: their last digits are noise that nobody needs.
// So they are rounded, and written as differences from the mean of similar ranks.

// Rounded rounds a count as measurements are stored in a trace. It is exact up to 128; above, there
// are 64 evenly spaced numbers between successive powers of two, so the error is at most 1/128. −1
// (unknown) stays.
func Rounded(v int64) int64 { return Unrounded(RoundedCode(v)) }

// RoundedNS rounds a time in ns in the same way, in steps of 8,192 ns: the error is at most 4,096
// ns or 1/128, whichever is more.
func RoundedNS(ns int64) int64 { return UnroundedNS(RoundedNSCode(ns)) }

// unknown is the value of what could not be measured.
const unknown = -1

// Codes of rounded numbers: c < 64 is c; c ≥ 64 is (64 + c mod 64) · 2^(c div 64 − 1); −1 is −1.
const (
	RoundedBits = 6
	MaxRounded  = (63-RoundedBits)<<RoundedBits | 1<<RoundedBits - 1
)

// RoundedCode is the code of a count, which it rounds.
func RoundedCode(v int64) int64 {
	if v < 2<<RoundedBits {
		return max(v, unknown)
	}
	shift := bits.Len64(uint64(v)) - RoundedBits - 1
	m := (uint64(v) + 1<<(shift-1)) >> shift // 2^roundedBits to 2^(roundedBits+1)
	return min(int64(shift)<<RoundedBits+int64(m), MaxRounded)
}

// Unrounded is the count that a code stands for.
func Unrounded(code int64) int64 {
	if code < 2<<RoundedBits {
		return code
	}
	return (1<<RoundedBits + code&(1<<RoundedBits-1)) << (code>>RoundedBits - 1)
}

// measuredUnit is the resolution in ns of times of evidence. MaxRoundedNS bounds their codes, so
// that times stay within 2^59 ns.
const (
	measuredUnit = 1 << 13
	MaxRoundedNS = 40 << RoundedBits
)

// RoundedNSCode is the code of a time in ns, rounded to steps of 8,192 ns;
// UnroundedNS is the inverse.
func RoundedNSCode(ns int64) int64 { return min(RoundedCode(InUnits(ns, measuredUnit)), MaxRoundedNS) }

// UnroundedNS is the time in ns that a code stands for, −1 for a negative code.
func UnroundedNS(code int64) int64 {
	if code < 0 {
		return unknown
	}
	return Unrounded(code) * measuredUnit
}

// InUnits is a count in multiples of unit, rounded to the nearest. Unknown (−1) stays.
func InUnits(v, unit int64) int64 {
	if v < 0 {
		return unknown
	}
	return v/unit + (v%unit+unit/2)/unit
}

// A Grouping is an order of rows: sorted by group, groups in the order of their first rows, rows of
// a group in their own order.
type Grouping struct {
	order []int32
	ends  []int // end of each group in order
}

// GroupRows groups rows by a number of each row.
func GroupRows(of []int64) Grouping {
	var next []int // number of rows of each group, then the position of the next row
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

// expect predicts a column in the order of the groups. next returns the expected value of the next
// row and tell passes its actual value. The expectation is the mean, rounded down, of the rows
// before it in its group; for the first row of a group it is the mean of the whole previous group.
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

// Measured writes a column of measurements in the order of a grouping.
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

// Measured reads what SectionWriter.Measured wrote. Values outside [low, high) are an error.
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

// Grouping groups rows while they are being read.
func (d *Decoder) Grouping(n int, of func() []int64) *Grouping {
	if d.Err != nil || !d.Temporary(int64(n)*32) {
		return &Grouping{}
	}
	g := GroupRows(of())
	return &g
}
