package perfetto

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A counter is a track whose value lasts until the next one.
type counter struct {
	track
	unit string
	// bytes: the values are bytes, which Perfetto displays with prefixes.
	bytes bool
}

// A value is the value of a counter from a time on, in ns on the common clock.
type value struct {
	at    int64
	value float64
}

// count writes a counter with those of its values that are changes, clipped to the selection.
// Without any, it writes no track.
func (e *export) count(c counter, values []value) {
	begun, last := false, value{}
	for i, v := range values {
		if v.at >= e.to || i+1 < len(values) && values[i+1].at <= e.from {
			continue
		}
		v.at = max(v.at, e.from)
		if begun && v.value == last.value {
			continue
		}
		if !begun {
			e.packets.counter(c)
		}
		begun, last = true, v
		e.packets.count(c.uuid, e.time(v.at), v.value)
	}
	if begun {
		e.summary.Counters++
	}
}

// phases writes phases as slices, each until the next one begins, and the efficiency of equal parts
// of the run.
func (e *export) phases(found *phases.Findings) {
	if found == nil {
		return
	}
	at := func(seconds float64) int64 { return e.start + int64(seconds*1e9) }
	for i := range found.Phases {
		p := &found.Phases[i]
		begin, end := at(p.StartSeconds), at(p.EndSeconds)
		if i+1 < len(found.Phases) { // some ranks enter the next one while others are still here
			end = min(end, at(found.Phases[i+1].StartSeconds))
		}
		if end < begin || end < e.from || begin >= e.to {
			continue
		}
		if e.summary.Phases == 0 {
			e.packets.track(track{uuid: phasesTrack, name: "Phases"})
		}
		e.summary.Phases++
		show := slice{track: phasesTrack, start: e.time(begin), name: p.Name, category: "phase", annotations: []annotation{
			{"ranks", fmt.Sprint(p.Ranks)}, {"calls", fmt.Sprint(p.Calls)},
			{"parallel efficiency", fmt.Sprintf("%.1f %%", 100*p.Efficiency.Parallel)},
		}}
		if p.Loop {
			show.name = fmt.Sprintf("%s: %d iterations", p.Name, p.Iterations)
			show.annotations = append(show.annotations, annotation{"an iteration ends with", p.Anchor},
				annotation{"median iteration", fmt.Sprintf("%.6g s", p.MedianIteration)})
		}
		e.packets.begin(&show, arrows{})
		e.packets.end(phasesTrack, e.time(end), arrows{})
	}
	var values []value
	for _, w := range found.Windows {
		values = append(values, value{at(w.StartSeconds), 100 * w.Efficiency.Parallel})
	}
	e.count(counter{track: track{uuid: efficiencyTrack, name: "Parallel efficiency"}, unit: "%"}, values)
}

// A change is the change of the bytes that a thread has in flight.
type change struct {
	at       int64
	location int
	bytes    int64
}

// bytesInFlight writes the bytes that were sent and not yet received: the total, and for each rank
// what it sent.
func (e *export) bytesInFlight(changes []change) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	e.count(counter{track: track{uuid: flightTrack, name: "Bytes in flight"}, bytes: true}, sums(changes))
	rank := func(c *change) int { return e.locations[c.location].Main }
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(rank(&a), rank(&b)) })
	for len(changes) > 0 {
		i := rank(&changes[0])
		n := sort.Search(len(changes), func(n int) bool { return rank(&changes[n]) > i })
		e.count(e.counterOf(i, len(readings), counter{track: track{name: "bytes in flight"}, bytes: true}), sums(changes[:n]))
		changes = changes[n:]
	}
}

// sums returns the cumulative sums of changes, in order of time.
func sums(changes []change) (values []value) {
	sum := int64(0)
	for i, c := range changes {
		sum += c.bytes
		if i+1 == len(changes) || changes[i+1].at > c.at {
			values = append(values, value{c.at, float64(sum)})
		}
	}
	return values
}

// countersOfRank is the maximum number of counters of a rank: the readings, and the bytes in
// flight.
var countersOfRank = len(readings) + 1

// counterOf makes a counter the k-th child of a rank's first thread.
func (e *export) counterOf(location, k int, c counter) counter {
	c.uuid = firstTrack + uint64(len(e.locations)+location*countersOfRank+k)
	c.parent, c.rank = firstTrack+uint64(location), k
	return c
}

// A reading computes a counter's value between two samples of the operating system's counts; false:
// unknown.
type reading struct {
	name string
	of   func(from, to *trace.ContextSample) (ns int64, known bool)
}

var readings = []reading{
	{"CPU use", func(from, to *trace.ContextSample) (int64, bool) { return to.CPUNS - from.CPUNS, true }},
	{"waits for a CPU", func(from, to *trace.ContextSample) (int64, bool) { return to.RunDelayNS - from.RunDelayNS, true }},
	{"throttled", func(from, to *trace.ContextSample) (int64, bool) {
		return to.ThrottledNS - from.ThrottledNS, from.ThrottledNS >= 0 && to.ThrottledNS >= 0
	}},
}

// cpus writes the operating system's counts of each rank, in per cent of the time; 100 for CPU use
// is one CPU. A count that never grew has no counter.
func (e *export) cpus(clocks *timeline.Clocks) {
	ranks := e.trace.Ranks().Lookup()
	for i, l := range e.locations {
		if !e.chosen[i] || l.Main != i {
			continue
		}
		r := ranks(l.Row)
		for k, reading := range readings {
			values, grew := e.read(reading, r.Context, clocks, l.Row)
			if !grew {
				continue
			}
			e.count(e.counterOf(i, k, counter{track: track{name: reading.name}, unit: "%"}), values)
		}
	}
}

func (e *export) read(of reading, samples []trace.ContextSample, clocks *timeline.Clocks, row int) (values []value, grew bool) {
	for i := range samples {
		at := clocks.Time(row, samples[i].MonotonicNS)
		if i+1 == len(samples) {
			return append(values, value{at, 0}), grew
		}
		took := samples[i+1].MonotonicNS - samples[i].MonotonicNS
		ns, known := of.of(&samples[i], &samples[i+1])
		if !known || took <= 0 {
			continue
		}
		grew = grew || ns > 0
		values = append(values, value{at, 100 * float64(ns) / float64(took)})
	}
	return values, grew
}
