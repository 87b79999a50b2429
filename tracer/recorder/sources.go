package recorder

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The order in which the records of several threads are consumed. What matters is that a handle is created before it
// is used, and used before MPI gives the same value to something else. Epochs say so: a call that creates a handle
// takes its epoch after it happened, one that gives a handle back before, and every other call carries the last epoch
// that it can have seen. Records go by epoch; those of one thread stay in their own order.
//
// Threads go on while we work. A call that has not returned yet is not waited for: no handle that it uses can be freed,
// and so change its meaning, before it returns.

// A Source is what there is of a thread's records: buffers in order, of which only the last may still grow.
type Source struct {
	thread  *thread
	Buffers []*record.Buffer
	// Closed says that the last buffer grows no more: what is open in it will never be committed.
	Closed  bool
	Ended   bool // and the process is gone
	started bool
}

// NewSource is a source of a thread's records, of which nothing is there yet.
func (r *Recorder) NewSource(thread uint32) *Source { return &Source{thread: r.thread(thread)} }

// Number is that of the thread.
func (s *Source) Number() uint32 { return s.thread.number }

// Add adds a buffer, unless the recorder has all that is in it.
func (s *Source) Add(seg *record.Buffer) {
	if seg.Sequence >= s.thread.sequence {
		s.Buffers = append(s.Buffers, seg)
	}
}

// Resume makes sure that the buffers of a source follow on each other and on what the checkpoint has.
func (r *Recorder) Resume(s *Source) (missing bool) {
	t := s.thread
	if len(s.Buffers) > 0 && s.Buffers[0].Sequence != t.sequence {
		r.AddNote("thread %d: segments %d to %d are missing", t.number, t.sequence, s.Buffers[0].Sequence-1)
		t.offset = 0
		missing = true
	}
	// a checkpoint can have the beginning of its first buffer
	s.started = t.offset > 0
	for i := 1; i < len(s.Buffers); i++ {
		if s.Buffers[i].Sequence != s.Buffers[i-1].Sequence+1 {
			r.AddNote("thread %d: segments are missing after %d", t.number, s.Buffers[i-1].Sequence)
			missing = true
		}
	}
	return missing
}

// peek finds the next committed record, or of a process that is gone one that was open then; at its end the source is
// to go on at offset next.
func (r *Recorder) peek(s *Source) (rec record.Record, next int, ok bool) {
	t := s.thread
	for len(s.Buffers) > 0 {
		seg := s.Buffers[0]
		if t.offset < record.BufferHeaderWords {
			t.offset = record.BufferHeaderWords
		}
		last := len(s.Buffers) == 1
		grows := last && !s.Closed
		limit := seg.Available()
		if !s.started && limit > record.BufferHeaderWords {
			s.started = true // its thread has written the clock sample before the first record
			r.beginBuffer(seg)
		}
		for t.offset < limit {
			rec, reserved, open := seg.RecordAt(t.offset, limit)
			switch {
			case reserved == 0:
				if grows {
					return rec, 0, false
				}
				r.lost.Malformed++
				t.offset = limit
			case open && grows:
				return rec, 0, false
			case open && last && s.Ended: // what follows was called in it
				rec.Open = true
				return rec, t.offset + reserved, true
			case open:
				r.lost.Abandoned++
				t.offset += reserved
			default:
				return rec, t.offset + reserved, true
			}
		}
		if grows {
			return rec, 0, false
		}
		r.endBuffer(seg)
		t.sequence, t.offset, s.started = seg.Sequence+1, 0, false
		s.Buffers = s.Buffers[1:]
	}
	return rec, 0, false
}

// beginBuffer takes the clock sample of a buffer's header.
func (r *Recorder) beginBuffer(seg *record.Buffer) {
	h, err := record.ParseBufferHeader(seg.Words)
	if err == nil {
		r.Sample(timing.ClockSample{Ticks: h.Sample[0], MonotonicNS: h.Sample[1], RealtimeNS: h.Sample[2]})
	}
}

// endBuffer takes what is known of a buffer only at its end.
func (r *Recorder) endBuffer(seg *record.Buffer) {
	if h, err := record.ParseBufferHeader(seg.Words); err == nil {
		r.lost.Dropped += h.Dropped
	}
}

// Consume consumes all records that are there.
func (r *Recorder) Consume(sources []*Source) { r.ConsumeOrWait(sources, false) }

// ConsumeLast consumes the last records of a process that is gone, or of one that lives so far, which left this of its life.
func (r *Recorder) ConsumeLast(sources []*Source, l observed.Life) {
	r.life = l
	r.Consume(sources)
	r.lost.Dropped += uint64(l.Lost)
	r.stopped = r.stopped || l.Finalized != 0 && !r.finalized
}

