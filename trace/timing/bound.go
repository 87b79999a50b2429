package timing

// The error bounds of lossy timing, in one place for everything that compares times:
//
//   - An interval (the duration of a call or the gap before it) is within the error of its function
//     (Settings.IntervalBound).
//   - A moment (the enter or exit of a call relative to the thread's first enter) is within
//     MomentTicks ticks of the thread's clock. The intervals before it can give a tighter bound
//     (Event.EnterError, Event.ExitError).

// IntervalBound returns the maximum error of an interval of a function, in the unit of interval.
func (t *Settings) IntervalBound(function string, interval int64) int64 {
	if t.Mode != Lossy || interval <= 0 {
		return 0
	}
	return shareOf(interval, int64(t.ErrorOf(function)))
}

// MomentLimit returns the maximum error in ticks of a moment (the enter or exit of a call, relative
// to the thread's first enter). It is 0 unless timing is lossy.
func (t *Settings) MomentLimit() int64 {
	if t.Mode != Lossy {
		return 0
	}
	return MomentTicks
}

// shareOf returns percent/100 of x, rounded down, without overflow.
func shareOf(x, percent int64) int64 { return x/100*percent + x%100*percent/100 }

// A MomentBound bounds the error of the moments of a thread, in ticks, interval by interval. It is
// 0 at the thread's first enter.
//
//   - An interval on the grid changes the error by at most its step (Rounder).
//   - An interval in a divided step ends near the exact moment.
//   - An interval off the grid ends at the exact moment.
//
// Where a block of timing begins only the limit MomentTicks is known: the result of a cursor must
// not depend on where it began to read.
type MomentBound struct{ Ticks int64 }

// Reset sets the bound to the limit.
func (b *MomentBound) Reset() { b.Ticks = MomentTicks }

// pass moves to the end of an interval. g is its grid, nil for intervals that are not rounded.
func (b *MomentBound) pass(g *Grid, interval int64) {
	if g != nil {
		b.Move(g.StepAt(interval))
	}
}

// Move is pass for a known step of the grid at the interval.
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

// Special values of a step.
const (
	offGrid    = -1 // the interval is off the grid, so that its end is exact
	notRounded = -2 // intervals of this length are not rounded
	onMark     = -3 // the step is divided: the error of the end is at most markTicks/2
)

// StepAt returns the largest distance between an interval x on the grid and an interval that was
// rounded to it.
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
