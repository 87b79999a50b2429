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

// ragged reads how many rows each of n rows has, then their columns.
func (d *decoder) ragged(n, columns int) ragged {
	g := d.raggedCounts(n, columns)
	for k := range g.columns {
		g.columns[k] = d.numbers(g.n)
	}
	return g
}

// raggedCounts reads how many rows each of n rows has; their columns are to be read.
func (d *decoder) raggedCounts(n, columns int) ragged {
	var g ragged
	g.begin(columns)
	counts := d.numbers(n)
	for run, count := range counts.Runs() {
		for range count {
			if run.First < 0 || run.First > math.MaxInt32 || int64(g.n)+run.First > math.MaxInt32 {
				d.fail(errNumber)
				return ragged{}
			}
			g.n += int(run.First)
			g.first.Push(int64(g.n))
			run.First += run.Step
		}
	}
	return g
}

// A listTable numbers distinct lists of integers in order of first sight.
type listTable struct {
	numbers map[string]int
	lists   [][]int64
}

func newListTable() *listTable { return &listTable{numbers: map[string]int{}} }

func (t *listTable) index(list []int64) int {
	key := string(appendPieces(nil, list))
	i, known := t.numbers[key]
	if !known {
		i = len(t.lists)
		t.numbers[key] = i
		t.lists = append(t.lists, list)
	}
	return i
}

// appendLists writes the lengths of the lists, then the lists, those of one length together: long ones as a sequence
// each, short ones position by position.
func appendLists(b []byte, lists [][]int64) []byte { return smallest.appendLists(b, lists) }

func (p effort) appendLists(b []byte, lists [][]int64) []byte {
	return p.appendListsOf(b, len(lists), func(i int) int { return len(lists[i]) }, func(i int) []int64 { return lists[i] })
}

// appendColumns is appendLists for columns, one of which is expanded at a time.
func appendColumns(b []byte, columns []Numbers) []byte {
	var values []int64
	return smallest.appendListsOf(b, len(columns), func(i int) int { return columns[i].Len() }, func(i int) []int64 {
		values = columns[i].Values(values[:0])
		return values
	})
}

// appendListsOf writes n lists; what list gives is used until it is called again.
func (p effort) appendListsOf(b []byte, n int, length func(i int) int, list func(i int) []int64) []byte {
	lengths := make([]int64, n)
	for i := range lengths {
		lengths[i] = int64(length(i))
	}
	b = p.appendSequence(b, lengths)
	for _, group := range groupLists(lengths) {
		if n := int(lengths[group[0]]); n > len(group) {
			for _, i := range group {
				b = p.appendSequence(b, list(i))
			}
		} else {
			all := make([]int64, n*len(group))
			for j, i := range group {
				for k, v := range list(i) {
					all[k*len(group)+j] = v
				}
			}
			b = p.appendSequence(b, all)
		}
	}
	return b
}

// groupLists gives the numbers of the lists of each length but 0, lengths in order of first sight.
func groupLists(lengths []int64) [][]int {
	var groups [][]int
	place := map[int64]int{}
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		k, known := place[n]
		if !known {
			k = len(groups)
			place[n] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return groups
}

func (d *decoder) lists() [][]int64 {
	lengths := d.sequence()
	if !d.temporary(int64(len(lengths)) * 40) {
		return nil
	}
	lists := make([][]int64, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32:
			d.fail(errNumber)
		case int(n) > len(group):
			for _, i := range group {
				lists[i] = d.column(int(n))
			}
		default:
			if !d.temporary(n * int64(len(group)) * 8) {
				return nil
			}
			all := d.column(int(n) * len(group))
			mine := make([]int64, len(all))
			for j, i := range group {
				lists[i] = mine[j*int(n) : (j+1)*int(n) : (j+1)*int(n)]
				for k := range lists[i] {
					lists[i][k] = all[k*len(group)+j]
				}
			}
		}
		if d.err != nil {
			return nil
		}
	}
	return lists
}

// columns reads what appendColumns wrote.
func (d *decoder) columns() []Numbers {
	lengths := d.sequence()
	if !d.budget.take(int64(len(lengths)) * 72) {
		d.fail(errMemory)
		return nil
	}
	columns := make([]Numbers, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32 || n > math.MaxInt32/int64(len(group)):
			d.fail(errNumber)
		case int(n) > len(group):
			for _, i := range group {
				columns[i] = d.numbers(int(n))
			}
		default:
			if !d.budget.take(n * int64(len(group)) * 16) {
				d.fail(errMemory)
				return nil
			}
			for j, v := range d.column(int(n) * len(group)) {
				columns[group[j%len(group)]].Push(v)
			}
		}
		if d.err != nil {
			return nil
		}
	}
	return columns
}

// rowBytes is what is booked for a row of a table: its columns are booked by what they hold, but a reader goes through
// all rows.
const rowBytes = 16

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
	s.b = appendLists(s.b, own.lists)
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

func numbers[T int | int32 | uint32](list []T) []int64 {
	all := make([]int64, len(list))
	for i, x := range list {
		all[i] = int64(x)
	}
	return all
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
	s.b = appendLists(s.b, sets.lists)
	s.b = appendLists(s.b, assignments.lists)
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
