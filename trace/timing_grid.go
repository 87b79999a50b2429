package trace

import (
	"fmt"
	"math/bits"
	"sync"
)

// A TimingGrid holds the values that intervals of lossy timing may have: 0, 1, and from each one to the next the greatest
// step that an error of so many per cent allows, one tick at least. Any interval lies between two neighbours, and both
// are within the error of it.
type TimingGrid struct {
	percent int64
	values  []int64
	fine    int      // values up to this index are one tick apart: every interval stands for itself
	near    []uint16 // by the leading bits of an interval: the index of a value not above it
}

// MaxTimingError is the greatest error of lossy timing, in per cent. The least is 1.
const MaxTimingError = 50

// gridEnd is the end of all grids, in ticks: 2^56 ticks of 3 GHz are 278 days.
const gridEnd = 1 << 56

var grids [MaxTimingError + 1]struct {
	once sync.Once
	grid *TimingGrid
}

// GridOf is the grid for an error of 1 to MaxTimingError per cent.
func GridOf(percent int) (*TimingGrid, error) {
	if percent < 1 || percent > MaxTimingError {
		return nil, fmt.Errorf("trace: a timing error of %d%% is not between 1%% and %d%%", percent, MaxTimingError)
	}
	g := &grids[percent]
	g.once.Do(func() { g.grid = newGrid(int64(percent)) })
	return g.grid, nil
}

// gridBits is how many bits after the leading one find a place in the grid.
const gridBits = 6

func newGrid(percent int64) *TimingGrid {
	g := &TimingGrid{percent: percent, values: []int64{0, 1}}
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
	g.near = make([]uint16, 64<<gridBits)
	k := 0
	for i := range g.near {
		for k+1 < len(g.values) && g.values[k+1] <= leastOf(i) {
			k++
		}
		g.near[i] = uint16(k)
	}
	return g
}

// leadingBits is the length of x and the bits after its leading one.
func leadingBits(x int64) int {
	n := bits.Len64(uint64(x))
	return (n<<gridBits | int(uint64(x)<<(64-n)>>(63-gridBits))&(1<<gridBits-1)) & (64<<gridBits - 1)
}

// leastOf is the least x with these leading bits.
func leastOf(i int) int64 {
	n, rest := i>>gridBits, int64(i&(1<<gridBits-1))
	switch {
	case n == 0:
		return 0
	case n <= gridBits:
		return (1<<gridBits + rest) >> (gridBits + 1 - n)
	}
	return (1<<gridBits + rest) << (n - 1 - gridBits)
}

// below is the index of the greatest value that is not above x, 0 ≤ x < gridEnd.
func (g *TimingGrid) below(x int64) int {
	k := int(g.near[leadingBits(x)])
	for g.values[k+1] <= x {
		k++
	}
	return k
}

// index is where x stands in the grid, −1 for nowhere.
func (g *TimingGrid) index(x int64) int {
	if x < 0 || x >= gridEnd {
		if last := len(g.values) - 1; x == g.values[last] {
			return last
		}
		return -1
	}
	if k := g.below(x); g.values[k] == x {
		return k
	}
	return -1
}

// A TimingRounder rounds the intervals of one thread, gap and duration of one call after the other, so that none is wrong
// by more than the error of its grid and no moment by more than the greatest error times the longest interval so far.
// The zero value begins.
//
// Every second value of a grid would do for the first bound, and fewer different values make a smaller trace. The
// others are for the second one: where rounding to the former would let the moments drift too far, it goes the other
// way. How far is too far follows what the thread does now: Recent, the longest interval, which fades by 1/256 with
// each interval. An interval that is twice as long as any before (MPI_Init, mostly) is kept as it is, for its error
// would stay with all later moments.
type TimingRounder struct {
	Longest, Recent int64 // ticks
	Drift           int64 // ticks by which the rounded moments are ahead
}

// Round gives the value for x ≥ 0. Negative ones, of nested calls, and enormous ones stay as they are.
func (r *TimingRounder) Round(g *TimingGrid, x int64) int64 {
	if x < 0 || x >= gridEnd {
		return x
	}
	r.Recent -= r.Recent >> 8
	r.Recent = max(r.Recent, x)
	if x >= 2*r.Longest {
		r.Longest = x
		return x
	}
	r.Longest = max(r.Longest, x)
	k := g.below(x)
	low := g.values[k]
	if low == x && k <= g.fine {
		return x
	}
	choice, other := low, g.values[k+1]
	if (k-g.fine)&1 != 0 {
		choice, other = other, low
		if low == x { // it is of those in between
			other = x
		}
	} else if low == x {
		return x
	}
	drift := r.Drift + choice - x
	if magnitude(drift)*100 > r.Recent*g.percent { // neither product overflows
		if d := r.Drift + other - x; magnitude(d) < magnitude(drift) {
			choice, drift = other, d
		}
	}
	r.Drift = drift
	return choice
}

func magnitude(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
