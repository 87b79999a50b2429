package recorder

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A column is a sequence of signed numbers, the last of them as varints in memory: those that are in no full block.
type column struct {
	b   []byte
	n   uint64 // of the numbers in b
	sum int64  // of all numbers so far
}

func (c *column) push(v int64) { c.pushAlternate([]int64{v}) }

// firstColumn is the memory that a column begins with: most threads of most tests are short.
const firstColumn = 1 << 10

// pushAlternate adds every second of some numbers, from the first one on.
func (c *column) pushAlternate(values []int64) {
	c.n += uint64(len(values)+1) / 2
	b, sum := c.b, c.sum
	for len(values) > 0 {
		if cap(b)-len(b) < binary.MaxVarintLen64 {
			b = slices.Grow(b, max(firstColumn, len(b)))
		}
		room, n, i := b[:cap(b)], len(b), 0
		for ; i < len(values) && len(room)-n >= binary.MaxVarintLen64; i += 2 {
			sum += values[i]
			u := uint64(values[i])<<1 ^ uint64(values[i]>>63)
			if u >= 1<<14 {
				for ; u >= 1<<7; n++ {
					room[n], u = byte(u)|1<<7, u>>7
				}
				room[n] = byte(u)
				n++
				continue
			}
			more := min(u>>7, 1) // most often it is one byte or two: not worth a branch that nobody can predict
			room[n], room[n+1] = byte(u|more<<7), byte(u>>7)
			n += 1 + int(more)
		}
		b = room[:n]
		values = values[min(i, len(values)):]
	}
	c.b, c.sum = b, sum
}

// join adds the numbers of another column, which is used no more.
func (c *column) join(more *column) {
	c.b = append(c.b, more.b...)
	c.n += more.n
	c.sum += more.sum
}

// time adds the times of a call, in clock ticks: rounded when timing is lossy, counted when it is aggregated. first is the
// first word of its record.
func (t *thread) time(number int32, first uint64, enter, exit int64) {
	function := functionIn(first)
	gap, duration := enter-t.lastExit, exit-enter
	if t.calls == 0 {
		t.firstTick, t.end, gap = enter, enter, 0
	}
	t.lastExit = exit
	if exit > t.end && !t.ended {
		t.inside += exit - max(enter, t.end)
		t.end = exit
	}
	t.ended = t.ended || function == finalizeID
	switch grid := t.grids.of(function); {
	case t.grids.settings.Mode == timing.Aggregated:
		for int(number) >= len(t.aggregates) {
			t.aggregates = append(t.aggregates, timing.Aggregate{Terminal: int32(len(t.aggregates))})
		}
		t.aggregates[number].Gaps.Add(gap)
		t.aggregates[number].Durations.Add(duration)
		return
	case grid != nil:
		intervals := [...]int64{gap, duration}
		t.rounder.Round(grid, intervals[:])
		gap, duration = intervals[0], intervals[1]
	}
	if t.tally != nil && t.tallied(number, isMarker(first), gap, duration) {
		return
	}
	t.gaps.push(gap)
	t.durations.push(duration)
	t.closeTimes()
}

// closeTimes makes a block of the thread's times when there are enough of them.
func (t *thread) closeTimes() {
	if t.gaps.n < t.recorder.blockCalls {
		return
	}
	r := t.recorder
	gaps, durations := &t.gaps, &t.durations
	b := &block{of: timesOf(t.number), first: t.blockTimes, n: gaps.n, before: t.blockTicks, data: [2][]byte{gaps.b, durations.b}}
	r.full = append(r.full, b)
	t.blockTimes += gaps.n
	t.blockTicks = gaps.sum + durations.sum
	gaps.b, gaps.n = r.room(len(gaps.b)), 0
	durations.b, durations.n = r.room(len(durations.b)), 0
}

// room gives memory for the next block, which is most often about as long as the one before.
func (r *Recorder) room(size int) []byte {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return make([]byte, 0, size+size/16)
}

// mostSpare is how much memory of blocks that were written waits to be used again: about what comes between two checkpoints.
const mostSpare = 8

// recycle takes back the memory of a block that is in the log.
func (r *Recorder) recycle(b *block) {
	if b.of.terminal == none {
		for _, data := range b.data {
			if len(r.spare) < mostSpare {
				r.spare = append(r.spare, data[:0])
			}
		}
	}
	b.data = [2][]byte{}
}

