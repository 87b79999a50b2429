package recorder

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// The order in which the records of several threads are worked off. What matters is that a handle is created before it
// is used, and used before MPI gives the same value to something else. Epochs say so: a call that creates a handle
// takes its epoch after it happened, one that gives a handle back before, and every other call carries the last epoch
// that it can have seen. Records go by epoch; those of one thread stay in their own order.
//
// Threads go on while we work. A call that has not returned yet is not waited for: no handle that it uses can be freed,
// and so change its meaning, before it returns.

// A source is what there is of a thread's records: segments in order, of which only the last may still grow.
type source struct {
	thread   *thread
	segments []*segment
	// closed tells that the last segment grows no more: what is open in it will never be committed.
	closed  bool
	ended   bool // and the process is gone
	started bool
}

// peek finds the next committed record, or of a process that is gone one that was open then; at its end the source is
// to go on at offset next.
func (r *Recorder) peek(s *source) (rec record, next int, ok bool) {
	t := s.thread
	for len(s.segments) > 0 {
		seg := s.segments[0]
		if t.offset < headerWords {
			t.offset = headerWords
		}
		last := len(s.segments) == 1
		grows := last && !s.closed
		limit := seg.available()
		if !s.started && limit > headerWords {
			s.started = true // its thread has written the clock sample before the first record
			r.beginSegment(seg)
		}
		for t.offset < limit {
			rec, reserved, open := seg.recordAt(t.offset, limit)
			switch {
			case reserved == 0:
				if grows {
					return rec, 0, false
				}
				r.lost.Malformed++
				t.offset = limit
			case open && grows:
				return rec, 0, false
			case open && last && s.ended: // what follows was called in it
				rec.open = true
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
		r.endSegment(seg)
		t.sequence, t.offset, s.started = seg.sequence+1, 0, false
		s.segments = s.segments[1:]
	}
	return rec, 0, false
}

// beginSegment takes the clock sample of a segment's header.
func (r *Recorder) beginSegment(seg *segment) {
	h, err := parseSegmentHeader(seg.words)
	if err == nil {
		r.addSample(timing.ClockSample{Ticks: h.sample[0], MonotonicNS: h.sample[1], RealtimeNS: h.sample[2]})
	}
}

// endSegment takes what is known of a segment only at its end.
func (r *Recorder) endSegment(seg *segment) {
	if h, err := parseSegmentHeader(seg.words); err == nil {
		r.lost.Dropped += h.dropped
	}
}

// consume works off all records that are there.
func (r *Recorder) consume(sources []*source) { r.consumeOrWait(sources, false) }

// consumeOrWait may leave records at the end of a thread's last segment, if they begin an iteration of its loop that the
// next segment will end: one by one they cost many times as much. It does so for a thread that is alone, since others'
// records would have to wait with it.
func (r *Recorder) consumeOrWait(sources []*source, wait bool) {
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
		rec  record
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
			return j < 0 || heads[i].rec.epoch < heads[j].rec.epoch || heads[i].rec.epoch == heads[j].rec.epoch && i < j
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
			if last = heads[second].rec.epoch; second < first {
				last--
			}
		}
		for h := &heads[first]; h.ok && before(first, second); load(first) {
			r.step(sources[first], h.rec, h.next)
			r.run(sources[first], last)
		}
	}
}

// run works off the repeats that follow in the segment at work, up to an epoch: what most records are, with as little
// as possible between one and the next. It leaves everything else to peek and step. It stops and returns true where the
// last segment ends in the middle of an iteration; called again, it goes on.
func (r *Recorder) run(s *source, last uint64) (short bool) {
	if s.ended || len(s.segments) == 0 {
		return false
	}
	seg, t := s.segments[0], s.thread
	limit := seg.available()
	words, at := seg.words[:limit], max(t.offset, headerWords)
	for {
		if at, short = r.iterate(t, words, at, last, seg.live); short {
			t.offset = at
			if len(s.segments) == 1 {
				return true
			}
			if r.across(s, limit, last) {
				seg = s.segments[0]
				limit = seg.available()
				words, at = seg.words[:limit], t.offset
				continue
			}
		}
		if limit-at < recordPayload {
			break
		}
		second := loadAcquire(&words[at+recordReserved], seg.live)
		reserved := int(low(second)) / 8
		if high(second) != 1 || low(second)%8 != 0 || reserved < recordPayload || reserved > limit-at {
			break
		}
		length := int(low(words[at+recordLength])) / 8
		if length < recordPayload || length > reserved || words[at+recordEpoch] > last {
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

func (r *Recorder) step(s *source, rec record, next int) {
	if s.ended {
		r.carefully(s.thread, rec)
	} else {
		r.record(s.thread, rec)
	}
	s.thread.offset = next
}

// record records a committed call of a thread, or a step of a vote: that is no call, and a loop goes on after it.
func (r *Recorder) record(t *thread, rec record) {
	if rec.function == voteFunction {
		r.voted(t, rec.words)
		return
	}
	if m := r.match(t, rec.words); m != nil {
		r.again(t, m, rec.words)
		return
	}
	r.apply(t, rec)
}

// carefully is record for a recovery: a mistake of ours in one call does not cost all others. (In a living process it
// ends tracing, and what was recorded is left to a recovery.)
func (r *Recorder) carefully(t *thread, rec record) {
	defer func() {
		if p := recover(); p != nil {
			r.lost.Malformed++
			r.addNote("a call of function %d could not be taken apart: %v", rec.function, p)
		}
	}()
	if rec.open {
		r.unfinished(t, rec)
		return
	}
	r.record(t, rec)
}
