package trace

import "math"

// The sections with a row per rank or per thread are tables in columns, so that thousands of equal ranks cost a few
// bytes.

func appendRanks(ranks []Rank) []byte {
	s := newSection()
	n := len(ranks)
	s.number(uint64(n))
	s.column(n, func(i int) int64 { return int64(ranks[i].Rank) })
	s.texts(n, func(i int) string { return ranks[i].Host })
	s.texts(n, func(i int) string { return ranks[i].Pod })
	s.texts(n, func(i int) string { return ranks[i].Node })
	s.texts(n, func(i int) string { return ranks[i].BootID })
	s.column(n, func(i int) int64 { return int64(ranks[i].PID) })
	s.texts(n, func(i int) string { return ranks[i].Executable })
	s.column(n, func(i int) int64 { return ranks[i].StartRealtimeNS })
	s.texts(n, func(i int) string { return ranks[i].EndedEarly })
	s.column(n, func(i int) int64 { return int64(ranks[i].Dropped) })
	s.texts(n, func(i int) string { return ranks[i].Clock.Kind })
	s.column(n, func(i int) int64 { return int64(len(ranks[i].Clock.Samples)) })
	var ticks, monotonic, offsets []int64
	for i := range ranks {
		var before ClockSample
		for _, sample := range ranks[i].Clock.Samples {
			ticks = append(ticks, sample.Ticks-before.Ticks)
			monotonic = append(monotonic, sample.MonotonicNS-before.MonotonicNS)
			offsets = append(offsets, (sample.RealtimeNS-sample.MonotonicNS)-(before.RealtimeNS-before.MonotonicNS))
			before = sample
		}
	}
	s.b = AppendSequence(s.b, ticks)
	s.b = AppendSequence(s.b, monotonic)
	s.b = AppendSequence(s.b, offsets)
	return s.bytes()
}

func (d *decoder) ranks() []Rank {
	n := d.rows(264)
	ranks := make([]Rank, n)
	numbers, hosts, pods, nodes, boots := d.column(n), d.texts(n), d.texts(n), d.texts(n), d.texts(n)
	pids, executables, starts, ends := d.column(n), d.texts(n), d.column(n), d.texts(n)
	dropped, kinds, samples := d.column(n), d.texts(n), d.column(n)
	total := 0
	for i := range ranks {
		ranks[i] = Rank{
			Rank: int(numbers[i]), Host: hosts[i], Pod: pods[i], Node: nodes[i], BootID: boots[i], PID: int(pids[i]),
			Executable: executables[i], StartRealtimeNS: starts[i], EndedEarly: ends[i], Dropped: uint64(dropped[i]),
			Clock: Clock{Kind: kinds[i]},
		}
		if numbers[i] < 0 || numbers[i] > math.MaxInt32 || samples[i] < 0 || samples[i] > math.MaxInt32 {
			d.fail(errNumber)
			return nil
		}
		total += int(samples[i])
	}
	if !d.budget.take(int64(total) * 24) {
		d.fail(errMemory)
		return nil
	}
	ticks, monotonic, offsets := d.column(total), d.column(total), d.column(total)
	all := make([]ClockSample, total)
	at := 0
	for i := range ranks {
		if samples[i] == 0 {
			continue
		}
		mine := all[at : at+int(samples[i]) : at+int(samples[i])]
		var before ClockSample
		for j := range mine {
			mine[j].Ticks = before.Ticks + ticks[at+j]
			mine[j].MonotonicNS = before.MonotonicNS + monotonic[at+j]
			mine[j].RealtimeNS = mine[j].MonotonicNS + before.RealtimeNS - before.MonotonicNS + offsets[at+j]
			before = mine[j]
		}
		ranks[i].Clock.Samples = mine
		at += len(mine)
	}
	return ranks
}

// A listTable numbers distinct lists of integers in order of first sight.
type listTable struct {
	numbers map[string]int
	lists   [][]int64
}

func newListTable() *listTable { return &listTable{numbers: map[string]int{}} }

