package trace

import "math/bits"

// The clock samples of all ranks, and when these started, as differences to what is expected: the clocks of ranks on one
// node are the same, and a tick takes the same time everywhere. So most of what a rank has of its own is when it was
// sampled.

// A clockExpectation is what the next rank's clocks are expected by.
type clockExpectation struct {
	perTick uint64                // nanoseconds per tick, in 2^-32
	first   map[int64]ClockSample // of the last rank on each node, by the text of its boot id
}

// clockRate is the rate that a table is written with: that of the first rank with two samples.
func clockRate(t *RankTable) uint64 {
	rows, at := t.samples.lookup(), t.Lookup()
	for i := range t.Len() {
		if from, to := rows.rows(i); to-from < 2 {
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

func differences(a, b ClockSample) (ticks, ns int64) {
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
func (e *clockExpectation) code(before, s ClockSample) (ticks, ns, offset int64) {
	ticks, ns = differences(before, s)
	return ticks, ns - e.after(ticks), (s.RealtimeNS - s.MonotonicNS) - (before.RealtimeNS - before.MonotonicNS)
}

func (e *clockExpectation) decode(before ClockSample, ticks, ns, offset int64) ClockSample {
	s := ClockSample{Ticks: before.Ticks + ticks, MonotonicNS: before.MonotonicNS + e.after(ticks) + ns}
	s.RealtimeNS = s.MonotonicNS + before.RealtimeNS - before.MonotonicNS + offset
	return s
}

func (s *sectionWriter) clocks(t *RankTable) {
	e := clockExpectation{clockRate(t), map[int64]ClockSample{}}
	boot, start := t.texts[bootText].Lookup(), t.start.Lookup()
	rows, at := t.samples.lookup(), t.Lookup()
	var columns [clockColumns][]int64
	starts := make([]int64, t.Len())
	for i := range starts {
		starts[i] = start(i)
		from, to := rows.rows(i)
		if from == to {
			continue
		}
		samples := at(i).Clock.Samples
		before := e.first[boot(i)]
		for _, sample := range samples {
			ticks, ns, offset := e.code(before, sample)
			columns[0], columns[1], columns[2] = append(columns[0], ticks), append(columns[1], ns), append(columns[2], offset)
			before = sample
		}
		e.first[boot(i)] = samples[0]
		starts[i] -= samples[0].RealtimeNS
	}
	s.number(e.perTick)
	s.b = AppendSequence(s.b, t.samples.counts())
	for _, column := range columns {
		s.b = AppendSequence(s.b, column)
	}
	s.b = AppendSequence(s.b, starts)
}

// clocks reads what sectionWriter.clocks wrote; the texts of the ranks are there.
func (d *decoder) clocks(t *RankTable, n int) {
	e := clockExpectation{d.uvarint(), map[int64]ClockSample{}}
	coded := d.ragged(n, clockColumns)
	starts := d.numbers(n)
	if d.err != nil {
		return
	}
	if !d.temporary(int64(coded.n) * 8 * clockColumns) {
		return
	}
	boot, start, rows := t.texts[bootText].Lookup(), starts.Lookup(), coded.lookup()
	for i := range n {
		first, before := e.first[boot(i)], ClockSample{}
		from, to := rows.rows(i)
		for k := from; k < to; k++ {
			expected := before
			if k == from {
				expected = first
			}
			sample := e.decode(expected, rows.at(0, k), rows.at(1, k), rows.at(2, k))
			t.addSample(before, sample)
			before = sample
			if k == from {
				first = sample
				e.first[boot(i)] = sample
			}
		}
		t.samples.end(clockColumns)
		if from == to {
			first = ClockSample{}
		}
		t.start.Push(start(i) + first.RealtimeNS)
	}
	held := t.start.bytes()
	for k := range t.samples.columns {
		held += t.samples.columns[k].bytes()
	}
	if !d.budget.take(held) {
		d.fail(errMemory)
	}
}
