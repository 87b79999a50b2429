package polling

import (
	"sort"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// idleness is the information in which long gaps between polls a location was idle.
type idleness struct {
	once    sync.Once
	samples []trace.ContextSample
	askers  map[asker]*askerGaps
	// off is the time for which the rank was without a CPU in unsuccessful tests, by the sample
	// before: their time beyond testRuns.
	off   []float64
	ready int64 // exit of MPI_Init
}

// askerGaps are the gaps after unsuccessful tests at one call site.
type askerGaps struct {
	short, long int      // number of gaps of at most MaxGap, and of longer ones
	between     []gapSum // the long gaps, by the sample before
	idle        []bool   // whether the rank was idle in them, by the sample before
	all         bool     // and without samples
}

type gapSum struct{ ns, count float64 }

// A spell is the activity of a rank between samples: the duration in nanoseconds, without
// idleness.off, and the part of it in which it ran.
type spell struct {
	wall, ran           float64
	voluntary, switches float64 // number of voluntary context switches, and of all
	counted             bool    // the counters are available
	starting            bool    // it contains MPI_Init, with any number of voluntary context switches
}

// usual reports whether long gaps are usual at the call site.
func (a *askerGaps) usual() bool { return a.short < usualShare*a.long }

// in reports whether the location was idle in a gap after an unsuccessful test.
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

// sampleBefore returns the index of the last sample at or before a time, −1 if there is none.
func (x *idleness) sampleBefore(t int64) int {
	return sort.Search(len(x.samples), func(i int) bool { return x.samples[i].MonotonicNS > t }) - 1
}

// measure evaluates the calls of the location.
func (x *idleness) measure(t timeline.Trace, l timeline.Location) {
	x.askers, x.samples = map[asker]*askerGaps{}, t.Ranks().At(l.Row).Context
	cursor, err := t.Calls(l.Rank, l.Thread)
	if err != nil {
		return // the reader of the calls reports the error
	}
	x.off = make([]float64, len(x.samples))
	var a asking
	for cursor.Next() {
		e := cursor.Event()
		if e.Semantics.Operation == semantics.Initialize {
			x.ready = e.Exit
		}
		kind := Of(e)
		if before, gap := a.next(kind, e); before != nil {
			x.add(*before, e.Enter-gap, e.Enter)
		}
		if kind == Missed {
			x.eachInterval(e.Enter+testRuns, e.Exit, func(i int, ns float64) { x.off[i] += ns })
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

// add adds a gap.
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
	x.eachInterval(from, to, func(i int, ns float64) {
		of.between[i].ns += ns
		of.between[i].count += ns / float64(to-from)
	})
}

// eachInterval divides a time by the samples: it calls f with the index of the sample before and
// the length of each part.
func (x *idleness) eachInterval(from, to int64, f func(i int, ns float64)) {
	if from >= to {
		return
	}
	for i := max(0, x.sampleBefore(from)); i < len(x.samples)-1 && x.samples[i].MonotonicNS < to; i++ {
		f(i, float64(min(to, x.samples[i+1].MonotonicNS)-max(from, x.samples[i].MonotonicNS)))
	}
}

// decide determines for each interval between samples whether the rank was idle in the gaps.
// Intervals with few gaps are unreliable: for these, and for gaps without samples, the intervals
// with most gaps decide together. If there are none, the result is likely.
func (x *idleness) decide(of *askerGaps, gaps []gapSum, idleIn func(spell, gapSum) bool, likely bool) {
	of.idle, of.all = make([]bool, len(x.samples)), likely
	starting := false // intervals with the start of MPI count only if there are no others
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

// spell returns the activity between a sample and the next.
func (x *idleness) spell(i int) spell {
	a, b := &x.samples[i], &x.samples[i+1]
	s := spell{
		wall: max(1, float64(b.MonotonicNS-a.MonotonicNS)-x.off[i]), ran: float64(b.CPUNS - a.CPUNS),
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

// slept reports whether the rank slept in the gaps: about one voluntary context switch per gap, and
// hardly any running time.
func (s *spell) slept(g gapSum) bool {
	besides := s.wall - g.ns
	if s.starting {
		besides = 0
	}
	return (s.voluntary >= ofGaps*g.count || !s.counted) && s.ran <= besides+sleepRuns*g.ns
}

// idleInUsual is for loops that always do something between two polls: if idle, they sleep or let
// others run. Packets of work do neither, even if the rank is preempted.
func idleInUsual(s spell, g gapSum) bool {
	return s.slept(g) || s.switches >= ofGaps*g.count && s.ran <= yieldRuns*g.ns
}

// idleInExceptional is for loops that nearly always only poll: a long gap is a preemption, unless
// there are fewer context switches than that requires, or the gaps are most of the time and the
// rank ran in most of it. If they are not most of the time, the running time is not significant,
// because the tracer also runs when polls are frequent.
func idleInExceptional(s spell, g gapSum) bool {
	switch {
	case g.ns < fewExceptions*s.wall || s.slept(g):
		return true
	case g.ns >= majority*s.wall && s.ran-(s.wall-g.ns) > majority*g.ns:
		return false
	}
	return s.counted && s.switches >= oftenLost*g.count
}