// timeLoop adds the times of whole iterations of the thread's loop; stamps are enter and exit of each call.
func (t *thread) timeLoop(stamps []int64) {
	l := &t.loop
	if !l.alike || t.tally != nil || t.grids.settings.Mode == timing.Aggregated {
		for len(stamps) > 0 {
			for i := range l.steps {
				s := &l.steps[i]
				t.time(s.number, s.first, stamps[2*i], stamps[2*i+1])
			}
			stamps = stamps[2*len(l.steps):]
		}
		return
	}
	// a block ends within an iteration
	for most := 2 * int(t.recorder.blockCalls-t.gaps.n); len(stamps) > most; most = 2 * int(t.recorder.blockCalls) {
		t.timesOfLoop(stamps[:most])
		stamps = stamps[most:]
	}
	t.timesOfLoop(stamps)
}

// timesOfLoop adds the times of calls of the thread's loop, all on one grid, of which a block has room for all.
func (t *thread) timesOfLoop(stamps []int64) {
	l := &t.loop
	last, end, inside := t.lastExit, t.end, t.inside
	for i := 0; i+1 < len(stamps); i += 2 {
		enter, exit := stamps[i], stamps[i+1]
		stamps[i], stamps[i+1] = enter-last, exit-enter
		last = exit
		if exit > end {
			inside += exit - max(enter, end)
			end = exit
		}
	}
	t.lastExit = last
	if !t.ended {
		t.end, t.inside = end, inside
	}
	if l.grid != nil {
		t.rounder.Round(l.grid, stamps)
	}
	if len(stamps) > 0 {
		t.gaps.pushAlternate(stamps)
		t.durations.pushAlternate(stamps[1:])
		t.closeTimes()
	}
}

// addTiming gives a thread of a trace, whose content it is to be, its times.
func (t *thread) addTiming(to *trace.Thread, of *trace.Content) error {
	to.EndTick, to.InsideTicks = t.end, t.inside
	for _, a := range t.aggregates {
		if a.Durations.Count > 0 {
			a.Gaps.Histogram, a.Durations.Histogram = slices.Clone(a.Gaps.Histogram), slices.Clone(a.Durations.Histogram)
			to.Aggregates = append(to.Aggregates, a)
		}
	}
	if t.tally != nil {
		t.tally.addTo(to, len(t.recorder.clustering.votes))
	}
	return t.times(to, of)
}

// encodeTiming is the part of a checkpoint.
func (t *thread) encodeTiming(e *encoder) {
	e.int(t.rounder.Longest)
	e.int(t.rounder.Recent)
	e.int(t.rounder.Drift)
	e.int(t.rounder.Since)
	e.int(t.end)
	e.int(t.inside)
	e.bool(t.ended)
	e.uint(t.blockTimes)
	e.int(t.blockTicks)
	t.gaps.encode(e)
	t.durations.encode(e)
	e.uint(uint64(len(t.aggregates)))
	for i := range t.aggregates {
		for _, s := range []*timing.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
			e.uint(s.Count)
			e.int(s.Sum)
			e.int(s.Min)
			e.int(s.Max)
			e.uint(uint64(len(s.Histogram)))
			for _, b := range s.Histogram {
				e.uint(uint64(b.Bin))
				e.uint(b.Count)
			}
		}
	}
}

func (t *thread) decodeTiming(d *decoder, terminals int) error {
	t.rounder = timing.Rounder{Longest: d.int(), Recent: d.int(), Drift: d.int(), Since: d.int()}
	t.end, t.inside, t.ended = d.int(), d.int(), d.bool()
	t.blockTimes, t.blockTicks = d.uint(), d.int()
	t.gaps.decode(d)
	t.durations.decode(d)
	n := d.count()
	if d.bad || n > terminals || t.gaps.n != t.durations.n {
		return errCheckpoint
	}
	t.aggregates = make([]timing.Aggregate, n)
	for i := range t.aggregates {
		t.aggregates[i].Terminal = int32(i)
		for _, s := range []*timing.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
			s.Count, s.Sum, s.Min, s.Max = d.uint(), d.int(), d.int(), d.int()
			for range d.count() {
				s.Histogram = append(s.Histogram, timing.Bin{Bin: int(d.uint()), Count: d.uint()})
			}
		}
	}
	return nil
}
