package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The results of MPI_Wtime are times, although the program read them itself. So their value
// sequences have separate blocks, which count as timing (docs/decisions/0081-clock-readings.md). A
// finished trace with the times of calls stores each reading relative to the exit of its call.
const clockFunction = "MPI_Wtime"

// A clockReading is the coding of a sequence of clock readings.
type clockReading struct {
	form readingForm
	// unit is, for near readings, the number of ns per step. For exact readings it is the maximum
	// error, in units in the last place, of a reading compared with the number of seconds nearest
	// to its nanoseconds.
	unit   int64
	offset int64 // reading of the clock, in ns, at 0 ns of the node's CLOCK_MONOTONIC
}

type readingForm int64

const (
	plainReadings readingForm = iota // the bits of each value
	nearReadings                     // within MomentTicks, like all moments of lossy timing
	exactReadings
	readingForms
)

// value returns the bits of the reading of a call that ended at exit, in ns. Sums wrap around at 64
// bits.
func (r *clockReading) value(coded, exit int64) int64 {
	switch r.form {
	case nearReadings:
		return seconds(r.offset + exit + coded*r.unit)
	case exactReadings:
		span := 2*r.unit + 1
		last := floorMod(coded, span)
		return seconds(r.offset+exit+(coded-last)/span) + last - r.unit
	}
	return coded
}

// code is the inverse of value, for a reading that fits.
func (r *clockReading) code(value, exit int64) int64 {
	switch ns := nanosecondsOf(value); r.form {
	case nearReadings:
		return floorDiv(ns-exit-r.offset+r.unit/2, r.unit)
	case exactReadings:
		return (ns-exit-r.offset)*(2*r.unit+1) + value - seconds(ns) + r.unit
	}
	return value
}

// seconds returns the bits of the number of seconds nearest to ns nanoseconds.
func seconds(ns int64) int64 { return int64(math.Float64bits(float64(ns) / 1e9)) }

// nanosecondsOf converts the bits of a number of seconds to nanoseconds.
func nanosecondsOf(value int64) int64 {
	return int64(math.Round(math.Float64frombits(uint64(value)) * 1e9))
}

func floorDiv(x, n int64) int64 { return (x - floorMod(x, n)) / n }

const (
	// maxReading is the largest reading in seconds that is coded relative to its call.
	maxReading = 1 << 32
	// readingNoise is the largest difference, in ns, between a time since 1970 in seconds and in
	// nanoseconds.
	readingNoise = 512
	// maxLastBits is the largest unit of exact readings. A clock that counts nanoseconds needs 1.
	maxLastBits = 1 << 10
	// readingShare: where fewer than one in readingShare calls of a thread reads the clock, its
	// readings are not coded. Going through the times of all calls would take more time than it is
	// worth.
	readingShare = 64
)

// clockReadings reports which value sequences contain only results of MPI_Wtime.
func clockReadings(c *Content) []bool {
	readings, other := make([]bool, len(c.Sequences)), make([]bool, len(c.Sequences))
	for _, streams := range c.Threads.streamSets.Lists {
		for _, ref := range streams {
			if c.readsClock(ref) {
				readings[ref.Sequence] = true
			} else {
				other[ref.Sequence] = true
			}
		}
	}
	for i := range readings {
		readings[i] = readings[i] && !other[i]
	}
	return readings
}

// readsClock reports whether a stream has the results of MPI_Wtime.
func (c *Content) readsClock(ref StreamRef) bool {
	s := &c.Signatures[ref.Terminal]
	return s.Return.Form == Stream && s.Return.Int == int64(ref.Number) && c.function(s.Function).Name == clockFunction
}

// codedReadings are the coded sequences of clock readings of a content.
type codedReadings struct {
	of    map[int]clockReading
	codes map[int][]int64
}

