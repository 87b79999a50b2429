package timing

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A Grid is the set of values that intervals of lossy timing are rounded to: 0, 1, and from each
// value the largest step to the next that the error allows, at least one tick. Any interval lies
// between two neighbors and is within the error of both.
//
// A step wider than 2·MomentTicks is divided into marks, markTicks apart from the lower value on;
// an interval there is rounded to a mark. Otherwise every long interval would let moments drift too
// far.
type Grid struct {
	percent int64
	values  []int64
	fine    int           // values up to this index are one tick apart: every such interval is exact
	near    [nears]uint16 // by the leading bits of intervals: index of the last value that is above none of them
	ways    []timingWays  // by the index of the value below
	steps   []gridStep    // the values with what a decoder needs to know of each
}

// A gridStep is a value of the grid, and the largest distance to an interval that was rounded to it
// (StepAt).
type gridStep struct {
	value, step int64
	next        int64 // the value after it
	bits        int   // size in bits of a mark's number where the step is divided; else 0
}

// timingWays are the two neighbors that an interval between them can be rounded to: the one, or the
// other where moments drift too far.
type timingWays struct {
	end, one, other int64
	step            int64 // between the two, MomentTicks at most
	wide            bool  // the step is divided
}

// markTicks is the distance of neighboring marks in a divided step.
const markTicks = MomentTicks / 2

// MaxError is the greatest error of lossy timing, in per cent. The least is 1.
const MaxError = 50

// gridEnd is the end of all grids in ticks: 2^56 ticks at 3 GHz are 278 days.
const gridEnd = 1 << 56

type gridOnce struct {
	once sync.Once
	grid *Grid
}

var grids [MaxError + 1]gridOnce

// GridOf returns the grid for an error of 1 to MaxError per cent.
func GridOf(percent int) (*Grid, error) {
	if percent < 1 || percent > MaxError {
		return nil, fmt.Errorf("trace: a timing error of %d%% is not between 1%% and %d%%", percent, MaxError)
	}
	g := &grids[percent]
	g.once.Do(func() { g.grid = newGrid(int64(percent)) })
	return g.grid, nil
}

// GridOf returns the grid for the times of a function.
func (t *Settings) GridOf(function string) (*Grid, error) {
	return GridOf(t.ErrorOf(function))
}

// An interval is looked up by its leading one and the gridBits bits after it: the upper bits of it
// as a floating-point number. Intervals that share them are so close together that at most one
// value of the grid is among them, not counting the first of them: no step of a grid is shorter
// than 1/128.
const (
	gridBits = 7
	nears    = 64 << gridBits
	nearEnd  = 1 << 53 // floating-point numbers below are exact
)

func newGrid(percent int64) *Grid {
	g := &Grid{percent: percent, values: []int64{0, 1}}
	for v := int64(1); v < gridEnd; {
		// v/100 first, so that no product overflows
		next := v + v/100*percent + v%100*percent/100
		if next <= v+1 {
			next = v + 1
			g.fine = len(g.values)
		}
		v = next
		g.values = append(g.values, v)
	}
	k := 1
	for x := int64(1); x < nearEnd; {
		for g.values[k+1] <= x {
			k++
		}
		i := leadingBits(x)
		g.near[i] = uint16(k)
		x += max(1, int64(1)<<bits.Len64(uint64(x))>>(gridBits+1)) // the next range begins there
	}
	g.steps = make([]gridStep, len(g.values))
	for k, v := range g.values {
		s := &g.steps[k]
		s.value, s.next = v, v
		if k+1 < len(g.values) {
			s.next = g.values[k+1]
		}
		if step := s.next - v; step > 2*MomentTicks {
			s.bits = bits.Len64(uint64((step - 1) / markTicks))
		}
		switch {
		case v >= nearEnd:
			s.step = notRounded
		case s.bits > 0 && g.steps[k-1].bits == 0: // lower intervals may be rounded to it, too
			s.step = v - g.values[k-1]
		case s.bits > 0:
			s.step = onMark
		case v >= int64(g.fine): // otherwise its neighbors are one tick apart
			s.step = s.next - v
		}
	}
	g.ways = make([]timingWays, len(g.values)-1)
	for k, low := range g.values[:len(g.ways)] {
		high := g.values[k+1]
		step := min(high-low, MomentTicks)
		one, other := low, high
		if k > g.fine && (k-g.fine)&1 != 0 { // low is one of those in between
			one, other = high, low
		}
		g.ways[k] = timingWays{high, one, other, step, g.steps[k].bits > 0}
	}
	return g
}

// leadingBits is the length of x, 0 < x < nearEnd, followed by the bits after its leading one.
func leadingBits(x int64) uint {
	return uint(math.Float64bits(float64(x))>>(52-gridBits)) % nears
}

// belowNear is the index of the greatest value that is not above x, 0 < x < nearEnd.
func (g *Grid) belowNear(x int64) int {
	k := int(g.near[leadingBits(x)])
	if g.ways[k].end <= x {
		k++
	}
	return k
}

