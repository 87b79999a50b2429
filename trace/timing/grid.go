package timing

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A Grid holds the values that intervals of lossy timing may have: 0, 1, and from each one to the next the greatest
// step that an error of so many per cent allows, one tick at least. Any interval lies between two neighbors, and both
// are within the error of it. Steps wider than 2·MomentTicks are divided: an interval there may be any of the marks that
// are markTicks apart from the value below on. Else moments would drift too far with every long interval.
type Grid struct {
	percent int64
	values  []int64
	fine    int           // values up to this index are one tick apart: every interval stands for itself
	near    [nears]uint16 // by the leading bits of intervals: the index of the last value that is above none of them
	ways    []timingWays  // by the index of the value below
	steps   []gridStep    // the values again, each with what a decoder tells of it
}

// A gridStep is a value, and how far apart an interval may be that was rounded to it (StepAt).
type gridStep struct {
	value, step int64
	next        int64 // the value after it
	bits        int   // of the number of a mark, where the step is divided; else 0
}

// timingWays are what an interval between two neighbors can become: the one, or the other where moments drift too far.
type timingWays struct {
	end, one, other int64
	step            int64 // between the two, MomentTicks at most
	wide            bool  // the step is divided
}

// markTicks is how far apart the marks of a divided step are.
const markTicks = MomentTicks / 2

// MaxError is the greatest error of lossy timing, in per cent. The least is 1.
const MaxError = 50

// gridEnd is the end of all grids, in ticks: 2^56 ticks of 3 GHz are 278 days.
const gridEnd = 1 << 56

type gridOnce struct {
	once sync.Once
	grid *Grid
}

var grids [MaxError + 1]gridOnce

// GridOf is the grid for an error of 1 to MaxTimingError per cent.
func GridOf(percent int) (*Grid, error) {
	if percent < 1 || percent > MaxError {
		return nil, fmt.Errorf("trace: a timing error of %d%% is not between 1%% and %d%%", percent, MaxError)
	}
	g := &grids[percent]
	g.once.Do(func() { g.grid = newGrid(int64(percent)) })
	return g.grid, nil
}

// GridOf is the grid of a function's times in a trace.
func (t *Settings) GridOf(function string) (*Grid, error) {
	return GridOf(t.ErrorOf(function))
}

// An interval is found by its leading one and gridBits after it, which are the upper bits of it as a floating-point
// number. Intervals that share them lie so close together that at most one value is among them and not their first: no
// step of a grid is shorter than 1/128.
const (
	gridBits = 7
	nears    = 64 << gridBits
	nearEnd  = 1 << 53 // floating-point numbers below are exact
)

func newGrid(percent int64) *Grid {
	g := &Grid{percent: percent, values: []int64{0, 1}}
	for v := int64(1); v < gridEnd; {
		// v/100 first: no product overflows
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
		case s.bits > 0 && g.steps[k-1].bits == 0: // intervals below may be rounded to it, too
			s.step = v - g.values[k-1]
		case s.bits > 0:
			s.step = onMark
		case v >= int64(g.fine): // else its neighbors are one apart
			s.step = s.next - v
		}
	}
	g.ways = make([]timingWays, len(g.values)-1)
	for k, low := range g.values[:len(g.ways)] {
		high := g.values[k+1]
		step := min(high-low, MomentTicks)
		one, other := low, high
		if k > g.fine && (k-g.fine)&1 != 0 { // low is of those in between
			one, other = high, low
		}
		g.ways[k] = timingWays{high, one, other, step, g.steps[k].bits > 0}
	}
	return g
}

// leadingBits is the length of x, 0 < x < nearEnd, and the bits after its leading one.
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

// below is the same for 0 ≤ x < gridEnd.
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

// index is where x stands in the grid, with the number of its mark where a step is divided; −1 for nowhere.
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

// mark is the value or mark that is nearest to x, 0 < x < nearEnd, in a divided step; false where x is in no such.
func (g *Grid) mark(x int64) (int64, bool) {
	k := g.belowNear(x)
	if !g.ways[k].wide {
		return 0, false
	}
	s := &g.steps[k]
	return min(s.next, s.value+(x-s.value+markTicks/2)/markTicks*markTicks), true
}

// A Rounder rounds the intervals of one thread, gap and duration of one call after the other, so that none is wrong
// by more than the error of its grid and no moment by more than MomentTicks. The zero value begins.
//
// Rounding goes by the rounded moment before, so errors do not add up. Every second value of a grid would do for the first
// bound, and fewer different values make a smaller trace. The others are taken where rounding to the former would let the
// moments drift too far. How far is too far follows what the thread does now: Recent, the widest step between two values
// that an interval was rounded by since the last anchor, which fades by 1/256 with each interval.
//
// An interval in a divided step ends at the nearest mark from where the moment is: the moment is off by markTicks/2 at most
// then, whatever it was before.
//
// An anchor is an interval that is kept off the grid, so that its end is exact. It takes the place of a rounded one:
//   - where both values would let the moment be off by more than MomentTicks,
//   - where an interval is twice as long as any before (MPI_Init, mostly),
//   - once in anchorEvery intervals without a mark.
//
// So a moment is off by no more than the widest step since the last anchor or mark, either, or markTicks/2 (MomentBound).
type Rounder struct {
	Longest, Recent int64 // ticks
	Drift           int64 // ticks by which the rounded moments are ahead
	Since           int64 // intervals since the last anchor or mark
}

// MomentTicks is by how much a moment of lossy timing is off at most, in ticks of the thread's clock: 22 µs with a time
// stamp counter of 3 GHz, 66 µs where a tick is a nanosecond.
const MomentTicks = 1 << 16

// anchorEvery is after how many intervals an anchor is due. It takes four bytes or so.
const anchorEvery = 1 << 12

// Round rounds intervals in place. Negative ones, of nested calls, and those of a month stay as they are.
func (r *Rounder) Round(g *Grid, intervals []int64) {
	longest, recent, ahead := r.Longest, r.Recent, r.Drift
	due := int(anchorEvery - r.Since) // from this one on
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
				// the step is wider than MomentTicks and what the moments were ahead, so this is within the error of x
				rounded, drift, recent, due = x-ahead, 0, 0, i+1+anchorEvery
			}
		}
		ahead, intervals[i] = drift, rounded
	}
	r.Longest, r.Recent, r.Drift = longest, recent, ahead
	r.Since = int64(anchorEvery + len(intervals) - due)
}

// anchors reports whether an interval x can be kept so that its end is exact: within the error of x, and off the grid, or
// nobody would know.
func (g *Grid) anchors(x, ahead int64) bool {
	exact := x - ahead
	return Magnitude(ahead)*100 <= x*g.percent && exact > 0 && exact < nearEnd && g.StepAt(exact) == offGrid
}

// Magnitude is x without its sign.
func Magnitude(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
