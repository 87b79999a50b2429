package polling

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Between an unsuccessful test and the next one, a rank was either idle (it slept, yielded its CPU,
// or was preempted: it waits), or it computed (it overlaps, which is not waiting). The calls alone
// do not show the difference, so the counters of the operating system decide (trace.ContextSample).
// docs/analysis.md describes the rule.

// Parameters of the decision on gaps longer than MaxGap.
const (
	// usualShare: if a call site has this many short gaps for each long one, the loop only polls,
	// and a long gap is an exception.
	usualShare = 8
	// clearShare: if at least this fraction of the time between two samples is in gaps, these
	// samples decide alone. Otherwise the intervals with at least nearlyMost of the largest
	// fraction decide together.
	clearShare = 0.8
	nearlyMost = 0.9
	// fewGaps: if less than this fraction of the time is in gaps, intervals that contain the start
	// of MPI are used, too.
	fewGaps = 0.2
	// ofGaps: fraction of the gaps in which a rank must have yielded its CPU to count as sleeping.
	// sleepRuns: fraction of the gaps' length in which it may run, to fall asleep and to wake up.
	ofGaps    = 0.8
	sleepRuns = 0.35
	// yieldRuns is the corresponding fraction for a rank that lets others run.
	yieldRuns = 0.1
	// oftenLost: number of context switches per gap that indicates preemptions, which also occur in
	// shorter gaps, rather than work.
	oftenLost = 1.5
	// testRuns: time, in nanoseconds, for which an unsuccessful test runs at most. A longer one is
	// taken to be off the CPU for the rest: a sleep takes at least 50 µs (timerslack_ns, prctl(2)).
	testRuns = 50_000
	// majority: for a rank to count as working in spite of preemptions, this fraction of the time
	// must be in exceptional gaps, and the rank must have run in this fraction of them.
	majority = 0.5
	// fewExceptions: up to this fraction of the time, exceptional gaps are ignored.
	fewExceptions = 0.05
)

// Gaps determines in which gaps between polls the ranks of a trace were idle.
type Gaps struct {
	trace     timeline.Trace
	locations []timeline.Location
	idle      []idleness // by location
}

// NewGaps returns the Gaps of a trace. A location is analyzed, in a pass over its calls, when it
// first has a long gap.
func NewGaps(t timeline.Trace) *Gaps {
	locations := timeline.Locations(t)
	return &Gaps{t, locations, make([]idleness, len(locations))}
}

// Of returns a LocationGaps for the calls of a location.
func (g *Gaps) Of(location int) *LocationGaps { return &LocationGaps{gaps: g, location: location} }

// A LocationGaps follows the calls of one location.
type LocationGaps struct {
	gaps     *Gaps
	location int
	asking   asking
}

// See adds the next call of the location and returns its kind, for Attempt.See.
func (l *LocationGaps) See(e *trace.Event) Poll {
	kind := Of(e)
	if kind == Aside {
		if gap := e.Enter - e.Overhead - l.asking.left; l.asking.vain && gap > MaxGap && l.idle(l.asking.asker, gap, e) {
			kind |= Idle
		}
		l.asking.left += e.Overhead
		return kind
	}
	asker, gap := l.asking.next(kind, e)
	if asker == nil || gap > MaxGap && !l.idle(*asker, gap, e) {
		return kind
	}
	if kind == None {
		kind = Hit
	}
	if gap > MaxGap {
		kind |= Idle
	}
	return kind
}

// idle reports whether the location was idle in a gap before a call.
func (l *LocationGaps) idle(after asker, gap int64, e *trace.Event) bool {
	return l.gaps.idleness(l.location).in(after, e.Enter-gap, e.Enter)
}

// idleness returns the analysis of a location.
func (g *Gaps) idleness(location int) *idleness {
	x := &g.idle[location]
	x.once.Do(func() { x.measure(g.trace, g.locations[location]) })
	return x
}

// An asker is a polling function at a call site.
type asker struct {
	function uint16
	site     uint32
}

// asking is a location's latest call, except those that are Aside.
type asking struct {
	asker asker
	vain  bool // it was an unsuccessful test
	left  int64
}

// next adds a call. If the call ends a gap between polls, next returns the poll before the gap and
// the length of the gap.
func (a *asking) next(kind Poll, e *trace.Event) (before *asker, gap int64) {
	if kind == Aside {
		a.left += e.Overhead
		return nil, 0
	}
	if a.vain && (kind != None || blocks(e.Semantics)) {
		asked := a.asker
		before, gap = &asked, e.Enter-e.Overhead-a.left
	}
	a.vain, a.left = kind == Missed, max(a.left, e.Exit)
	if a.vain {
		a.asker = asker{e.Function.ID, e.Signature.Site}
	}
	return before, gap
}
