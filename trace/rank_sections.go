package trace

import (
	"math"
	"math/bits"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The sections with a row per rank or per thread are tables in columns, so that thousands of equal
// ranks cost a few bytes.

func appendRanks(t *RankTable) []byte {
	s := newSection()
	s.Number(uint64(t.Len()))
	text := func(k int) { s.TextNumbers(&t.texts[k], t.strings.List) }
	s.Numbers(&t.number)
	text(hostText)
	text(podText)
	text(nodeText)
	text(bootText)
	s.Numbers(&t.pid)
	text(executableText)
	text(endText)
	s.Numbers(&t.dropped)
	text(clockText)
	s.clocks(t)
	return s.Bytes()
}

func (d *decoder) ranks() RankTable {
	var t RankTable
	n := d.Rows(codec.RowBytes)
	text := func(k int) { t.texts[k] = d.TextNumbers(n) }
	t.strings.List = d.Strings
	t.number = d.Numbers(n)
	text(hostText)
	text(podText)
	text(nodeText)
	text(bootText)
	t.pid = d.Numbers(n)
	text(executableText)
	text(endText)
	t.dropped = d.Numbers(n)
	text(clockText)
	d.clocks(&t, n)
	t.context.Begin(contextFields)
	t.context.First.PushRun(0, 0, n)
	t.evidence.begin(n)
	t.ends.Begin(endColumns)
	t.ends.First.PushRun(0, 0, n)
	t.deaths.Begin(deathColumns)
	t.deaths.First.PushRun(0, 0, n)
	t.looks.Begin(lookColumns)
	t.looks.First.PushRun(0, 0, n)
	t.tracers.Begin(tracerColumns)
	t.tracers.First.PushRun(0, 0, n)
	t.pressures.Begin(pressureColumns)
	t.pressures.First.PushRun(0, 0, n)
	t.suspensions.Begin(suspensionColumns)
	t.suspensions.First.PushRun(0, 0, n)
	t.own.PushRun(0, 0, n)
	t.ownLists.Lists = [][]uint32{nil}
	if d.Err == nil && !t.number.Within(0, math.MaxInt32+1) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err != nil {
		return RankTable{}
	}
	return t
}

// appendRankMap writes the threads, the root of each, and the communicators of each rank.
func appendRankMap(c *Content) []byte {
	s := newSection()
	t := &c.Threads
	n := t.Len()
	s.Number(uint64(n))
	s.Numbers(&t.rank)
	s.Numbers(&t.number)
	s.Numbers(&t.shape)
	first := firstRoots(t)
	s.Column(len(first), func(i int) int64 { return first[i] })
	root, shape := t.root.Lookup(), t.shape.Lookup()
	s.Column(n, func(i int) int64 { return root(i) - first[shape(i)] })
	own := codec.NewListTable()
	s.Renumbered(&c.Ranks.own, func(k int64) int64 { return int64(own.Index(codec.Int64s(c.Ranks.ownLists.Lists[k]))) })
	s.Lists(own.Lists)
	return s.Bytes()
}

// firstRoots returns the root of the first thread of each shape; 0 for a shape without threads.
func firstRoots(t *ThreadTable) []int64 {
	var first []int64
	seen := map[int64]bool{}
	root := t.root.Lookup()
	for i, shape := range t.shape.All() {
		for int64(len(first)) <= shape {
			first = append(first, 0)
		}
		if !seen[shape] {
			seen[shape] = true
			first[shape] = root(i)
		}
	}
	return first
}

// rankMap sets c.Threads and the communicators of c.Ranks. The lengths are those of the grammar's
// rules.
func (d *decoder) rankMap(c *Content, lengths []uint64) {
	n := d.Rows(2 * codec.RowBytes)
	t := &c.Threads
	t.rank, t.number, t.shape = d.Numbers(n), d.Numbers(n), d.Numbers(n)
	first, offsets := d.Sequence(), d.Numbers(n)
	mine, own := d.Numbers(c.Ranks.Len()), d.Lists()
	if d.Err == nil && (!t.rank.Within(0, math.MaxInt32+1) || !t.number.Within(0, math.MaxInt32+1) ||
		!t.shape.Within(0, int64(len(first))) || !mine.Within(0, int64(len(own)))) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err != nil {
		*t = ThreadTable{}
		return
	}
	places := make([]int64, len(first))
	offset := offsets.Lookup()
	held := int64(0)
	for i, shape := range t.shape.All() {
		root := first[shape] + offset(i)
		if root < 0 || root >= int64(len(lengths)) {
			d.Fail(codec.ErrNumber)
			*t = ThreadTable{}
			return
		}
		t.root.Push(root)
		t.calls.Push(int64(lengths[root]))
		t.place.Push(places[shape])
		places[shape]++
		if now := t.root.Bytes() + t.calls.Bytes() + t.place.Bytes(); now > held {
			if !d.Budget.Take(now - held) {
				d.Fail(codec.ErrMemory)
				*t = ThreadTable{}
				return
			}
			held = now
		}
	}
	for _, fill := range []*codec.Numbers{&t.first, &t.length, &t.inside, &t.joined, &t.streams, &t.timing, &t.storedThread, &t.storedRoot} {
		fill.PushRun(0, 0, n)
	}
	t.streamSets.Lists = [][]StreamRef{nil}
	lists := make([][]uint32, len(own))
	for i, list := range own {
		if len(list) == 0 {
			continue
		}
		if !d.Budget.Take(int64(len(list)) * 4) {
			d.Fail(codec.ErrMemory)
			return
		}
		lists[i] = make([]uint32, len(list))
		for j, x := range list {
			if x < 0 || x >= int64(len(c.Communicators)) {
				d.Fail(codec.ErrNumber)
				return
			}
			lists[i][j] = uint32(x)
		}
	}
	c.Ranks.own, c.Ranks.ownLists.Lists = mine, lists
}

// appendStreams writes the value sequence of each stream of each thread. Many threads have the same
// streams, and often the same sequences for them: equal lists are written once.
func appendStreams(c *Content) []byte {
	s := newSection()
	s.Number(uint64(len(c.Sequences)))
	sets, assignments := codec.NewListTable(), codec.NewListTable()
	s.Renumbered(&c.Threads.streams, func(k int64) int64 {
		streams := c.Threads.streamSets.Lists[k]
		set, sequences := make([]int64, 0, 2*len(streams)), make([]int64, 1, 1+len(streams))
		for _, ref := range streams {
			set = append(set, int64(ref.Terminal))
			sequences = append(sequences, int64(ref.Sequence))
		}
		for _, ref := range streams {
			set = append(set, int64(ref.Number))
		}
		sequences[0] = int64(sets.Index(set))
		return int64(assignments.Index(sequences))
	})
	s.Lists(sets.Lists)
	s.Lists(assignments.Lists)
	return s.Bytes()
}

// streams sets the streams of c.Threads and returns the number of sequences.
func (d *decoder) streams(c *Content) int {
	count := d.UvarintUpTo(math.MaxInt32)
	mine, sets, assignments := d.Numbers(c.Threads.Len()), d.Lists(), d.Lists()
	all := make([][]StreamRef, len(assignments))
	for i, sequences := range assignments {
		if len(sequences) == 0 || sequences[0] < 0 || sequences[0] >= int64(len(sets)) {
			d.Fail(codec.ErrNumber)
			return 0
		}
		set, n := sets[sequences[0]], len(sequences)-1
		if len(set) != 2*n || !d.Budget.Take(int64(n)*12) {
			d.Fail(codec.ErrNumber)
			return 0
		}
		if n > 0 {
			all[i] = make([]StreamRef, n)
		}
		for j := range all[i] {
			sequence := sequences[1+j]
			if set[j] < 0 || set[j] >= int64(len(c.Signatures)) || set[n+j] < 0 || set[n+j] > math.MaxInt32 ||
				sequence < 0 || sequence >= int64(count) {
				d.Fail(codec.ErrNumber)
				return 0
			}
			all[i][j] = StreamRef{int32(set[j]), int32(set[n+j]), int32(sequence)}
		}
	}
	if d.Err == nil && !mine.Within(0, int64(len(all))) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err == nil {
		c.Threads.streams, c.Threads.streamSets.Lists = mine, all
	}
	return int(count)
}

// Kinds of timing of a thread.
const (
	timingNone = iota
	timingOfCalls
	timingAggregates
)

// appendTimingStart writes the begin and end of each thread, its time inside of calls, and its kind
// of timing.
func appendTimingStart(c *Content) []byte {
	s := newSection()
	t := &c.Threads
	s.Numbers(&t.first)
	s.Column(t.Len(), func(i int) int64 {
		switch {
		case t.timed(i):
			return timingOfCalls
		case i < len(t.aggregates) && len(t.aggregates[i]) > 0:
			return timingAggregates
		}
		return timingNone
	})
	s.Numbers(&t.length)
	s.Numbers(&t.inside)
	return s.Bytes()
}

// timingStart sets these fields of c.Threads and returns the kind of timing of each thread.
func (d *decoder) timingStart(c *Content) codec.Numbers {
	t := &c.Threads
	n := t.Len()
	var has codec.Numbers
	t.first, has, t.length, t.inside = d.Numbers(n), d.Numbers(n), d.Numbers(n), d.Numbers(n)
	if d.Err == nil && !has.Within(timingNone, timingAggregates+1) {
		d.Fail(codec.ErrNumber)
	}
	return has
}

// The clock samples of all ranks, and the start times of ranks, as differences to a prediction: the
// clocks of ranks on one node are the same, and a tick takes the same time everywhere. So most of
// what is particular to a rank is when it was sampled.

// A clockExpectation predicts the clock samples of the next rank.
type clockExpectation struct {
	perTick uint64                       // nanoseconds per tick, in 2^-32
	first   map[int64]timing.ClockSample // of the last rank on each node, by the text index of its boot id
}

// clockRate is the rate used for predictions: that of the first rank with two samples.
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

// after is the expected duration of some ticks in nanoseconds, rounded towards 0. Sums wrap around
// at 64 bits.
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

// code returns a sample as differences to the prediction from the sample before; decode is the
// inverse.
func (e *clockExpectation) code(before, s timing.ClockSample) (ticks, ns, offset int64) {
	ticks, ns = differences(before, s)
	return ticks, ns - e.after(ticks), (s.RealtimeNS - s.MonotonicNS) - (before.RealtimeNS - before.MonotonicNS)
}

func (e *clockExpectation) decode(before timing.ClockSample, ticks, ns, offset int64) timing.ClockSample {
	s := timing.ClockSample{Ticks: before.Ticks + ticks, MonotonicNS: before.MonotonicNS + e.after(ticks) + ns}
	s.RealtimeNS = s.MonotonicNS + before.RealtimeNS - before.MonotonicNS + offset
	return s
}

// asBefore, in place of the number of samples of a rank, means that they equal those of the rank
// before on its node.
const asBefore = -1

// StartUnit is the resolution in ns, relative to the first rank, of start times in a finished
// trace.
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

// equalRows reports whether two ranks have equal rows in a ragged table.
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

// starts writes the first rank's start, and all starts as differences to it, in StartUnit if all
// are multiples of it.
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

// clocks reads what sectionWriter.clocks wrote. The texts of the ranks must have been read.
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
