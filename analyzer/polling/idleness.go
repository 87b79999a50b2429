package polling

import (
	"sort"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// idleness is in which long gaps between polls a location was idle.
type idleness struct {
	once    sync.Once
	samples []trace.ContextSample
	askers  map[asker]*askerGaps
	ready   int64 // when the rank had left MPI_Init
}

// askerGaps are the gaps after polls in vain of one place in the program.
type askerGaps struct {
	short, long int      // how many are at most MaxGap, and how many longer
	between     []gapSum // the long ones, by the sample before
	idle        []bool   // whether they were, by the sample before
	all         bool     // and where there are no samples
}

type gapSum struct{ ns, count float64 }

// A spell is what a rank did between samples: for how long, in nanoseconds, and for how many of
// them it ran.
type spell struct {
	wall, ran           float64
	voluntary, switches float64 // how often it gave its CPU away, and how often it lost it in any way
	counted             bool    // the operating system counts that
	starting            bool    // MPI_Init lies in it, which gives its CPU away as often as it likes
}

// usual reports whether long gaps are the usual ones there.
func (a *askerGaps) usual() bool { return a.short < usualShare*a.long }

// in reports whether the location was idle in a gap after a poll in vain.
func (x *idleness) in(a asker, from, to int64) bool {
	of := x.askers[a]
	if of == nil {
		return false
	}
	if i := x.sampleBefore(from + (to-from)/2); i >= 0 && i < len(x.samples)-1 {
		return of.idle[i]
	}
	return of.all
}

// sampleBefore is the last sample before a time, −1 if there is none.
func (x *idleness) sampleBefore(t int64) int {
	return sort.Search(len(x.samples), func(i int) bool { return x.samples[i].MonotonicNS > t }) - 1
}

// measure goes through the calls of the location.
func (x *idleness) measure(t timeline.Trace, l timeline.Location) {
	x.askers, x.samples = map[asker]*askerGaps{}, t.Ranks().At(l.Row).Context
	cursor, err := t.Calls(l.Rank, l.Thread)
	if err != nil {
		return // whoever reads the calls for themselves says so
	}
	var a asking
	for cursor.Next() {
		e := cursor.Event()
		if e.Semantics.Operation == semantics.Initialize {
			x.ready = e.Exit
		}
		if before, gap := a.next(Of(e), e); before != nil {
			x.add(*before, e.Enter-gap, e.Enter)
		}
	}
	usual, exceptional := make([]gapSum, len(x.samples)), make([]gapSum, len(x.samples))
	for _, of := range x.askers {
		sum := exceptional
		if of.usual() {
			sum = usual
		}
		for i, g := range of.between {
			sum[i].ns, sum[i].count = sum[i].ns+g.ns, sum[i].count+g.count
		}
	}
	for _, of := range x.askers {
		if of.usual() {
			x.decide(of, usual, idleInUsual, false)
		} else {
			x.decide(of, exceptional, idleInExceptional, true)
		}
	}
}

// add notes a gap.
func (x *idleness) add(before asker, from, to int64) {
	of := x.askers[before]
	if of == nil {
		of = &askerGaps{between: make([]gapSum, len(x.samples))}
		x.askers[before] = of
	}
	if to-from <= MaxGap {
		of.short++
		return
	}
	of.long++
	for i := max(0, x.sampleBefore(from)); i < len(x.samples)-1 && x.samples[i].MonotonicNS < to; i++ {
		begin, end := max(from, x.samples[i].MonotonicNS), min(to, x.samples[i+1].MonotonicNS)
		of.between[i].ns += float64(end - begin)
		of.between[i].count += float64(end-begin) / float64(to-from)
	}
}

// decide asks of each time between samples whether the rank was idle in the gaps. Times with few
// gaps say little: for these, and for those without samples, the ones with most gaps decide
// together. Without any it is as is likely.
func (x *idleness) decide(of *askerGaps, gaps []gapSum, idleIn func(spell, gapSum) bool, likely bool) {
	of.idle, of.all = make([]bool, len(x.samples)), likely
	starting := false // these count only where there are no others
	share := func(i int) float64 {
		if s := x.spell(i); of.between[i].ns > 0 && s.starting == starting {
			return gaps[i].ns / s.wall
		}
		return 0
	}
	mostly := func() (most float64) {
		for i := 0; i < len(x.samples)-1; i++ {
			most = max(most, share(i))
		}
		return most
	}
	most := mostly()
	if most < fewGaps {
		starting = true
		if most = mostly(); most < fewGaps {
			starting = false
			most = mostly()
		}
	}
	if most > 0 {
		var together spell
		var sum gapSum
		for i := 0; i < len(x.samples)-1; i++ {
			if share(i) >= nearlyMost*most {
				together.add(x.spell(i))
				sum.ns, sum.count = sum.ns+gaps[i].ns, sum.count+gaps[i].count
			}
		}
		of.all = idleIn(together, sum)
	}
	for i := range of.idle {
		of.idle[i] = of.all
		if i < len(x.samples)-1 && share(i) >= clearShare {
			of.idle[i] = idleIn(x.spell(i), gaps[i])
		}
	}
}

// spell is what lies between a sample and the next.
func (x *idleness) spell(i int) spell {
	a, b := &x.samples[i], &x.samples[i+1]
	s := spell{
		wall: max(1, float64(b.MonotonicNS-a.MonotonicNS)), ran: float64(b.CPUNS - a.CPUNS),
		voluntary: float64(b.VoluntarySwitches - a.VoluntarySwitches), counted: b.VoluntarySwitches+b.InvoluntarySwitches > 0,
	}
	s.starting = a.MonotonicNS < x.ready
	s.switches = s.voluntary + float64(b.InvoluntarySwitches-a.InvoluntarySwitches)
	return s
}

func (s *spell) add(o spell) {
	s.wall, s.ran, s.voluntary, s.switches = s.wall+o.wall, s.ran+o.ran, s.voluntary+o.voluntary, s.switches+o.switches
	s.counted, s.starting = s.counted || o.counted, s.starting || o.starting
}

// slept reports whether the rank slept in the gaps: it gave its CPU away about once in each, and
// hardly ran in them.
func (s *spell) slept(g gapSum) bool {
	besides := s.wall - g.ns
	if s.starting {
		besides = 0
	}
	return (s.voluntary >= ofGaps*g.count || !s.counted) && s.ran <= besides+sleepRuns*g.ns
}

// idleInUsual is for loops that always do something between two polls: they sleep, or let others
// run. Packets of work do neither, not even where the rank is preempted.
func idleInUsual(s spell, g gapSum) bool {
	return s.slept(g) || s.switches >= ofGaps*g.count && s.ran <= yieldRuns*g.ns
}

// idleInExceptional is for loops that do nothing but ask nearly always: a long gap is a preemption,
// unless there are fewer context switches than that takes, or the gaps are most of the time and the
// rank ran in most of it. Where they are not, what the process ran for does not tell: the tracer
// runs, too, where polls come thick and fast.
func idleInExceptional(s spell, g gapSum) bool {
	switch {
	case g.ns < fewExceptions*s.wall || s.slept(g):
		return true
	case g.ns >= majority*s.wall && s.ran-(s.wall-g.ns) > majority*g.ns:
		return false
	}
	return s.counted && s.switches >= oftenLost*g.count
}
