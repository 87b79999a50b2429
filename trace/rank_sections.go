package trace

import "math"

// The sections with a row per rank or per thread are tables in columns, so that thousands of equal ranks cost a few
// bytes.

func appendRanks(t *RankTable) []byte {
	s := newSection()
	s.number(uint64(t.Len()))
	text := func(k int) { s.textNumbers(&t.texts[k], t.strings.list) }
	s.numbers(&t.number)
	text(hostText)
	text(podText)
	text(nodeText)
	text(bootText)
	s.numbers(&t.pid)
	text(executableText)
	text(endText)
	s.numbers(&t.dropped)
	text(clockText)
	s.clocks(t)
	return s.bytes()
}

func (d *decoder) ranks() RankTable {
	var t RankTable
	n := d.rows(rowBytes)
	text := func(k int) { t.texts[k] = d.textNumbers(n) }
	t.strings.list = d.strings
	t.number = d.numbers(n)
	text(hostText)
	text(podText)
	text(nodeText)
	text(bootText)
	t.pid = d.numbers(n)
	text(executableText)
	text(endText)
	t.dropped = d.numbers(n)
	text(clockText)
	d.clocks(&t, n)
	t.context.begin(contextFields)
	t.context.first.PushRun(0, 0, n)
	t.evidence.begin(n)
	t.ends.begin(endColumns)
	t.ends.first.PushRun(0, 0, n)
	t.tracers.begin(tracerColumns)
	t.tracers.first.PushRun(0, 0, n)
	t.own.PushRun(0, 0, n)
	t.ownLists.lists = [][]uint32{nil}
	if d.err == nil && !t.number.Within(0, math.MaxInt32+1) {
		d.fail(errNumber)
	}
	if d.err != nil {
		return RankTable{}
	}
	return t
}

// appendRankMap writes which threads there are, which root each has, and which communicators each rank had.
func appendRankMap(c *Content) []byte {
	s := newSection()
	t := &c.Threads
	n := t.Len()
	s.number(uint64(n))
	s.numbers(&t.rank)
	s.numbers(&t.number)
	s.numbers(&t.shape)
	first := firstRoots(t)
	s.column(len(first), func(i int) int64 { return first[i] })
	root, shape := t.root.Lookup(), t.shape.Lookup()
	s.column(n, func(i int) int64 { return root(i) - first[shape(i)] })
	own := newListTable()
	s.renumbered(&c.Ranks.own, func(k int64) int64 { return int64(own.index(numbers(c.Ranks.ownLists.lists[k]))) })
	s.lists(own.lists)
	return s.bytes()
}

// firstRoots is the root of the first thread of each shape; 0 for a number that no thread has.
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

// rankMap fills in c.Threads and the communicators of c.Ranks. The lengths are those of the grammar's rules.
func (d *decoder) rankMap(c *Content, lengths []uint64) {
	n := d.rows(2 * rowBytes)
	t := &c.Threads
	t.rank, t.number, t.shape = d.numbers(n), d.numbers(n), d.numbers(n)
	first, offsets := d.sequence(), d.numbers(n)
	mine, own := d.numbers(c.Ranks.Len()), d.lists()
	if d.err == nil && (!t.rank.Within(0, math.MaxInt32+1) || !t.number.Within(0, math.MaxInt32+1) ||
		!t.shape.Within(0, int64(len(first))) || !mine.Within(0, int64(len(own)))) {
		d.fail(errNumber)
	}
	if d.err != nil {
		*t = ThreadTable{}
		return
	}
	places := make([]int64, len(first))
	offset := offsets.Lookup()
	held := int64(0)
	for i, shape := range t.shape.All() {
		root := first[shape] + offset(i)
		if root < 0 || root >= int64(len(lengths)) {
			d.fail(errNumber)
			*t = ThreadTable{}
			return
		}
		t.root.Push(root)
		t.calls.Push(int64(lengths[root]))
		t.place.Push(places[shape])
		places[shape]++
		if now := t.root.bytes() + t.calls.bytes() + t.place.bytes(); now > held {
			if !d.budget.take(now - held) {
				d.fail(errMemory)
				*t = ThreadTable{}
				return
			}
			held = now
		}
	}
	for _, fill := range []*Numbers{&t.first, &t.length, &t.inside, &t.joined, &t.streams, &t.timing, &t.storedThread, &t.storedRoot} {
		fill.PushRun(0, 0, n)
	}
	t.streamSets.lists = [][]StreamRef{nil}
	lists := make([][]uint32, len(own))
	for i, list := range own {
		if len(list) == 0 {
			continue
		}
		if !d.budget.take(int64(len(list)) * 4) {
			d.fail(errMemory)
			return
		}
		lists[i] = make([]uint32, len(list))
		for j, x := range list {
			if x < 0 || x >= int64(len(c.Communicators)) {
				d.fail(errNumber)
				return
			}
			lists[i][j] = uint32(x)
		}
	}
	c.Ranks.own, c.Ranks.ownLists.lists = mine, lists
}

