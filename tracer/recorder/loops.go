package recorder

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Most programs are loops, and an iteration usually equals the one before it word for word: the
// same calls from the same call sites, with the same arguments and results, including raw request
// handles. A loop is such an iteration, kept as the words of its records. Following records are
// compared with it one by one. If an iteration is equal, only its times are consumed. In the end
// its count is added to the grammar, the calls and the results.
//
// The grammar determines where an iteration begins and ends: when it expects the first terminal of
// the repetition that it just counted (grammar.Sequitur.AtIterationStart). Invariant: an equal
// iteration has the same effect as the kept one if, at its beginning,
//
//   - its calls are repeats (repeats.go) whose tables have not changed. Words that a repeat leaves
//     out are compared too, except times, epochs and addresses without a meaning of their own;
//   - the live requests are those at the beginning of the kept iteration. With the calls
//     they determine which ids requests get and which requests handles mean (requests.go):
//     free lists are sets;
//   - results differ only where nothing else depends on them; they then go to their
//     streams one by one;
//   - the grammar predicted the whole iteration (grammar.Sequitur.Since).
//
// An iteration that differs is consumed as single repeats. TestLoops and FuzzRepeats compare the
// result with that of the slow path, byte by byte.

// A loop is the loop of a thread.
type loop struct {
	state       loopState
	steps       []loopStep
	words       []uint64     // of the steps
	size        int          // number of words in the records of an iteration
	stamps      []int64      // enter and exit of each call that was equal
	grid        *timing.Grid // the common grid of all steps, if they have one
	alike       bool
	start       grammar.Snapshot   // where the iteration began
	repetition  grammar.Repetition // its repetition in the grammar
	generation  uint64             // of the repeats
	live        []liveSnapshot
	interrupted bool     // calls were consumed one by one since the last iteration
	again       uint64   // equal iterations that are not counted yet
	wait        int      // rounds of the grammar before the next attempt
	patience    int      // initial value of wait after a failure
	missed      int      // failed comparisons in a row at places where an iteration can begin
	joint       []uint64 // an iteration that spans two buffers
	rounds      int      // kept rounds of the grammar − 1: handles may be exchanged from round to round
	left        int      // rounds still to keep
	consumed    uint64   // calls that were consumed as iterations
}

type loopState uint8

const (
	loopUnknown loopState = iota
	loopBegun             // its records are being recorded
	loopKnown
)

const (
	maxLoop     = 1 << 11 // records
	maxLoopLive = 64      // live requests between two iterations
	maxPatience = 1 << 10
	maxRounds   = 3
	loopBatch   = 256 // records whose times are consumed together
)

// A loopStep is a call of a loop.
type loopStep struct {
	repeat        *repeat
	kept          []uint64 // its words from recordAddress on: a part of the loop's
	first, second uint64
	size          int // words of the record
	number        int32
	function      uint16
	counted       bool // all calls of its terminal return the same values
}

// A liveSnapshot is a live request at the beginning of an iteration.
type liveSnapshot struct {
	node int32
	born uint64
}

// forget drops a loop that has ended, or that turned out not to be one.
func (l *loop) forget() {
	if l.state == loopUnknown {
		return
	}
	// it never recurred: the period may be twice as long
	if l.state == loopKnown && l.patience > 0 {
		l.rounds = (2*l.rounds + 1) % (maxRounds + 1)
	}
	l.state = loopUnknown
	l.wait = l.patience
	l.patience = min(2*l.patience+1, maxPatience)
}

// note observes a repeat that was just consumed on its own.
func (l *loop) note(r *Recorder, t *thread, m *repeat, number int32, words []uint64) {
	l.interrupted = true
	if l.state == loopBegun {
		l.keep(m, number, words)
	}
	if !t.grammar.AtIterationStart() {
		return
	}
	switch l.state {
	case loopKnown:
	case loopBegun:
		if l.left > 0 {
			l.left--
			return
		}
		if l.close(r, t) {
			l.state = loopKnown
			return
		}
		l.forget()
	case loopUnknown:
		if l.wait > 0 {
			l.wait--
			return
		}
		l.begin(r, t)
	}
}

