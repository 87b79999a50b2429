package recorder

import (
	"container/heap"
	"math"

	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/repeat"
)

// The order in which the records of several threads are consumed. A handle must be created before
// it is used, and used before MPI reuses its value. Epochs ensure that: a call that creates a
// handle takes its epoch after that, one that frees a handle before, and every other call carries
// the last epoch that it can have seen. Records are consumed by epoch; those of one thread stay
// in program order.
//
// Threads continue while records are read. What is available are therefore all records that were
// committed before some moment, perhaps more. (Directory.readBuffers of package spool sees to
// that.) Open calls are not waited for: no handle that such a call uses can be freed, and so change
// its meaning, before the call returns.

// A Source is the available records of a thread: buffers in order; only the last
// one may still grow.
type Source struct {
	thread  *thread
	Buffers []*record.Buffer
	// Closed reports that the last buffer grows no more: an open record in it will
	// never be committed.
	Closed bool
	Ended  bool // Closed, and the process has ended: a recovery survives damaged records
	// More reports that the thread has records that are not available. Their epochs are not less
	// than Beyond, so records of other threads up to that can be consumed.
	More        bool
	Beyond      uint64
	started     bool
	composer    record.Composer
	summedUntil uint64 // end of the last call of a summed record that its thread had not ended
}

// offset returns the word of its first buffer at which the source continues.
func (s *Source) offset() int { return max(s.thread.offset, record.BufferHeaderWords) }

// NewSource returns an empty source for the records of a thread.
func (r *Recorder) NewSource(thread uint32) *Source { return &Source{thread: r.thread(thread)} }

// Threads returns the threads of which records were consumed.
func (r *Recorder) Threads() (numbers []uint32) {
	for _, t := range r.threads {
		numbers = append(numbers, t.number)
	}
	return numbers
}

// NextBuffer returns the sequence number of a thread's first buffer of which not all records are
// consumed.
func (r *Recorder) NextBuffer(thread uint32) (sequence uint64) {
	if t := r.threads.find(thread); t != nil {
		return t.sequence
	}
	return 0
}

// Resume checks that the buffers of a source are contiguous and continue where the checkpoint ends.
func (r *Recorder) Resume(s *Source) {
	t := s.thread
	if len(s.Buffers) > 0 && s.Buffers[0].Sequence != t.sequence {
		r.AddNote("thread %d: record buffers %d to %d are missing", t.number, t.sequence, s.Buffers[0].Sequence-1)
		t.offset = 0
	}
	// the checkpoint may include the beginning of the first buffer
	s.started = t.offset > 0
	for i := 1; i < len(s.Buffers); i++ {
		if s.Buffers[i].Sequence != s.Buffers[i-1].Sequence+1 {
			r.AddNote("thread %d: record buffers are missing after %d", t.number, s.Buffers[i-1].Sequence)
		}
	}
}

// peek returns the next committed record or, if the process has ended, a record that was open then.
// next is the offset at which the source continues after it.
func (s *Source) peek() (rec record.Record, next int, ok bool) {
	t, lost := s.thread, &s.thread.recorder.lost
	for len(s.Buffers) > 0 {
		seg := s.Buffers[0]
		last := len(s.Buffers) == 1
		grows := last && !s.Closed
		s.start()
		for t.offset < seg.Available() {
			rec, size := seg.At(t.offset, &s.composer)
			if size > 0 && !rec.Open {
				return rec, t.offset + size, true
			}
			if !grows && size > 0 && !s.isLeftover(rec) && seg.Leave(&rec) {
				return rec, t.offset + size, true
			}
			switch {
			case grows:
				return rec, 0, false
			case size == 0:
				lost.Malformed++
				size = len(seg.Words)
			case s.isLeftover(rec):
			case last && s.Ended && !s.More: // later records were nested in this call
				return rec, t.offset + size, true
			default:
				lost.Abandoned++
			}
			t.offset += size
		}
		if grows {
			return rec, 0, false
		}
		s.endBuffer()
	}
	return rec, 0, false
}

// isLeftover reports whether the next record is the short one of a call that is in the summed
// record before it.
func (s *Source) isLeftover(rec record.Record) bool {
	begin, _ := s.Buffers[0].Base()
	return rec.Open && rec.Original != s.thread.offset && rec.Enter > begin && rec.Enter <= s.summedUntil
}

// start processes the clock sample in the header of a source's first buffer. The thread writes it
// before the first record.
func (s *Source) start() {
	t, seg := s.thread, s.Buffers[0]
	t.offset = s.offset()
	if s.started || seg.Available() == record.BufferHeaderWords {
		return
	}
	s.started = true
	t.recorder.Sample(seg.Sample())
}

// endBuffer processes what is only known at the end of a source's first buffer, and drops it.
func (s *Source) endBuffer() {
	seg := s.Buffers[0]
	s.thread.recorder.lost.Dropped += seg.Dropped()
	s.thread.recorder.began += seg.Began()
	s.thread.sequence, s.thread.offset, s.started = seg.Sequence+1, 0, false
	s.Buffers = s.Buffers[1:]
}

