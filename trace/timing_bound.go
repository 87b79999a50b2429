package trace

import "encoding/binary"

// Bounds of lossy timing: what is stated of the times of a trace, in one place for all who compare times.
//
//   - An interval, which is the duration of a call or the gap before it, is within the error of its function
//     (TimingSettings.IntervalBound).
//   - A moment, which is the enter or exit of a call relative to the thread's first enter, is within
//     TimingSettings.MomentTicks ticks of the thread's clock. What the trace says of the intervals before it can narrow
//     that down further (Event.EnterError, Event.ExitError).
//
// Traces from before MomentTicks was stated have 0 there. Their moments are within the error of the longest interval so
// far.

// IntervalBound is by how much the trace may be off in an interval of a function that was so long, in the same unit.
func (t *TimingSettings) IntervalBound(function string, interval int64) int64 {
	if t.Mode != TimingLossy || interval <= 0 {
		return 0
	}
	return shareOf(interval, int64(t.ErrorOf(function)))
}

// appendMoments writes by how much a moment may be off.
func appendMoments(t *TimingSettings) []byte { return binary.AppendUvarint(nil, uint64(t.MomentTicks)) }

// moments reads what appendMoments wrote; the mode of timing is known.
func (d *decoder) moments(t *TimingSettings) {
	ticks := d.uvarint()
	if t.Mode != TimingLossy || ticks == 0 || ticks > gridEnd {
		d.fail(errNumber)
		return
	}
	t.MomentTicks = int64(ticks)
}

// shareOf is so many per cent of x, rounded down, without overflow.
func shareOf(x, percent int64) int64 { return x/100*percent + x%100*percent/100 }

// A momentBound follows by how much the moments of a thread may be off, in ticks, from interval to interval. It begins
// with 0 at the thread's first enter. Intervals on the grid move a moment by no more than their step (TimingRounder), one
// in a divided step ends near the exact moment, one off the grid ends in it. Where a block of timing begins nothing is known but the limit: what a cursor says
// must not depend on where it began to read.
type momentBound struct {
	limit  int64 // TimingSettings.MomentTicks
	ticks  int64
	legacy bool // the limit is not stated
}

func newMomentBound(t *TimingSettings) momentBound {
	return momentBound{limit: t.MomentTicks, legacy: t.MomentTicks == 0}
}

// lose says that nothing is known but the limit.
func (b *momentBound) lose() {
	if !b.legacy {
		b.ticks = b.limit
	}
}

// pass goes on to the end of an interval; g is its grid, nil for intervals that are not rounded.
func (b *momentBound) pass(g *TimingGrid, interval int64) {
	if g != nil {
		b.move(g, interval, g.stepAt(interval))
	}
}

// move is pass where the step at the interval is at hand.
func (b *momentBound) move(g *TimingGrid, interval, step int64) {
	switch {
	case step == notRounded:
	case b.legacy:
		b.passLegacy(g, interval, step != offGrid)
	case step == offGrid:
		b.ticks = 0
	case step == onMark:
		b.ticks = min(markTicks/2, b.limit)
	default:
		b.ticks = min(max(b.ticks, step), b.limit)
	}
}

// passLegacy is for roundings that let moments drift by a share of the longest interval lately. It fades at a quarter of
// the pace of theirs, because what has drifted comes back little by little. Intervals off the grid were kept as they were.
func (b *momentBound) passLegacy(g *TimingGrid, interval int64, on bool) {
	b.ticks -= b.ticks >> 10
	if on {
		b.ticks = max(b.ticks, shareOf(interval, g.percent))
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
