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

// columns are the times of consecutive calls of a thread.
type columns struct{ gaps, durations column }

// push adds the gap and the duration of each call.
func (c *columns) push(intervals []int64) {
	c.gaps.pushAlternate(intervals)
	c.durations.pushAlternate(intervals[1:])
}

func (c *columns) visit(v checkpoint.Visitor) {
	for _, c := range []*column{&c.gaps, &c.durations} {
		checkpoint.Uint(v, &c.n)
		checkpoint.Int(v, &c.sum)
		v.Bytes(&c.b)
		v.Check(c.n <= uint64(len(c.b)))
	}
}

// data returns what a block has of the columns.
func (c *columns) data() [2][]byte { return [2][]byte{c.gaps.b, c.durations.b} }

// time adds the times of a call, in clock ticks: rounded when timing is lossy, counted when it is
// aggregated. marker reports whether the call is a marker for clustering.
func (t *thread) time(number int32, function uint16, marker bool, enter, exit int64) {
	if t.calls == 0 {
		t.firstTick, t.end, t.lastExit = enter, enter, enter
	}
	call := [...]int64{enter, exit}
	t.toIntervals(t.recorder.grids.of(function), call[:])
	t.ended = t.ended || function == finalizeID
	if t.recorder.grids.settings.Mode == timing.Aggregated {
		for int(number) >= len(t.aggregates) {
			t.aggregates = append(t.aggregates, timing.Aggregate{Terminal: int32(len(t.aggregates))})
		}
		t.aggregates[number].Gaps.Add(call[0])
		t.aggregates[number].Durations.Add(call[1])
		return
	}
	if t.tally != nil && t.addToTally(number, marker, call[:]) {
		return
	}
	t.coarse = t.coarse || t.summed
	t.push(call[:])
	t.closeTimes()
}

// toIntervals replaces the enter and exit of calls by their gaps and durations, rounded to grid if
// it is not nil.
func (t *thread) toIntervals(grid *timing.Grid, stamps []int64) {
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
	if grid != nil {
		t.rounder.Round(grid, stamps)
	}
}

// block returns the times that are not in a full block as a block.
func (t *thread) block() *Block {
	return &Block{Of: TimesOf(t.number), First: t.blockTimes, N: t.gaps.n, Before: t.blockTicks, Coarse: t.coarse, Data: t.data()}
}

// closeTimes makes a block of the thread's times when there are enough of them.
func (t *thread) closeTimes() {
	if t.gaps.n < t.recorder.Limits.BlockCalls {
		return
	}
	r := t.recorder
	r.full = append(r.full, t.block())
	t.coarse = false
	t.blockTimes += t.gaps.n
	t.blockTicks = t.gaps.sum + t.durations.sum
	for _, c := range []*column{&t.gaps, &t.durations} {
		c.b, c.n = r.room(len(c.b)), 0
	}
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
	if !t.loop.alike || t.tally != nil || t.recorder.grids.settings.Mode == timing.Aggregated {
		for len(stamps) > 0 {
			for i := range steps {
				s := &steps[i]
				t.time(s.Terminal, s.Function, s.Marker, stamps[2*i], stamps[2*i+1])
			}
			stamps = stamps[2*len(steps):]
		}
		return
	}
	t.closeTimes() // a state that was restored may have a whole block
	for len(stamps) > 0 {
		n := min(2*int(t.recorder.Limits.BlockCalls-t.gaps.n), len(stamps)) // a block ends within an iteration
		t.toIntervals(t.loop.grid, stamps[:n])
		t.push(stamps[:n])
		t.closeTimes()
		stamps = stamps[n:]
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

// visitTiming visits the times' part of a checkpoint.
func (t *thread) visitTiming(v checkpoint.Visitor) {
	checkpoint.Int(v, &t.rounder.Longest, &t.rounder.Recent, &t.rounder.Drift, &t.rounder.Since)
	checkpoint.Int(v, &t.end, &t.inside)
	v.Bool(&t.ended)
	checkpoint.Uint(v, &t.blockTimes)
	checkpoint.Int(v, &t.blockTicks)
	v.Bool(&t.coarse)
	t.columns.visit(v)
	v.Check(t.gaps.n == t.durations.n)
	checkpoint.List(v, &t.aggregates, func(a *timing.Aggregate) {
		for _, s := range []*timing.IntervalStatistics{&a.Gaps, &a.Durations} {
			checkpoint.Uint(v, &s.Count)
			checkpoint.Int(v, &s.Sum, &s.Min, &s.Max)
			checkpoint.List(v, &s.Histogram, func(b *timing.Bin) {
				checkpoint.Uint(v, &b.Bin)
				checkpoint.Uint(v, &b.Count)
			})
		}
	})
	for i := range t.aggregates {
		t.aggregates[i].Terminal = int32(i)
	}
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
	if settings.Mode == timing.Lossy {
		for i := range mpi.Functions {
			grid, _ := settings.GridOf(mpi.Functions[i].Name) // ParseSettings has checked the error
			g.byFunction = append(g.byFunction, grid)
		}
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
	grid := g.of(steps[0].Function)
	differs := slices.ContainsFunc(steps, func(s repeat.Step) bool { return g.of(s.Function) != grid })
	return loopTimes{alike: !differs, grid: grid}
}
