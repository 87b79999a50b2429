package timing

// Bounds of lossy timing: what is stated of the times of a trace, in one place for all who compare times.
//
//   - An interval, which is the duration of a call or the gap before it, is within the error of its function
//     (Settings.IntervalBound).
//   - A moment, which is the enter or exit of a call relative to the thread's first enter, is within
//     MomentTicks ticks of the thread's clock. What the trace says of the intervals before it can narrow
//     that down further (Event.EnterError, Event.ExitError).

// IntervalBound is by how much the trace may be off in an interval of a function that was so long, in the same unit.
func (t *Settings) IntervalBound(function string, interval int64) int64 {
	if t.Mode != Lossy || interval <= 0 {
		return 0
	}
	return shareOf(interval, int64(t.ErrorOf(function)))
}

// MomentLimit is by how much the trace may be off in a moment (the enter or exit of a call, relative to the thread's first
// enter), in ticks. 0 unless timing is lossy.
func (t *Settings) MomentLimit() int64 {
	if t.Mode != Lossy {
		return 0
	}
	return MomentTicks
}

// shareOf is so many per cent of x, rounded down, without overflow.
func shareOf(x, percent int64) int64 { return x/100*percent + x%100*percent/100 }

// A MomentBound follows by how much the moments of a thread may be off, in ticks, from interval to interval. It begins
// with 0 at the thread's first enter. Intervals on the grid move a moment by no more than their step (Rounder), one
// in a divided step ends near the exact moment, one off the grid ends in it. Where a block of timing begins nothing is
// known but MomentTicks: what a cursor says must not depend on where it began to read.
type MomentBound struct{ Ticks int64 }

// Lose says that nothing is known but the limit.
func (b *MomentBound) Lose() { b.Ticks = MomentTicks }

// pass goes on to the end of an interval; g is its grid, nil for intervals that are not rounded.
func (b *MomentBound) pass(g *Grid, interval int64) {
	if g != nil {
		b.Move(g.StepAt(interval))
	}
}

// Move is pass where the step at the interval is at hand.
func (b *MomentBound) Move(step int64) {
	switch step {
	case notRounded:
	case offGrid:
		b.Ticks = 0
	case onMark:
		b.Ticks = markTicks / 2
	default:
		b.Ticks = min(max(b.Ticks, step), MomentTicks)
	}
}

// Instead of a step.
const (
	offGrid    = -1 // the interval is kept so that its end is exact
	notRounded = -2 // intervals of its length are kept as they are
	onMark     = -3 // the step is divided: its end is off by markTicks/2 at most
)

// StepAt is how far apart an interval on the grid may be from one that was rounded to it.
func (g *Grid) StepAt(x int64) int64 {
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
