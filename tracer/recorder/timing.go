package recorder

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A column is a sequence of signed numbers as varints.
type column struct {
	spill
	n uint64
}

func (c *column) push(v int64) { c.pushAlternate([]int64{v}) }

// pushAlternate adds every second of some numbers, from the first one on.
func (c *column) pushAlternate(values []int64) {
	c.n += uint64(len(values)+1) / 2
	for len(values) > 0 {
		piece := c.room(binary.MaxVarintLen64)
		b, n, i := (*piece)[:cap(*piece)], len(*piece), 0
		for ; i < len(values) && len(b)-n >= binary.MaxVarintLen64; i += 2 {
			u := uint64(values[i])<<1 ^ uint64(values[i]>>63)
			if u >= 1<<14 {
				for ; u >= 1<<7; n++ {
					b[n], u = byte(u)|1<<7, u>>7
				}
				b[n] = byte(u)
				n++
				continue
			}
			more := min(u>>7, 1) // most often it is one byte or two: not worth a branch that nobody can predict
			b[n], b[n+1] = byte(u|more<<7), byte(u>>7)
			n += 1 + int(more)
		}
		*piece = b[:n]
		values = values[min(i, len(values)):]
	}
}

// values expands the column; f has what is not in memory.
func (c *column) values(f io.ReaderAt) ([]int64, error) {
	b, err := c.bytes(f)
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, min(c.n, uint64(len(b))))
	for len(b) > 0 {
		v, i := binary.Varint(b)
		if i <= 0 {
			return nil, errCheckpoint
		}
		out = append(out, v)
		b = b[i:]
	}
	if uint64(len(out)) != c.n {
		return nil, errCheckpoint
	}
	return out, nil
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
	case t.grids.settings.Mode == trace.TimingAggregated:
		for int(number) >= len(t.aggregates) {
			t.aggregates = append(t.aggregates, trace.Aggregate{Terminal: int32(len(t.aggregates))})
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
}

// timeLoop adds the times of whole iterations of the thread's loop; stamps are enter and exit of each call.
func (t *thread) timeLoop(stamps []int64) {
	l := &t.loop
	if !l.alike || t.tally != nil || t.grids.settings.Mode == trace.TimingAggregated {
		for len(stamps) > 0 {
			for i := range l.steps {
				s := &l.steps[i]
				t.time(s.number, s.first, stamps[2*i], stamps[2*i+1])
			}
			stamps = stamps[2*len(l.steps):]
		}
		return
	}
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
	}
}

// addTiming gives a thread of a trace its times; f has what is not in memory.
func (t *thread) addTiming(to *trace.Thread, f io.ReaderAt) error {
	to.EndTick, to.InsideTicks = t.end, t.inside
	for _, a := range t.aggregates {
		if a.Durations.Count > 0 {
			a.Gaps.Histogram, a.Durations.Histogram = slices.Clone(a.Gaps.Histogram), slices.Clone(a.Durations.Histogram)
			to.Aggregates = append(to.Aggregates, a)
		}
	}
	var err error
	if to.Gaps, err = t.gaps.values(f); err != nil {
		return err
	}
	if to.Durations, err = t.durations.values(f); err != nil || t.tally == nil {
		return err
	}
	return t.tally.addTo(to, len(t.recorder.clustering.votes))
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
	t.gaps.encode(e)
	t.durations.encode(e)
	e.uint(uint64(len(t.aggregates)))
	for i := range t.aggregates {
		for _, s := range []*trace.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
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

func (t *thread) decodeTiming(d *decoder, terminals int, spilled int64) error {
	t.rounder = trace.TimingRounder{Longest: d.int(), Recent: d.int(), Drift: d.int(), Since: d.int()}
	t.end, t.inside, t.ended = d.int(), d.int(), d.bool()
	t.gaps.decode(d, spilled)
	t.durations.decode(d, spilled)
	n := d.count()
	if d.bad || n > terminals || t.gaps.n != t.durations.n {
		return errCheckpoint
	}
	t.aggregates = make([]trace.Aggregate, n)
	for i := range t.aggregates {
		t.aggregates[i].Terminal = int32(i)
		for _, s := range []*trace.IntervalStatistics{&t.aggregates[i].Gaps, &t.aggregates[i].Durations} {
			s.Count, s.Sum, s.Min, s.Max = d.uint(), d.int(), d.int(), d.int()
			for range d.count() {
				s.Histogram = append(s.Histogram, trace.HistogramBin{Bin: int(d.uint()), Count: d.uint()})
			}
		}
	}
	return nil
}
