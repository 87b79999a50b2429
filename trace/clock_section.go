package trace

import (
	"math"
	"math/bits"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The clock samples of all ranks, and when these started, as differences to what is expected: the clocks of ranks on one
// node are the same, and a tick takes the same time everywhere. So most of what a rank has of its own is when it was
// sampled.

// A clockExpectation is what the next rank's clocks are expected by.
type clockExpectation struct {
	perTick uint64                       // nanoseconds per tick, in 2^-32
	first   map[int64]timing.ClockSample // of the last rank on each node, by the text of its boot id
}

// clockRate is the rate that a table is written with: that of the first rank with two samples.
func clockRate(t *RankTable) uint64 {
	rows, at := t.samples.Lookup(), t.Lookup()
	for i := range t.Len() {
		if from, to := rows.Rows(i); to-from < 2 {
			continue
		}
		samples := at(i).Clock.Samples
		ticks, ns := differences(samples[0], samples[len(samples)-1])
		hi, lo := uint64(ns)>>32, uint64(ns)<<32
		if ticks <= 0 || ns < 0 || hi >= uint64(ticks) {
			return 0
		}
		q, _ := bits.Div64(hi, lo, uint64(ticks))
		return q
	}
	return 0
}

func differences(a, b timing.ClockSample) (ticks, ns int64) {
	return b.Ticks - a.Ticks, b.MonotonicNS - a.MonotonicNS
}

// after is how many nanoseconds so many ticks are expected to take, rounded towards 0. Sums wrap around at 64 bits.
func (e *clockExpectation) after(ticks int64) int64 {
	n := uint64(ticks)
	if ticks < 0 {
		n = -n
	}
	hi, lo := bits.Mul64(n, e.perTick)
	ns := int64(hi<<32 | lo>>32)
	if ticks < 0 {
		return -ns
	}
	return ns
}

// code gives a sample as the differences to what is expected after another one; decode takes them back.
func (e *clockExpectation) code(before, s timing.ClockSample) (ticks, ns, offset int64) {
	ticks, ns = differences(before, s)
	return ticks, ns - e.after(ticks), (s.RealtimeNS - s.MonotonicNS) - (before.RealtimeNS - before.MonotonicNS)
}

func (e *clockExpectation) decode(before timing.ClockSample, ticks, ns, offset int64) timing.ClockSample {
	s := timing.ClockSample{Ticks: before.Ticks + ticks, MonotonicNS: before.MonotonicNS + e.after(ticks) + ns}
	s.RealtimeNS = s.MonotonicNS + before.RealtimeNS - before.MonotonicNS + offset
	return s
}

// asBefore, in the place of how many samples a rank has, says that it has those of the rank before on its node.
const asBefore = -1

// StartUnit is in which steps of ns, from the first rank's on, a finished trace knows when ranks started.
const (
	StartUnit  = 1 << startShift
	startShift = 20
)

func (s *sectionWriter) clocks(t *RankTable) {
	e := clockExpectation{clockRate(t), map[int64]timing.ClockSample{}}
	boot := t.texts[bootText].Lookup()
	rows, at := t.samples.Lookup(), t.Lookup()
	last := map[int64]int{} // row of the last rank with samples on each node
	var columns [clockColumns][]int64
	counts := t.samples.Counts()
	for i := range counts {
		if counts[i] == 0 {
			continue
		}
		if k, known := last[boot(i)]; known && equalRows(rows, k, i) {
			counts[i] = asBefore
			continue
		}
		last[boot(i)] = i
		samples := at(i).Clock.Samples
		before := e.first[boot(i)]
		for _, sample := range samples {
			ticks, ns, offset := e.code(before, sample)
			columns[0], columns[1], columns[2] = append(columns[0], ticks), append(columns[1], ns), append(columns[2], offset)
			before = sample
		}
		e.first[boot(i)] = samples[0]
	}
	s.Number(e.perTick)
	s.Sequence(counts)
	for _, column := range columns {
		s.Sequence(column)
	}
	s.starts(&t.start)
}

// equalRows reports whether two rows have equal ones of a ragged table.
func equalRows(l *codec.RaggedLookup, a, b int) bool {
	from, to := l.Rows(a)
	first, end := l.Rows(b)
	if to-from != end-first {
		return false
	}
	for k := range l.Columns {
		for i := range to - from {
			if l.At(k, from+i) != l.At(k, first+i) {
				return false
			}
		}
	}
	return true
}

// starts writes the first rank's start, and those of all as differences to it, in units if all are whole ones.
func (s *sectionWriter) starts(list *codec.Numbers) {
	if list.Len() == 0 {
		return
	}
	first, any := list.At(0), int64(0)
	for _, v := range list.All() {
		any |= v - first
	}
	shift := 0
	if any != 0 && any%StartUnit == 0 {
		shift = startShift
	}
	s.Signed(first)
	s.Number(uint64(shift))
	at := list.Lookup()
	s.Column(list.Len(), func(i int) int64 { return (at(i) - first) >> shift })
}

func (d *decoder) starts(n int) (starts codec.Numbers) {
	if n == 0 {
		return starts
	}
	first, shift, all := d.Varint(), d.Uvarint(), d.Numbers(n)
	if shift != 0 && shift != startShift {
		d.Fail(codec.ErrNumber)
		return starts
	}
	for run, count := range all.Runs() {
		starts.PushRun(first+run.First<<shift, run.Step<<shift, count)
	}
	return starts
}

// clocks reads what sectionWriter.clocks wrote; the texts of the ranks are there.
func (d *decoder) clocks(t *RankTable, n int) {
	e := clockExpectation{d.Uvarint(), map[int64]timing.ClockSample{}}
	counts := d.Numbers(n)
	own := 0
	for run, count := range counts.Runs() {
		for range count {
			if run.First < asBefore || run.First > math.MaxInt32 || own > math.MaxInt32 {
				d.Fail(codec.ErrNumber)
				return
			}
			own += int(max(0, run.First))
			run.First += run.Step
		}
	}
	var coded [clockColumns]func(int) int64
	for k := range coded {
		column := d.Numbers(own)
		coded[k] = column.Lookup()
	}
	t.start = d.starts(n)
	if d.Err != nil {
		return
	}
	boot, next := t.texts[bootText].Lookup(), 0
	last := map[int64][]timing.ClockSample{} // of each node
	for i, count := range counts.All() {
		samples := last[boot(i)]
		if count != asBefore {
			samples = nil
		} else if samples == nil {
			d.Fail(codec.ErrNumber)
			return
		}
		if !d.Temporary(max(count, int64(len(samples))) * 8 * clockColumns) {
			return
		}
		for k := range count {
			before := e.first[boot(i)]
			if k > 0 {
				before = samples[k-1]
			}
			samples = append(samples, e.decode(before, coded[0](next), coded[1](next), coded[2](next)))
			next++
		}
		if count > 0 {
			last[boot(i)], e.first[boot(i)] = samples, samples[0]
		}
		var before timing.ClockSample
		for _, sample := range samples {
			t.addSample(before, sample)
			before = sample
		}
		t.samples.End(clockColumns)
	}
	held := int64(0)
	for k := range t.samples.Columns {
		held += t.samples.Columns[k].Bytes()
	}
	if !d.Budget.Take(held) {
		d.Fail(codec.ErrMemory)
	}
}
