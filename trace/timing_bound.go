package trace

// Bounds of lossy timing: what is stated of the times of a trace, in one place for all who compare times.
//
//   - An interval, which is the duration of a call or the gap before it, is within the error of its function
//     (TimingSettings.IntervalBound).
//   - A moment, which is the enter or exit of a call relative to the thread's first enter, is within
//     MomentTicks ticks of the thread's clock. What the trace says of the intervals before it can narrow
//     that down further (Event.EnterError, Event.ExitError).

// IntervalBound is by how much the trace may be off in an interval of a function that was so long, in the same unit.
func (t *TimingSettings) IntervalBound(function string, interval int64) int64 {
	if t.Mode != TimingLossy || interval <= 0 {
		return 0
	}
	return shareOf(interval, int64(t.ErrorOf(function)))
}

// shareOf is so many per cent of x, rounded down, without overflow.
func shareOf(x, percent int64) int64 { return x/100*percent + x%100*percent/100 }

// A momentBound follows by how much the moments of a thread may be off, in ticks, from interval to interval. It begins
// with 0 at the thread's first enter. Intervals on the grid move a moment by no more than their step (TimingRounder), one
// in a divided step ends near the exact moment, one off the grid ends in it. Where a block of timing begins nothing is
// known but MomentTicks: what a cursor says must not depend on where it began to read.
type momentBound struct{ ticks int64 }

// lose says that nothing is known but the limit.
func (b *momentBound) lose() { b.ticks = MomentTicks }

// pass goes on to the end of an interval; g is its grid, nil for intervals that are not rounded.
func (b *momentBound) pass(g *TimingGrid, interval int64) {
	if g != nil {
		b.move(g.stepAt(interval))
	}
}

// move is pass where the step at the interval is at hand.
func (b *momentBound) move(step int64) {
	switch step {
	case notRounded:
	case offGrid:
		b.ticks = 0
	case onMark:
		b.ticks = markTicks / 2
	default:
		b.ticks = min(max(b.ticks, step), MomentTicks)
	}
}

// Instead of a step.
const (
	offGrid    = -1 // the interval is kept so that its end is exact
	notRounded = -2 // intervals of its length are kept as they are
	onMark     = -3 // the step is divided: its end is off by markTicks/2 at most
)

// stepAt is how far apart an interval on the grid may be from one that was rounded to it.
func (g *TimingGrid) stepAt(x int64) int64 {
	if x < 0 || x >= nearEnd {
		return notRounded
	}
	switch k, mark := g.index(x); {
	case k < 0:
		return offGrid
	case mark > 0:
		return onMark
	default:
		return g.steps[k].step
	}
}