// ConsumeOrWait may leave records at the end of a thread's last buffer, if they begin an iteration of its loop that the
// next buffer will end: one by one they cost many times as much. It does so for a thread that is alone, since others'
// records would have to wait with it.
func (r *Recorder) ConsumeOrWait(sources []*Source, wait bool) {
	r.sites.refresh()
	if len(sources) == 1 {
		s := sources[0]
		for !r.run(s, math.MaxUint64) || !wait {
			rec, next, ok := r.peek(s)
			if !ok {
				return
			}
			r.step(s, rec, next)
		}
		return
	}
	type head struct {
		rec  record.Record
		next int
		ok   bool
	}
	heads := make([]head, len(sources))
	load := func(i int) {
		h := &heads[i]
		h.rec, h.next, h.ok = r.peek(sources[i])
	}
	for i := range sources {
		load(i)
	}
	for {
		// the earliest, and the one that limits how far it may run on
		first, second := -1, -1
		before := func(i, j int) bool {
			return j < 0 || heads[i].rec.Epoch < heads[j].rec.Epoch || heads[i].rec.Epoch == heads[j].rec.Epoch && i < j
		}
		for i := range heads {
			switch {
			case !heads[i].ok:
			case before(i, first):
				first, second = i, first
			case before(i, second):
				second = i
			}
		}
		if first < 0 {
			return
		}
		last := uint64(math.MaxUint64)
		if second >= 0 {
			if last = heads[second].rec.Epoch; second < first {
				last--
			}
		}
		for h := &heads[first]; h.ok && before(first, second); load(first) {
			r.step(sources[first], h.rec, h.next)
			r.run(sources[first], last)
		}
	}
}

// run is the hot loop: it consumes leading records of the current buffer as long as they hit the repeat cache and their epoch
// is at most last. It leaves everything else to peek and step. It stops and returns true where the last buffer ends in the
// middle of an iteration; called again, it goes on.
func (r *Recorder) run(s *Source, last uint64) (short bool) {
	if s.Ended || len(s.Buffers) == 0 {
		return false
	}
	seg, t := s.Buffers[0], s.thread
	limit := seg.Available()
	words, at := seg.Words[:limit], max(t.offset, record.BufferHeaderWords)
	for {
		if at, short = r.iterate(t, words, at, last, seg.Live); short {
			t.offset = at
			if len(s.Buffers) == 1 {
				return true
			}
			if r.across(s, limit, last) {
				seg = s.Buffers[0]
				limit = seg.Available()
				words, at = seg.Words[:limit], t.offset
				continue
			}
		}
		if limit-at < record.HeaderWords {
			break
		}
		second := record.LoadAcquire(&words[at+record.ReservedWord], seg.Live)
		reserved := int(record.Low(second)) / 8
		if record.High(second) != 1 || record.Low(second)%8 != 0 || reserved < record.HeaderWords || reserved > limit-at {
			break
		}
		length := int(record.Low(words[at+record.LengthWord])) / 8
		if length < record.HeaderWords || length > reserved || words[at+record.EpochWord] > last {
			break
		}
		w := words[at : at+length : at+length]
		m := r.match(t, w)
		if m == nil {
			break
		}
		r.again(t, m, w)
		at += reserved
	}
	t.offset = at
	return false
}

func (r *Recorder) step(s *Source, rec record.Record, next int) {
	if s.Ended {
		r.carefully(s.thread, rec)
	} else {
		r.record(s.thread, rec)
	}
	s.thread.offset = next
}

// record records a committed call of a thread, or a step of a vote: that is no call, and a loop goes on after it.
func (r *Recorder) record(t *thread, rec record.Record) {
	if rec.Function == online.StepFunction {
		r.voted(t, rec.Words)
		return
	}
	if m := r.match(t, rec.Words); m != nil {
		r.again(t, m, rec.Words)
		return
	}
	r.apply(t, rec)
}

// carefully is record for a recovery: a mistake of ours in one call does not cost all others. (In a living process it
// ends tracing, and what was recorded is left to a recovery.)
func (r *Recorder) carefully(t *thread, rec record.Record) {
	defer func() {
		if p := recover(); p != nil {
			r.lost.Malformed++
			r.AddNote("a call of function %d could not be taken apart: %v", rec.Function, p)
		}
	}()
	if rec.Open {
		r.unfinished(t, rec)
		return
	}
	r.record(t, rec)
}