func (t *listTable) index(list []int64) int {
	key := string(AppendSequence(nil, list))
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
func appendLists(b []byte, lists [][]int64) []byte {
	lengths := make([]int64, len(lists))
	for i, list := range lists {
		lengths[i] = int64(len(list))
	}
	b = AppendSequence(b, lengths)
	for _, group := range groupLists(lengths) {
		if n := int(lengths[group[0]]); n > len(group) {
			for _, i := range group {
				b = AppendSequence(b, lists[i])
			}
		} else {
			all := make([]int64, 0, n*len(group))
			for k := range n {
				for _, i := range group {
					all = append(all, lists[i][k])
				}
			}
			b = AppendSequence(b, all)
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
	if !d.budget.take(int64(len(lengths)) * 40) {
		d.fail(errMemory)
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
			if !d.budget.take(n * int64(len(group)) * 8) {
				d.fail(errMemory)
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

// appendRankMap writes which threads there are, which root each has, and which communicators each rank had.
func appendRankMap(c *Content) []byte {
	s := newSection()
	n := len(c.Threads)
	s.number(uint64(n))
	s.column(n, func(i int) int64 { return int64(c.Threads[i].Rank) })
	s.column(n, func(i int) int64 { return int64(c.Threads[i].Thread) })
	s.column(n, func(i int) int64 { return int64(c.Threads[i].Shape) })
	first := firstRoots(c.Threads)
	s.column(len(first), func(i int) int64 { return int64(first[i]) })
	s.column(n, func(i int) int64 { return int64(c.Threads[i].Root - first[c.Threads[i].Shape]) })
	own := newListTable()
	mine := make([]int64, len(c.Ranks))
	for i := range c.Ranks {
		mine[i] = int64(own.index(numbers(c.Ranks[i].CommunicatorsOwn)))
	}
	s.b = AppendSequence(s.b, mine)
	s.b = appendLists(s.b, own.lists)
	return s.bytes()
}

// firstRoots is the root of the first thread of each shape; 0 for a number that no thread has.
func firstRoots(threads []Thread) []int {
	var first []int
	seen := map[int]bool{}
	for i := range threads {
		t := &threads[i]
		for len(first) <= t.Shape {
			first = append(first, 0)
		}
		if !seen[t.Shape] {
			seen[t.Shape] = true
			first[t.Shape] = t.Root
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
	n := d.rows(144)
	ranks, threads, shapes, first, roots := d.column(n), d.column(n), d.column(n), d.sequence(), d.column(n)
	mine, own := d.column(len(c.Ranks)), d.lists()
	if d.err != nil {
		return
	}
	if n > 0 {
		c.Threads = make([]Thread, n)
	}
	places := make([]int, len(first))
	for i := range c.Threads {
		if shapes[i] < 0 || shapes[i] >= int64(len(first)) {
			d.fail(errNumber)
			return
		}
		roots[i] += first[shapes[i]]
		if ranks[i] < 0 || ranks[i] > math.MaxInt32 || threads[i] < 0 || threads[i] > math.MaxInt32 ||
			roots[i] < 0 || roots[i] >= int64(len(lengths)) {
			d.fail(errNumber)
			return
		}
		c.Threads[i] = Thread{Rank: int(ranks[i]), Thread: int(threads[i]), Root: int(roots[i]),
			Calls: lengths[roots[i]], Shape: int(shapes[i]), Place: places[shapes[i]]}
		places[shapes[i]]++
	}
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
	for i, k := range mine {
		if k < 0 || k >= int64(len(lists)) {
			d.fail(errNumber)
			return
		}
		c.Ranks[i].CommunicatorsOwn = lists[k] // ranks with equal lists share one
	}
}

// appendStreams writes which value sequence each stream of each thread has. Many threads have the same streams, and
// often the same sequences for them: what they have stands once.
func appendStreams(c *Content) []byte {
	s := newSection()
	s.number(uint64(len(c.Sequences)))
	sets, assignments := newListTable(), newListTable()
	mine := make([]int64, len(c.Threads))
	for i := range c.Threads {
		streams := c.Threads[i].Streams
		set, sequences := make([]int64, 0, 2*len(streams)), make([]int64, 1, 1+len(streams))
		for _, ref := range streams {
			set = append(set, int64(ref.Terminal))
			sequences = append(sequences, int64(ref.Sequence))
		}
		for _, ref := range streams {
			set = append(set, int64(ref.Number))
		}
		sequences[0] = int64(sets.index(set))
		mine[i] = int64(assignments.index(sequences))
	}
	s.b = AppendSequence(s.b, mine)
	s.b = appendLists(s.b, sets.lists)
	s.b = appendLists(s.b, assignments.lists)
	return s.bytes()
}

// streams fills in the streams of c.Threads and returns the number of sequences.
func (d *decoder) streams(c *Content) int {
	count := d.uvarintUpTo(math.MaxInt32)
	mine, sets, assignments := d.column(len(c.Threads)), d.lists(), d.lists()
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
	for i, k := range mine {
		if k < 0 || k >= int64(len(all)) {
			d.fail(errNumber)
			return 0
		}
		c.Threads[i].Streams = all[k]
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
	n := len(c.Threads)
	s.column(n, func(i int) int64 { return c.Threads[i].FirstTick })
	s.column(n, func(i int) int64 {
		switch t := &c.Threads[i]; {
		case t.timed():
			return timingOfCalls
		case len(t.Aggregates) > 0:
			return timingAggregates
		}
		return timingNone
	})
	s.column(n, func(i int) int64 { return c.Threads[i].EndTick - c.Threads[i].FirstTick })
	s.column(n, func(i int) int64 { return c.Threads[i].InsideTicks })
	return s.bytes()
}

// timingStart fills in c.Threads and returns which timing the threads have.
func (d *decoder) timingStart(c *Content) []uint8 {
	n := len(c.Threads)
	ticks, has, lengths, inside := d.column(n), d.column(n), d.column(n), d.column(n)
	kinds := make([]uint8, n)
	for i := range c.Threads {
		if has[i] < timingNone || has[i] > timingAggregates {
			d.fail(errNumber)
			return kinds
		}
		c.Threads[i].FirstTick = ticks[i]
		c.Threads[i].EndTick = ticks[i] + lengths[i]
		c.Threads[i].InsideTicks = inside[i]
		kinds[i] = uint8(has[i])
	}
	return kinds
}