// codeReadings codes readings relative to their calls, where the time of each call is known and a
// sequence belongs to one thread.
func codeReadings(c *Content, readings []bool) (*codedReadings, error) {
	coded := &codedReadings{map[int]clockReading{}, map[int][]int64{}}
	if !c.Meta.Final || len(c.Leads) > 0 || !slices.Contains(readings, true) {
		return coded, nil
	}
	users := make([]int, len(c.Sequences))
	for _, t := range c.Threads.streams.All() {
		for _, ref := range c.Threads.streamSets.Lists[t] {
			users[ref.Sequence]++
		}
	}
	var plans []callPlan
	for i := range c.Threads.Len() {
		t := c.Threads.At(i)
		of, values, total := map[int32]int{}, map[int][]int64{}, 0
		for _, ref := range t.Streams {
			s := int(ref.Sequence)
			if !readings[s] || users[s] != 1 {
				continue
			}
			all, err := c.Sequences[s].All()
			if err != nil {
				return nil, err
			}
			if codable(all) {
				of[ref.Terminal], values[s] = s, all
				total += len(all)
			}
		}
		if !t.timed() || len(t.Extrapolations) > 0 || total == 0 || uint64(total) < t.Calls/readingShare {
			continue
		}
		if plans == nil {
			plans = planCalls(c, semanticsOf(c.Functions))
		}
		if err := coded.thread(newCursor(c, plans, i, &contentSource{c: c}), of, values, total); err != nil {
			return nil, err
		}
	}
	return coded, nil
}

// codable reports whether all values can be readings of a clock in seconds.
func codable(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return !(math.Abs(math.Float64frombits(uint64(v))) < maxReading) })
}

// thread codes the readings of a thread; of maps terminals to sequences.
func (r *codedReadings) thread(c *Cursor, of map[int32]int, sequences map[int][]int64, total int) error {
	exits := map[int32][]int64{}
	differences := make([]int64, 0, total)
	reading := clockReading{form: exactReadings}
	err := c.exits(func(terminal int32, exit int64) error {
		s, reads := of[terminal]
		if !reads {
			return nil
		}
		k := len(exits[terminal])
		if k == len(sequences[s]) {
			return codec.ErrStreamEnds
		}
		exits[terminal] = append(exits[terminal], exit)
		value := sequences[s][k]
		ns := nanosecondsOf(value)
		differences = append(differences, ns-exit)
		reading.unit = max(reading.unit, timing.Magnitude(value-seconds(ns)))
		return nil
	})
	if err != nil {
		return err
	}
	maxUnit := int64(maxLastBits)
	if c.shared.Meta.Timing.Mode == timing.Lossy {
		reading.form, reading.unit, maxUnit = nearReadings, 2*c.clock.AtMost(timing.MomentTicks), math.MaxInt32
	}
	if reading.unit < 0 || reading.unit > maxUnit || reading.form == nearReadings && reading.unit == 0 {
		return nil
	}
	slices.Sort(differences)
	if len(differences) == 0 {
		return nil
	}
	// readings of a trace that was read get the same offset again
	reading.offset = differences[len(differences)/2]
	for terminal, ends := range exits {
		s := of[terminal]
		if len(ends) != len(sequences[s]) {
			continue
		}
		codes := reading.codes(sequences[s], ends)
		if codes == nil || reading.form == exactReadings && packedSize(codes) >= packedSize(sequences[s]) {
			continue
		}
		r.of[s], r.codes[s] = reading, codes
	}
	return nil
}

func packedSize(values []int64) int {
	return codec.PackedSize(codec.AppendSequence(nil, values), codec.PackSmallest)
}

// codes returns the readings relative to the exits of their calls; nil if decoding would not
// restore them.
func (r *clockReading) codes(values, exits []int64) []int64 {
	codes := make([]int64, len(values))
	for k, exit := range exits {
		codes[k] = r.code(values[k], exit)
		got, off := r.value(codes[k], exit), int64(0)
		if r.form == nearReadings {
			off = r.unit / 2
		}
		if got != values[k] && (off == 0 || timing.Magnitude(nanosecondsOf(got)-nanosecondsOf(values[k])) > off+readingNoise) {
			return nil
		}
	}
	return codes
}