// begin starts to record an iteration.
func (l *loop) begin(r *Recorder, t *thread) {
	q := r.requests
	if r.off || t.untraced || q.count > maxLoopLive {
		return
	}
	l.state, l.left = loopBegun, l.rounds
	l.patience, l.missed = max(l.patience, 1), 0
	l.steps, l.words, l.live = l.steps[:0], l.words[:0], l.live[:0]
	l.start, l.generation = t.grammar.Snapshot(), r.repeats.generation
	for i := range q.live {
		if len(l.live) == q.count {
			break
		}
		if born := q.live[i].born; born != 0 {
			l.live = append(l.live, liveSnapshot{int32(i), born})
		}
	}
}

// keep adds a call.
func (l *loop) keep(m *repeat, number int32, words []uint64) {
	if len(l.steps) == maxLoop {
		l.patience = maxPatience
		l.forget()
		return
	}
	l.words = append(l.words, words[record.AddressWord:]...)
	l.steps = append(l.steps, loopStep{
		repeat: m, number: number, function: m.layout.spec.ID,
		first: words[record.LengthWord], second: words[record.ReservedWord], size: int(record.Low(words[record.ReservedWord])) / 8,
	})
}

// close reports whether the recorded calls are an iteration that may recur.
func (l *loop) close(r *Recorder, t *thread) bool {
	var ok bool
	if l.repetition, ok = t.grammar.Since(l.start); !ok || len(l.steps) == 0 || !l.sameState(r, t) {
		return false
	}
	words := l.words
	for i := range l.steps {
		s := &l.steps[i]
		n := int(record.Low(s.first))/8 - record.AddressWord
		s.kept, words = words[:n:n], words[n:]
	}
	first := map[int32]int{} // first step by terminal
	for i := range l.steps {
		s := &l.steps[i]
		s.counted = s.repeat.flat
		k, ok := first[s.number]
		if !ok {
			first[s.number] = i
			continue
		}
		if f := &l.steps[k]; f.repeat != s.repeat || !sameResults(f, s) {
			f.counted = false
		}
	}
	l.size, l.grid, l.alike = 0, t.grids.of(l.steps[0].function), true
	for i := range l.steps {
		s := &l.steps[i]
		s.counted = l.steps[first[s.number]].counted
		l.size += s.size
		l.alike = l.alike && t.grids.of(s.function) == l.grid
	}
	if n := 2 * max(len(l.steps), loopBatch); cap(l.stamps) < n {
		l.stamps = make([]int64, 0, n)
	}
	return true
}

// resultsVary reports whether some results must go to their streams one by one.
func (l *loop) resultsVary() bool {
	for i := range l.steps {
		if s := &l.steps[i]; !s.counted && len(s.repeat.sources) > 0 {
			return true
		}
	}
	return false
}

func sameResults(a, b *loopStep) bool {
	for _, at := range a.repeat.resultsAt {
		if a.kept[at-record.AddressWord] != b.kept[at-record.AddressWord] {
			return false
		}
	}
	return true
}

// sameState reports whether handles and requests are the same as at the beginning of the
// recorded iteration.
func (l *loop) sameState(r *Recorder, t *thread) bool {
	q := r.requests
	if l.generation != r.repeats.generation || r.off || t.untraced || len(l.live) != q.count {
		return false
	}
	for _, m := range l.live {
		if q.live[m.node].born != m.born {
			return false
		}
	}
	return true
}