// below is the same as belowNear for 0 ≤ x < gridEnd.
func (g *Grid) below(x int64) int {
	if 0 < x && x < nearEnd {
		return g.belowNear(x)
	}
	k, found := slices.BinarySearch(g.values, x)
	if !found {
		k--
	}
	return k
}

// index is the index of x in the grid, and the number of its mark if the step is divided; −1 if x
// is not on the grid.
func (g *Grid) index(x int64) (k int, mark int64) {
	last := len(g.values) - 1
	switch {
	case x == g.values[last]:
		return last, 0
	case x < 0 || x >= gridEnd:
		return -1, 0
	}
	k = g.below(x)
	s := &g.steps[k]
	beyond := x - s.value
	if beyond == 0 || s.bits > 0 && beyond%markTicks == 0 {
		return k, beyond / markTicks
	}
	return -1, 0
}

// mark is the value or mark nearest to x, 0 < x < nearEnd, in a divided step; false if the step of
// x is not divided.
func (g *Grid) mark(x int64) (int64, bool) {
	k := g.belowNear(x)
	if !g.ways[k].wide {
		return 0, false
	}
	s := &g.steps[k]
	return min(s.next, s.value+(x-s.value+markTicks/2)/markTicks*markTicks), true
}

// A Rounder rounds the intervals of one thread, the gap and the duration of one call after the
// other. It guarantees that the error of an interval is within that of its grid, and the error of a
// moment is at most MomentTicks. The zero value is ready to use.
//
// Rounding starts from the rounded moment before, so errors do not add up. Every second value of a
// grid would be enough for the first bound, and fewer different values make a smaller trace. The
// other values are used where rounding to the former would let the moments drift too far. How far
// is too far depends on what the thread does at present: Recent, the widest step that an interval
// was rounded by since the last anchor, decaying by 1/256 with each interval.
//
// An interval in a divided step ends at the mark nearest to the exact moment. So the error of the
// moment is at most markTicks/2 then, whatever it was before.
//
// An anchor is an interval that is kept off the grid, so that its end is exact. It is used instead
// of rounding:
//
//   - where both values would let the error of the moment exceed MomentTicks,
//   - where an interval is twice as long as any before (mostly MPI_Init),
//   - once in anchorEvery intervals without a mark.
//
// So the error of a moment is also at most the larger of the widest step since the last anchor or
// mark and markTicks/2 (MomentBound).
type Rounder struct {
	Longest, Recent int64 // ticks
	Drift           int64 // ticks by which the rounded moments are ahead of the exact ones
	Since           int64 // intervals since the last anchor or mark
}

// MomentTicks is the maximum error of a moment of lossy timing, in ticks of the thread's clock: 22
// µs with a time stamp counter of 3 GHz, 66 µs if a tick is a nanosecond.
const MomentTicks = 1 << 16

// anchorEvery is the number of intervals after which an anchor is due. An anchor takes about four
// bytes.
const anchorEvery = 1 << 12

// Round rounds intervals in place. Negative ones (of nested calls) and those beyond the end of the
// grid are not changed.
func (r *Rounder) Round(g *Grid, intervals []int64) {
	longest, recent, ahead := r.Longest, r.Recent, r.Drift
	due := int(anchorEvery - r.Since) // index of the next anchor
	for i, x := range intervals {
		if uint64(x) >= nearEnd {
			continue
		}
		if x > longest || i >= due {
			exact := i >= due || x >= 2*longest
			longest = max(longest, x)
			if exact && g.anchors(x, ahead) {
				intervals[i], ahead, recent, due = x-ahead, 0, 0, i+1+anchorEvery
				continue
			}
		}
		if x == 0 {
			continue
		}
		ways := &g.ways[g.belowNear(x)]
		if exact := x - ahead; ways.wide && exact < nearEnd {
			if mark, ok := g.mark(exact); ok {
				intervals[i], ahead, recent, due = mark, mark-exact, markTicks/2, i+1+anchorEvery
				continue
			}
		}
		rounded := ways.one
		if rounded == x {
			continue
		}
		recent = max(recent-recent>>8, ways.step)
		off := ahead - x
		drift := off + rounded
		if Magnitude(drift) > recent {
			if d := off + ways.other; Magnitude(d) < Magnitude(drift) {
				rounded, drift = ways.other, d
			}
			if Magnitude(drift) > MomentTicks {
				// The step is wider than MomentTicks plus the drift, so this is within the error of
				// x.
				rounded, drift, recent, due = x-ahead, 0, 0, i+1+anchorEvery
			}
		}
		ahead, intervals[i] = drift, rounded
	}
	r.Longest, r.Recent, r.Drift = longest, recent, ahead
	r.Since = int64(anchorEvery + len(intervals) - due)
}

// anchors reports whether an interval x can be kept so that its end is exact: the kept interval
// must be within the error of x, and off the grid, so that a reader recognizes it.
func (g *Grid) anchors(x, ahead int64) bool {
	exact := x - ahead
	return Magnitude(ahead)*100 <= x*g.percent && exact > 0 && exact < nearEnd && g.StepAt(exact) == offGrid
}

// Magnitude returns the absolute value of x.
func Magnitude(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
