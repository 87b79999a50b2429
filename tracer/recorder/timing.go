package recorder

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/repeat"
)

// A column is a sequence of signed numbers. Those that are not in a full block are in
// memory as varints.
type column struct {
	b   []byte
	n   uint64 // of the numbers in b
	sum int64  // of all numbers so far
}

func (c *column) push(v int64) { c.pushAlternate([]int64{v}) }

// firstColumn is the initial capacity of a column, since most threads in tests are short.
const firstColumn = 1 << 10

// pushAlternate adds every second number, beginning with the first.
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
			more := min(u>>7, 1) // mostly one byte or two; a branch would be mispredicted
			room[n], room[n+1] = byte(u|more<<7), byte(u>>7)
			n += 1 + int(more)
		}
		b = room[:n]
		values = values[min(i, len(values)):]
	}
	c.b, c.sum = b, sum
}

// join adds the numbers of another column, which must not be used any more.
func (c *column) join(more *column) {
	c.b = append(c.b, more.b...)
	c.n += more.n
	c.sum += more.sum
}

// time adds the times of a call, in clock ticks: rounded when timing is lossy, counted when it is
// aggregated. marker reports whether the call is a marker for clustering.
func (t *thread) time(number int32, function uint16, marker bool, enter, exit int64) {
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
	if t.tally != nil && t.addToTally(number, marker, gap, duration) {
		return
	}
	t.coarse = t.coarse || t.summed
	t.gaps.push(gap)
	t.durations.push(duration)
	t.closeTimes()
}

// closeTimes makes a block of the thread's times when there are enough of them.
func (t *thread) closeTimes() {
	if t.gaps.n < t.recorder.Limits.BlockCalls {
		return
	}
	r := t.recorder
	gaps, durations := &t.gaps, &t.durations
	b := &Block{Of: TimesOf(t.number), First: t.blockTimes, N: gaps.n, Before: t.blockTicks, Coarse: t.coarse, Data: [2][]byte{gaps.b, durations.b}}
	t.coarse = false
	r.full = append(r.full, b)
	t.blockTimes += gaps.n
	t.blockTicks = gaps.sum + durations.sum
	gaps.b, gaps.n = r.room(len(gaps.b)), 0
	durations.b, durations.n = r.room(len(durations.b)), 0
}

// room returns memory for the next block, which usually is about as long as the one before.
func (k *blocks) room(size int) []byte {
	if n := len(k.spare); n > 0 {
		b := k.spare[n-1]
		k.spare = k.spare[:n-1]
		return b
	}
	return make([]byte, 0, size+size/16)
}

// maxSpare is the number of written blocks whose memory is kept for reuse: about as many as two
// checkpoints apart.
const maxSpare = 8

// Recycle takes the memory of a block that is in the log now.
func (k *blocks) Recycle(b *Block) {
	if b.Of.Terminal == none {
		for _, data := range b.Data {
			if len(k.spare) < maxSpare {
				k.spare = append(k.spare, data[:0])
			}
		}
	}
	b.Data = [2][]byte{}
}

// timeLoop adds the times of whole iterations of the thread's loop; stamps are the enter and
// exit of each call.
func (t *thread) timeLoop(stamps []int64) {
	steps := t.repeats.Steps()
	if !t.loop.alike || t.tally != nil || t.grids.settings.Mode == timing.Aggregated {
		for len(stamps) > 0 {
			for i := range steps {
				s := &steps[i]
				t.time(s.Terminal, s.Function, s.Marker, stamps[2*i], stamps[2*i+1])
			}
			stamps = stamps[2*len(steps):]
		}
		return
	}
	// a block ends within an iteration
	for limit := 2 * int(t.recorder.Limits.BlockCalls-t.gaps.n); len(stamps) > limit; limit = 2 * int(t.recorder.Limits.BlockCalls) {
		t.timesOfLoop(stamps[:limit])
		stamps = stamps[limit:]
	}
	t.timesOfLoop(stamps)
}

// timesOfLoop adds the times of calls of the thread's loop. They share one grid and fit into
// the current block.
func (t *thread) timesOfLoop(stamps []int64) {
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
	if grid := t.loop.grid; grid != nil {
		t.rounder.Round(grid, stamps)
	}
	if len(stamps) > 0 {
		t.gaps.pushAlternate(stamps)
		t.durations.pushAlternate(stamps[1:])
		t.closeTimes()
	}
}