// iterate consumes whole iterations of the thread's loop, beginning at a word, while their epochs
// are at most last. It returns the offset of the first word that it did not consume. short reports
// that the words end in the middle of another iteration that is equal so far.
func (r *Recorder) iterate(t *thread, words []uint64, at int, last uint64, live bool) (end int, short bool) {
	l := &t.loop
	if l.state != loopKnown || !t.grammar.AtIterationStart() {
		return at, false
	}
	if !t.grammar.Repeat(l.repetition, 0) || !l.sameState(r, t) || l.interrupted && !l.returnedSame(t) {
		l.forget()
		return at, false
	}
	l.interrupted = false
	end, equal, short := r.iterations(t, words, at, last, live)
	if n := l.again * uint64(len(l.steps)); n > 0 {
		for i := range l.steps {
			l.count(t, &l.steps[i])
		}
		t.grammar.Repeat(l.repetition, l.again)
		t.calls += n
		l.consumed += n
		r.repeats.credit = int(min(uint64(r.repeats.credit)+n, maxCredit))
		t.latest = l.steps[len(l.steps)-1].repeat
		t.lastFunction = t.latest.layout.spec.ID
		l.again, l.patience, l.missed = 0, 0, 0
	} else if !equal && l.missed < l.rounds { // the grammar may not be at the first of the rounds
		l.missed++
		return end, false
	}
	if !equal {
		l.forget()
	}
	return end, short
}

// iterations compares records with the iteration over and over. For equal records it processes what
// differs from call to call: times, and results that are not counted.
func (r *Recorder) iterations(t *thread, words []uint64, at int, last uint64, live bool) (end int, equal, short bool) {
	l := &t.loop
	next, done := at, 0 // the next record, and the number of equal records of its iteration
	tells := l.resultsVary()
	equal = true
	for {
		before := len(l.stamps) / 2
		next = l.same(done, words, next, last)
		done += len(l.stamps)/2 - before
		for ; done >= len(l.steps); done -= len(l.steps) {
			l.again++
			if !tells {
				at += l.size
				continue
			}
			for i := range l.steps {
				s := &l.steps[i]
				if !s.counted && len(s.repeat.sources) > 0 {
					r.returned(t.resultsOf(s.number), s.repeat, words[at:])
				}
				at += s.size
			}
		}
		if done == 0 && cap(l.stamps)-len(l.stamps) < 2*len(l.steps) {
			t.timeLoop(l.stamps)
			l.stamps = l.stamps[:0]
			continue
		}
		s := &l.steps[done]
		if len(words)-next < s.size {
			short = done > 0
			break
		}
		w := words[next : next+s.size : next+s.size]
		if second := record.LoadAcquire(&w[record.ReservedWord], live); second != s.second {
			// a vote is not part of the loop
			equal = record.High(second) == 0 || record.FunctionIn(w[record.LengthWord]) == online.StepFunction
			break
		}
		if w[record.EpochWord] > last {
			break
		}
		if w[record.LengthWord] != s.first || !equalWords(s.kept, w[record.AddressWord:]) && !r.equalEnough(t, s, w) {
			equal = false
			break
		}
		l.stamps = append(l.stamps, int64(w[record.EnterWord]), int64(w[record.ExitWord]))
		next, done, tells = next+s.size, done+1, l.resultsVary()
	}
	t.timeLoop(l.stamps[:len(l.stamps)-2*done])
	l.stamps = l.stamps[:0]
	return at, equal, short
}

// across consumes the iteration that spans a source's first and second buffer. Both must be full: a
// buffer that still grows may have open records.
func (r *Recorder) across(s *Source, limit int, last uint64) bool {
	l, at := &s.thread.loop, s.thread.offset
	if len(s.Buffers) < 2 || len(s.Buffers) == 2 && !s.Closed {
		return false
	}
	seg, next := s.Buffers[0], s.Buffers[1]
	until := record.BufferHeaderWords + l.size - (limit - at)
	if until > next.Available() {
		return false
	}
	l.joint = append(append(l.joint[:0], seg.Words[at:limit]...), next.Words[record.BufferHeaderWords:until]...)
	if end, _ := r.iterate(s.thread, l.joint, 0, last, false); end == 0 {
		return false
	}
	r.endBuffer(seg)
	r.beginBuffer(next)
	s.thread.sequence, s.thread.offset, s.started = seg.Sequence+1, until, true
	s.Buffers = s.Buffers[1:]
	return true
}

// count adds the number of iterations to the results of a step.
func (l *loop) count(t *thread, s *loopStep) {
	if s.counted && len(s.repeat.sources) > 0 {
		t.results[s.number].again += l.again
	}
}