// advance continues a source at a position.
func (s *Source) advance(to repeat.Position) {
	for range to.Buffer {
		s.endBuffer()
		s.start()
	}
	s.thread.offset = to.At
}

// Consume consumes all available records.
func (r *Recorder) Consume(sources []*Source) { r.ConsumeOrWait(sources, false) }

// ConsumeLast consumes the last records of a process that has ended, or the last so far of a living
// one. l is its life.
func (r *Recorder) ConsumeLast(sources []*Source, l observed.Life) {
	r.life = l
	r.Consume(sources)
	r.lost.Dropped += uint64(l.Lost)
	r.stopped = r.stopped || l.Finalized != 0 && !r.finalized
}

// ConsumeOrWait may, if wait is true, leave records at the end of a thread's last buffer that begin
// an iteration of its loop which the next buffer will complete: consumed one by one they cost many
// times as much. It does so only if there is one thread, since the records of other threads would
// have to wait, too.
func (r *Recorder) ConsumeOrWait(sources []*Source, wait bool) {
	r.sites.Refresh()
	if len(sources) == 1 {
		s := sources[0]
		for !s.run(math.MaxUint64) || !wait {
			rec, next, ok := s.peek()
			if !ok {
				return
			}
			s.step(rec, next)
		}
		return
	}
	var heads heads
	for i, s := range sources {
		if h := (head{source: s, order: i}); h.load() {
			heads = append(heads, h)
		}
	}
	heap.Init(&heads)
	for len(heads) > 0 && heads[0].next > 0 {
		first, second := &heads[0], heads.second()
		last := uint64(math.MaxUint64)
		if second != nil {
			if last = second.rec.Epoch; second.order < first.order {
				last--
			}
		}
		there := true
		for there && first.next > 0 && (second == nil || first.before(second)) {
			first.source.step(first.rec, first.next)
			first.source.run(last)
			there = first.load()
		}
		if there {
			heap.Fix(&heads, 0)
		} else {
			heap.Pop(&heads)
		}
	}
}

// A head is the next record of a source.
type head struct {
	source *Source
	order  int
	rec    record.Record
	next   int // 0: the record is not available; its epoch is a lower bound
}

// load reads the source's next record. It reports whether there is one.
func (h *head) load() (ok bool) {
	if h.rec, h.next, ok = h.source.peek(); !ok && h.source.More {
		h.rec, h.next, ok = record.Record{Epoch: h.source.Beyond}, 0, true
	}
	return ok
}

// before reports whether the record of h is consumed before that of another head.
func (h *head) before(other *head) bool {
	return h.rec.Epoch < other.rec.Epoch || h.rec.Epoch == other.rec.Epoch && h.order < other.order
}

// heads are a heap: the first one is consumed first.
type heads []head

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].before(&h[j]) }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.(head)) }

func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// second returns the head that is consumed after the first one, which limits how far that may
// advance; nil if there is none.
func (h heads) second() *head {
	switch {
	case len(h) < 2:
		return nil
	case len(h) == 2 || h[1].before(&h[2]):
		return &h[1]
	}
	return &h[2]
}

// run is the hot loop: it consumes leading records of the current buffer as long as they hit
// the repeat cache and their epoch is at most last. It leaves everything else to peek and step.
// It stops and returns true where the last buffer ends in the middle of an iteration; called
// again, it goes on.
func (s *Source) run(last uint64) (short bool) {
	if s.Ended || len(s.Buffers) == 0 {
		return false
	}
	s.start()
	t := s.thread
	for {
		if s.iterate(last) {
			return true
		}
		rec, size := s.Buffers[0].At(t.offset, &s.composer)
		if size == 0 || rec.Open || rec.Epoch > last || rec.Function == record.SummedFunction {
			return false
		}
		m := t.repeats.Match(rec.Words, t.untraced)
		if m == nil {
			return false
		}
		t.again(m, rec)
		t.offset += size
	}
}

// step consumes the record that peek returned.
func (s *Source) step(rec record.Record, next int) {
	s.record(rec)
	s.thread.offset = next
}

func (s *Source) record(rec record.Record) {
	t := s.thread
	if s.Ended {
		defer s.survive(rec.Function)
	}
	switch {
	case rec.Function == record.SummedFunction:
		if t.recordSummed(s.Buffers[0], rec); rec.Open {
			s.summedUntil = rec.Exit
		}
	case rec.Open:
		if rec.Enter == 0 { // published just before the clock was read
			rec.Enter, _ = s.Buffers[0].Base()
		}
		t.unfinished(rec)
	default:
		t.record(rec)
	}
}

// survive lets a recovery survive a panic on one record, and so keep all other calls.
func (s *Source) survive(function uint16) {
	if p := recover(); p != nil {
		r := s.thread.recorder
		r.lost.Malformed++
		r.AddNote("a call of function %d could not be decoded: %v", function, p)
	}
}
