package polling

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A rank that asks in vain and asks again later was either idle in between (it slept, gave its CPU
// away, or was preempted: it waits), or it computed (it overlaps, which is no waiting). The calls
// alone do not tell, so the counts that the operating system keeps decide (trace.ContextSample).
// docs/analysis.md has the rule.

// How gaps longer than MaxGap are told apart.
const (
	// usualShare: where this many gaps at a call site are short for each long one, the loop does
	// nothing but ask, and a long gap is an exception to it.
	usualShare = 8
	// clearShare of the time between two samples has to be in gaps for these samples to decide
	// alone. Else those decide together in which gaps have at least nearlyMost of the largest
	// share.
	clearShare = 0.8
	nearlyMost = 0.9
	// fewGaps: with less than this share of the time in gaps, times between samples in which MPI
	// starts are asked, too.
	fewGaps = 0.2
	// ofGaps: in this many of the gaps a rank has to have given its CPU away, and sleepRuns is the
	// share of their length for which one that sleeps may still run: to fall asleep and to wake up.
	ofGaps    = 0.8
	sleepRuns = 0.35
	// yieldRuns is the same for one that lets others run.
	yieldRuns = 0.1
	// oftenLost: so many context switches for each gap tell preemptions, which come besides in what
	// is shorter, from work.
	oftenLost = 1.5
	// majority of the time has to be in exceptional gaps, and the rank has to have run in a majority of that,
	// for it to have worked there in spite of its preemptions.
	majority = 0.5
	// fewExceptions: up to this share of the time, exceptional gaps are not worth a look at the
	// counts.
	fewExceptions = 0.05
)

// Gaps says in which gaps between polls the ranks of a trace were idle.
type Gaps struct {
	trace     timeline.Trace
	locations []timeline.Location
	idle      []idleness // by location
}

// NewGaps prepares that. What it takes is taken for a location when it first has a long gap: a pass
// over its calls.
func NewGaps(t timeline.Trace) *Gaps {
	locations := timeline.Locations(t)
	return &Gaps{t, locations, make([]idleness, len(locations))}
}

// Of follows the calls of a location.
func (g *Gaps) Of(location int) *LocationGaps { return &LocationGaps{gaps: g, location: location} }

// A LocationGaps follows the calls of one location.
type LocationGaps struct {
	gaps     *Gaps
	location int
	asking   asking
}

// See takes the next call of the location and returns what Attempt.See takes.
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

// idleness is that of a location.
func (g *Gaps) idleness(location int) *idleness {
	x := &g.idle[location]
	x.once.Do(func() { x.measure(g.trace, g.locations[location]) })
	return x
}

// An asker is a function that asks and where it is called.
type asker struct {
	function uint16
	site     uint32
}

// asking is what a location's latest call was, apart from those that are Aside.
type asking struct {
	asker asker
	vain  bool // it asked in vain
	left  int64
}

// next goes on to a call. If it ends a gap between polls, that is how long the gap was, and who had
// asked before it.
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