// appendStreams writes which value sequence each stream of each thread has. Many threads have the same streams, and
// often the same sequences for them: what they have stands once.
func appendStreams(c *Content) []byte {
	s := newSection()
	s.number(uint64(len(c.Sequences)))
	sets, assignments := newListTable(), newListTable()
	s.renumbered(&c.Threads.streams, func(k int64) int64 {
		streams := c.Threads.streamSets.lists[k]
		set, sequences := make([]int64, 0, 2*len(streams)), make([]int64, 1, 1+len(streams))
		for _, ref := range streams {
			set = append(set, int64(ref.Terminal))
			sequences = append(sequences, int64(ref.Sequence))
		}
		for _, ref := range streams {
			set = append(set, int64(ref.Number))
		}
		sequences[0] = int64(sets.index(set))
		return int64(assignments.index(sequences))
	})
	s.lists(sets.lists)
	s.lists(assignments.lists)
	return s.bytes()
}

// streams fills in the streams of c.Threads and returns the number of sequences.
func (d *decoder) streams(c *Content) int {
	count := d.uvarintUpTo(math.MaxInt32)
	mine, sets, assignments := d.numbers(c.Threads.Len()), d.lists(), d.lists()
	all := make([][]StreamRef, len(assignments))
	for i, sequences := range assignments {
		if len(sequences) == 0 || sequences[0] < 0 || sequences[0] >= int64(len(sets)) {
			d.fail(errNumber)
			return 0
		}
		set, n := sets[sequences[0]], len(sequences)-1
		if len(set) != 2*n || !d.budget.take(int64(n)*12) {
			d.fail(errNumber)
			return 0
		}
		if n > 0 {
			all[i] = make([]StreamRef, n)
		}
		for j := range all[i] {
			sequence := sequences[1+j]
			if set[j] < 0 || set[j] >= int64(len(c.Signatures)) || set[n+j] < 0 || set[n+j] > math.MaxInt32 ||
				sequence < 0 || sequence >= int64(count) {
				d.fail(errNumber)
				return 0
			}
			all[i][j] = StreamRef{int32(set[j]), int32(set[n+j]), int32(sequence)}
		}
	}
	if d.err == nil && !mine.Within(0, int64(len(all))) {
		d.fail(errNumber)
	}
	if d.err == nil {
		c.Threads.streams, c.Threads.streamSets.lists = mine, all
	}
	return int(count)
}

// What a thread has of timing.
const (
	timingNone = iota
	timingOfCalls
	timingAggregates
)

// appendTimingStart writes when each thread began and ended, the time that it spent inside of calls, and what timing it
// has.
func appendTimingStart(c *Content) []byte {
	s := newSection()
	t := &c.Threads
	s.numbers(&t.first)
	s.column(t.Len(), func(i int) int64 {
		switch {
		case t.timed(i):
			return timingOfCalls
		case i < len(t.aggregates) && len(t.aggregates[i]) > 0:
			return timingAggregates
		}
		return timingNone
	})
	s.numbers(&t.length)
	s.numbers(&t.inside)
	return s.bytes()
}

// timingStart fills in c.Threads and returns which timing the threads have.
func (d *decoder) timingStart(c *Content) Numbers {
	t := &c.Threads
	n := t.Len()
	var has Numbers
	t.first, has, t.length, t.inside = d.numbers(n), d.numbers(n), d.numbers(n), d.numbers(n)
	if d.err == nil && !has.Within(timingNone, timingAggregates+1) {
		d.fail(errNumber)
	}
	return has
}