// addTiming adds the thread's times to its row in the trace of.
func (t *thread) addTiming(to *trace.Thread, of *trace.Content) error {
	to.EndTick, to.InsideTicks = t.end, t.inside
	for _, a := range t.aggregates {
		if a.Durations.Count > 0 {
			a.Gaps.Histogram, a.Durations.Histogram = slices.Clone(a.Gaps.Histogram), slices.Clone(a.Durations.Histogram)
			to.Aggregates = append(to.Aggregates, a)
		}
	}
	if t.tally != nil {
		t.tally.AddTo(to, len(t.recorder.clustering.Votes()))
	}
	return t.times(to, of)
}

// encodeTiming writes the times' part of a checkpoint.
func (t *thread) encodeTiming(e *checkpoint.Encoder) {
	e.Int(t.rounder.Longest)
	e.Int(t.rounder.Recent)
	e.Int(t.rounder.Drift)
	e.Int(t.rounder.Since)
	e.Int(t.end)
	e.Int(t.inside)
	e.Bool(t.ended)
	e.Uint(t.blockTimes)
	e.Int(t.blockTicks)
	e.Bool(t.coarse)
	t.gaps.encode(e)
	t.durations.encode(e)
	e.Uint(uint64(len(t.aggregates)))
	for i := range t.aggregates {
		for _, s := range []*timing.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
			e.Uint(s.Count)
			e.Int(s.Sum)
			e.Int(s.Min)
			e.Int(s.Max)
			e.Uint(uint64(len(s.Histogram)))
			for _, b := range s.Histogram {
				e.Uint(uint64(b.Bin))
				e.Uint(b.Count)
			}
		}
	}
}

func (t *thread) decodeTiming(d *checkpoint.Decoder, terminals int) error {
	t.rounder = timing.Rounder{Longest: d.Int(), Recent: d.Int(), Drift: d.Int(), Since: d.Int()}
	t.end, t.inside, t.ended = d.Int(), d.Int(), d.Bool()
	t.blockTimes, t.blockTicks, t.coarse = d.Uint(), d.Int(), d.Bool()
	t.gaps.decode(d)
	t.durations.decode(d)
	n := d.Count()
	if d.Failed || n > terminals || t.gaps.n != t.durations.n {
		return ErrCheckpoint
	}
	t.aggregates = make([]timing.Aggregate, n)
	for i := range t.aggregates {
		t.aggregates[i].Terminal = int32(i)
		for _, s := range []*timing.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
			s.Count, s.Sum, s.Min, s.Max = d.Uint(), d.Int(), d.Int(), d.Int()
			for range d.Count() {
				s.Histogram = append(s.Histogram, timing.Bin{Bin: int(d.Uint()), Count: d.Uint()})
			}
		}
	}
	return nil
}

// timingGrids are the rounding grids of the functions.
type timingGrids struct {
	settings   timing.Settings
	byFunction []*timing.Grid // nil or missing: no rounding
}

var finalizeID = mpi.ByName("MPI_Finalize").ID

// newTimingGrids parses the tracer's setting. If it is malformed, times are not rounded.
func newTimingGrids(text string) *timingGrids {
	settings, err := timing.ParseSettings(text)
	if err != nil {
		settings = timing.Settings{Mode: timing.Lossless}
	}
	g := &timingGrids{settings: settings}
	if settings.Mode != timing.Lossy {
		return g
	}
	for i := range mpi.Functions {
		grid, err := timing.GridOf(settings.ErrorOf(mpi.Functions[i].Name))
		if err != nil {
			return &timingGrids{settings: timing.Settings{Mode: timing.Lossless}}
		}
		g.byFunction = append(g.byFunction, grid)
	}
	return g
}

func (g *timingGrids) of(function uint16) *timing.Grid {
	if int(function) < len(g.byFunction) {
		return g.byFunction[function]
	}
	return nil
}

// loopTimes is how the times of a loop's calls are rounded.
type loopTimes struct {
	alike bool         // all in the same way
	grid  *timing.Grid // if alike; nil: not at all
}

func (g *timingGrids) ofLoop(steps []repeat.Step) loopTimes {
	l := loopTimes{alike: true, grid: g.of(steps[0].Function)}
	for i := range steps {
		l.alike = l.alike && g.of(steps[i].Function) == l.grid
	}
	return l
}