// returnedSame reports whether the last call of each terminal returned the same
// values as in the loop.
func (l *loop) returnedSame(t *thread) bool {
	for i := range l.steps {
		s := &l.steps[i]
		if !s.counted || len(s.repeat.sources) == 0 {
			continue
		}
		rs := &t.results[s.number]
		if rs.last != s.repeat {
			return false
		}
		for k, at := range s.repeat.resultsAt {
			if rs.words[k] != s.kept[at-record.AddressWord] {
				return false
			}
		}
	}
	return true
}

// same advances over records that equal the steps word for word, from a step on and around the
// loop, while there is room for their stamps. It returns the end of these records. Most records are
// consumed here, so its inner loop calls nothing and keeps everything in registers.
func (l *loop) same(step int, words []uint64, at int, last uint64) int {
	const word = 8
	if step == len(l.steps) {
		step = 0
	}
	steps, stamps, n := l.steps, l.stamps[:cap(l.stamps)], len(l.stamps)
	base := unsafe.Pointer(unsafe.SliceData(words))
records:
	for ; n+1 < len(stamps); n += 2 {
		s := &steps[step]
		if len(words)-at < s.size {
			break
		}
		// There are at least s.size words, and no step is shorter. The loop advances an offset and
		// not a pointer, so that no pointer ever points past the allocation, which the garbage
		// collector does not allow.
		w := (*[record.HeaderWords]uint64)(unsafe.Add(base, word*at))
		if atomic.LoadUint64(&w[record.ReservedWord]) != s.second {
			break
		}
		if w[record.LengthWord] != s.first || w[record.EpochWord] > last {
			break
		}
		p, q := unsafe.Pointer(unsafe.SliceData(s.kept)), unsafe.Pointer(&w[record.AddressWord])
		i, end := 0, word*len(s.kept)
		for ; i+4*word <= end; i += 4 * word {
			if *(*[4]uint64)(unsafe.Add(p, i)) != *(*[4]uint64)(unsafe.Add(q, i)) {
				break records
			}
		}
		for ; i < end; i += word {
			if *(*uint64)(unsafe.Add(p, i)) != *(*uint64)(unsafe.Add(q, i)) {
				break records
			}
		}
		stamps[n], stamps[n+1] = int64(w[record.EnterWord]), int64(w[record.ExitWord])
		at += s.size
		if step++; step == len(steps) {
			step = 0
		}
	}
	l.stamps = stamps[:n]
	return at
}

// equalWords reports whether b begins with a.
func equalWords(a, b []uint64) bool {
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}

// equalEnough reports whether a record that differs from a step is still the same call, with
// another address or with results that nothing else depends on. It updates the step.
func (r *Recorder) equalEnough(t *thread, s *loopStep, w []uint64) bool {
	l, m := &t.loop, s.repeat
	roles := m.wordRoles()
	results := false
	for i, kept := range s.kept {
		now := w[record.AddressWord+i]
		if kept == now {
			continue
		}
		switch role := roles[i]; {
		case role == roleResult:
			results = true
		case role < 0 || !r.anyAddress(mpi.Kind(role), now):
			return false
		}
	}
	copy(s.kept, w[record.AddressWord:])
	if results && s.counted {
		for i := range l.steps {
			if other := &l.steps[i]; other.number == s.number {
				l.count(t, other)
				other.counted = false
			}
		}
	}
	return true
}

// The role of a word of a record says how it may differ from that of a repeat: not at all, as a
// result, or as an address of the kind that the role is.
const (
	roleFixed  = -1
	roleResult = -2
)

// wordRoles returns the roles of the words of a record from recordAddress on.
func (m *repeat) wordRoles() []int16 {
	if m.roles == nil {
		m.roles = make([]int16, int(record.Low(m.first))/8-record.AddressWord)
		for i := range m.roles {
			m.roles[i] = roleFixed
		}
		for _, at := range m.resultsAt {
			m.roles[at-record.AddressWord] = roleResult
		}
		for _, a := range m.addresses {
			m.roles[a.at-record.AddressWord] = int16(a.kind)
		}
		for _, e := range m.exact { // includes results that other values depend on
			if e.at >= record.AddressWord {
				m.roles[e.at-record.AddressWord] = roleFixed
			}
		}
	}
	return m.roles
}