// exits calls visit with the terminal and the exit in ns of each call of a thread.
func (c *Cursor) exits(visit func(terminal int32, exit int64) error) error {
	for terminal, ok := c.walk.Next(); ok; terminal, ok = c.walk.Next() {
		if !c.time(terminal) {
			return c.err
		}
		c.next++
		if err := visit(terminal, c.event.Exit); err != nil {
			return err
		}
	}
	c.releasePart()
	return nil
}

// clockReadings writes the value sequences that are clock readings: numbers, forms, units, offsets,
// encoded lengths and encodings.
func (f *fileWriter) clockReadings(sequences []codec.Sequence, readings []bool, coded *codedReadings) {
	var columns [5][]int64
	var bytes []byte
	for i, sequence := range sequences {
		if readings[i] {
			before := len(bytes)
			reading, values := coded.of[i], sequence.Values
			if codes, relative := coded.codes[i]; relative {
				values = codes
			}
			bytes = codec.AppendSequence(bytes, values)
			for k, v := range [...]int64{int64(i), int64(reading.form), reading.unit, reading.offset, int64(len(bytes) - before)} {
				columns[k] = append(columns[k], v)
			}
		}
		if len(bytes) >= sequenceBlockBytes || i == len(sequences)-1 && len(columns[0]) > 0 {
			var content []byte
			for _, column := range columns {
				content = codec.AppendSequence(content, column)
			}
			f.block(blockClockReadings, columns[0][0], 0, append(content, bytes...))
			columns, bytes = [5][]int64{}, bytes[:0]
		}
	}
}

var errReadings = errors.New("damaged clock readings")

// clockForms reads the columns before the lengths in a block of clock readings.
func (d *decoder) clockForms() (numbers []int64, readings []clockReading) {
	numbers = d.Sequence()
	forms, units, offsets := d.Column(len(numbers)), d.Column(len(numbers)), d.Column(len(numbers))
	if !d.Budget.Take(24 * int64(len(numbers))) {
		d.Fail(codec.ErrMemory)
	}
	if d.Err != nil {
		return nil, nil
	}
	readings = make([]clockReading, len(numbers))
	for i := range readings {
		r := clockReading{readingForm(forms[i]), units[i], offsets[i]}
		if r.form < 0 || r.form >= readingForms || r.unit < 0 || r.unit > math.MaxInt32 || r.form == nearReadings && r.unit == 0 {
			d.Fail(errReadings)
			return nil, nil
		}
		readings[i] = r
	}
	return numbers, readings
}

// resolveReadings replaces coded clock readings by the values that the program got.
func (t *Reader) resolveReadings(wanted func(sequence int) []int64) error {
	if len(t.clockBlocks) == 0 {
		return nil
	}
	for i := range t.shared.Threads.Len() {
		of := map[int32]*readingsOfCall{}
		for _, ref := range t.shared.Threads.At(i).Streams {
			values := wanted(int(ref.Sequence))
			if values == nil || !t.shared.readsClock(ref) {
				continue
			}
			_, reading, err := t.sequenceBytes(int(ref.Sequence))
			if err != nil {
				return err
			}
			if reading.form != plainReadings {
				of[ref.Terminal] = &readingsOfCall{reading, values}
			}
		}
		if len(of) == 0 {
			continue
		}
		if !t.hasTimes(i) {
			return fmt.Errorf("trace: %w", errReadings)
		}
		err := newCursor(&t.shared, t.plans, i, t).exits(func(terminal int32, exit int64) error {
			r := of[terminal]
			if r == nil {
				return nil
			}
			if len(r.left) == 0 {
				return codec.ErrStreamEnds
			}
			r.left[0] = r.value(r.left[0], exit)
			r.left = r.left[1:]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readingsOfCall are the remaining readings of a signature on a thread.
type readingsOfCall struct {
	clockReading
	left []int64
}
