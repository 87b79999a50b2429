package recorder

import (
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/repeat"
)

// record records a committed call of a thread or a step of a vote. A step is no call; a loop
// continues after it.
func (t *thread) record(rec record.Record) {
	if rec.Function == online.StepFunction {
		t.recorder.applyVoteStep(t, rec.Words)
		return
	}
	if rec.IsLeft() {
		t.recorder.left++
		t.withoutEffects(rec)
		return
	}
	if m := t.repeats.Match(rec.Words, t.untraced); m != nil {
		t.again(m, rec)
		return
	}
	t.apply(rec)
}

// withoutEffects records a call that never returned. What it has done is not known.
func (t *thread) withoutEffects(rec record.Record) {
	c := t.read(rec)
	if c == nil {
		return
	}
	t.recorder.keys.Number(c)
	t.append(c.Terminal, rec)
	t.streams.Push(c.Terminal, &c.Values)
	t.untraced = t.recorder.off
}

// recordSummed records the calls of a summed record, which is where the thread's first buffer
// continues. They have no times of their own.
func (t *thread) recordSummed(b *record.Buffer, summed record.Record) {
	t.summed = true
	defer func() { t.summed = false }()
	for rec := range b.Calls(t.offset, summed) {
		if rec.Words == nil {
			t.recorder.lost.Malformed++
			continue
		}
		t.record(rec)
	}
}

// apply records a call whose key must be written.
func (t *thread) apply(rec record.Record) {
	r := t.recorder
	c := t.read(rec)
	if c == nil {
		return
	}
	r.applyEffects(c)
	r.keys.Number(c)
	if c.Added > 0 {
		r.grew(c.Added)
	}
	t.repeats.Remember(c)
	t.append(c.Terminal, rec)
	if c.Wide && t.tally != nil { // clustering compares the arguments anyway
		t.tally.AddArguments(c.Varied)
	}
	t.streams.Push(c.Terminal, &c.Values)
	t.untraced = r.off
}

// read reads a record that is no repeat; nil if it is malformed.
func (t *thread) read(rec record.Record) *key.Call {
	t.repeats.Interrupt()
	c := t.recorder.keys.Read(t.number, rec, t.untraced)
	switch lost := &t.recorder.lost; {
	case c == nil:
		lost.Malformed++
	case !c.Whole:
		lost.Truncated++
	}
	return c
}

// again records a call that is a repeat.
func (t *thread) again(m *repeat.Repeat, rec record.Record) {
	number := t.repeats.Repeat(m, rec.Words)
	t.append(number, rec)
	if !m.Values.None() {
		t.streams.ReadAgain(number, &m.Values, rec.Words)
	}
	t.untraced = t.recorder.off
	if t.repeats.After(m, number, rec, t.untraced) {
		t.loop = t.recorder.grids.ofLoop(t.repeats.Steps())
	}
}

// append adds a call to the thread's grammar and timing.
func (t *thread) append(number int32, rec record.Record) {
	t.grammar.Append(number)
	t.time(number, rec.Function, rec.IsMarker(), int64(rec.Enter), int64(rec.Exit))
	t.lastFunction = rec.Function
	t.calls++
}

// iterate consumes whole iterations of the loop of a source's thread while their epochs are at most
// last. short reports that the records end in the middle of another iteration that is equal so far.
func (s *Source) iterate(last uint64) (short bool) {
	t := s.thread
	if !t.repeats.EnterLoop(s.offset(), t.untraced || t.recorder.off) {
		return false
	}
	for more := true; more; {
		more = t.repeats.Iterate(s.Buffers, &s.composer, last)
		t.timeLoop(t.repeats.Stamps())
	}
	calls, end, short := t.repeats.LeaveLoop()
	s.advance(end)
	if t.calls += calls; calls > 0 {
		steps := t.repeats.Steps()
		t.lastFunction = steps[len(steps)-1].Function
	}
	return short
}
