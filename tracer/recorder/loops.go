package recorder

import (
	"slices"
	"sync/atomic"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
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
//     they determine which ids requests get and which requests handles mean (identity):
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
	stamps      []int64      // enter and exit of each call that was equal
	grid        *timing.Grid // the common grid of all steps, if they have one
	alike       bool
	buffer      *record.Buffer     // whose short records the steps know
	start       grammar.Snapshot   // where the iteration began
	repetition  grammar.Repetition // its repetition in the grammar
	generation  uint64             // of the repeats
	live        identity.Snapshot
	interrupted bool   // calls were consumed one by one since the last iteration
	again       uint64 // equal iterations that are not counted yet
	wait        int    // rounds of the grammar before the next attempt
	patience    int    // initial value of wait after a failure
	missed      int    // failed comparisons in a row where an iteration can begin
	rounds      int    // kept rounds of the grammar − 1: handles may be exchanged from round to round
	left        int    // rounds still to keep
	consumed    uint64 // calls that were consumed as iterations
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
	repeat   *repeat
	kept     []uint64 // the words of its record: a part of the loop's
	short    uint64   // a short record with these bits is this call, in the loop's buffer
	number   int32
	function uint16
	marker   bool
	counted  bool // all calls of its terminal return the same values
}

// unknownShort are the bits of no short record.
const unknownShort = ^uint64(0)

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
func (l *loop) note(r *Recorder, t *thread, m *repeat, number int32, rec record.Record) {
	l.interrupted = true
	if l.state == loopBegun {
		l.keep(m, number, rec)
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
	if r.off || t.untraced || r.objects.Requests.Live() > maxLoopLive {
		return
	}
	l.state, l.left = loopBegun, l.rounds
	l.patience, l.missed = max(l.patience, 1), 0
	l.steps, l.words, l.live = l.steps[:0], l.words[:0], r.objects.Requests.Snapshot(l.live)
	l.start, l.generation = t.grammar.Snapshot(), r.repeats.generation
}

// keep adds a call.
func (l *loop) keep(m *repeat, number int32, rec record.Record) {
	if len(l.steps) == maxLoop {
		l.patience = maxPatience
		l.forget()
		return
	}
	l.words = append(l.words, rec.Words...)
	l.steps = append(l.steps, loopStep{
		repeat: m, number: number, function: rec.Function, marker: rec.IsMarker(), short: unknownShort,
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
		n := int(record.Low(words[record.LengthWord])) / 8
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
	l.buffer, l.grid, l.alike = nil, t.grids.of(l.steps[0].function), true
	for i := range l.steps {
		s := &l.steps[i]
		s.counted = l.steps[first[s.number]].counted
		l.alike = l.alike && t.grids.of(s.function) == l.grid
	}
	if n := 2 * max(len(l.steps), loopBatch); cap(l.stamps) < n {
		l.stamps = make([]int64, 0, n)
	}
	return true
}

func sameResults(a, b *loopStep) bool {
	for _, at := range a.repeat.resultsAt {
		if a.kept[at] != b.kept[at] {
			return false
		}
	}
	return true
}

// sameState reports whether handles and requests are the same as at the beginning of the
// recorded iteration.
func (l *loop) sameState(r *Recorder, t *thread) bool {
	return l.generation == r.repeats.generation && !r.off && !t.untraced && r.objects.Requests.Same(l.live)
}

// iterate consumes whole iterations of the thread's loop while their epochs are at most last.
// short reports that the records end in the middle of another iteration that is equal so far.
func (r *Recorder) iterate(s *Source, last uint64) (short bool) {
	t := s.thread
	l := &t.loop
	if l.state != loopKnown || !t.grammar.AtIterationStart() {
		return false
	}
	if !t.grammar.Repeat(l.repetition, 0) || !l.sameState(r, t) || l.interrupted && !l.returnedSame(t) {
		l.forget()
		return false
	}
	l.interrupted = false
	equal, short := r.iterations(s, last)
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
		return false
	}
	if !equal {
		l.forget()
	}
	return short
}

// iterations compares records with the iteration over and over. For equal records it processes what
// differs from call to call: times, and results that are not counted.
func (r *Recorder) iterations(s *Source, last uint64) (equal, short bool) {
	t := s.thread
	l := &t.loop
	begin := s.position() // of the first iteration that is not consumed
	next, done := begin, 0
	equal = true
	for {
		before := len(l.stamps) / 2
		end, whole := l.same(done, s.Buffers[next.buffer], next.at, last)
		next.at = end
		done += len(l.stamps)/2 - before
		if whole > 0 {
			begin = position{next.buffer, whole}
		}
		for ; done >= len(l.steps); done -= len(l.steps) {
			r.iterated(t)
		}
		if done == 0 && cap(l.stamps)-len(l.stamps) < 2*len(l.steps) {
			t.timeLoop(l.stamps)
			l.stamps = l.stamps[:0]
			continue
		}
		rec, size := s.record(&next)
		if size == 0 {
			short = done > 0 && s.atEnd(next)
			break
		}
		if rec.Open || rec.Function == online.StepFunction || rec.Epoch > last { // a vote is not part of the loop
			break
		}
		if equal = r.isStep(t, &l.steps[done], rec, s.Buffers[next.buffer]); !equal {
			break
		}
		l.stamps = append(l.stamps, int64(rec.Enter), int64(rec.Exit))
		next.at += size
		if done++; done == len(l.steps) {
			begin, done = next, 0
			r.iterated(t)
		}
	}
	t.timeLoop(l.stamps[:len(l.stamps)-2*done])
	l.stamps = l.stamps[:0]
	r.advance(s, begin)
	return equal, short
}

// iterated counts an iteration that was equal. Its results that are not counted go to their
// streams: the kept words are those of its records.
func (r *Recorder) iterated(t *thread) {
	l := &t.loop
	l.again++
	for i := range l.steps {
		if s := &l.steps[i]; !s.counted && len(s.repeat.sources) > 0 {
			r.returned(t.resultsOf(s.number), s.repeat, s.kept)
		}
	}
}

// isStep reports whether a record is a step of the loop. From then on a short record of the buffer
// with the same original is recognized by its bits.
func (r *Recorder) isStep(t *thread, s *loopStep, rec record.Record, in *record.Buffer) bool {
	w := rec.Words
	if w[record.LengthWord] != s.kept[record.LengthWord] ||
		!slices.Equal(s.kept[record.AddressWord:], w[record.AddressWord:]) && !r.equalEnough(t, s, w) {
		return false
	}
	t.loop.use(in)
	s.short = unknownShort
	if bits, ok := record.EqualTo(rec.Original); ok {
		s.short = bits
	}
	return true
}

// use drops the short records of another buffer.
func (l *loop) use(b *record.Buffer) {
	if l.buffer == b {
		return
	}
	l.buffer = b
	for i := range l.steps {
		l.steps[i].short = unknownShort
	}
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
			if rs.words[k] != s.kept[at] {
				return false
			}
		}
	}
	return true
}

// same advances over short records that are the steps word for word, from a step on and around the
// loop, while there is room for their stamps. It returns the end of these records, and the end of
// the last whole iteration (0: none). Most records are consumed here, so its inner loop calls
// nothing.
func (l *loop) same(step int, in *record.Buffer, at int, last uint64) (end, whole int) {
	if step == len(l.steps) {
		step = 0
	}
	l.use(in)
	ticks, epoch := in.Base()
	words := in.Words[:in.Available()]
	steps, stamps, n := l.steps, l.stamps[:cap(l.stamps)], len(l.stamps)
	for n+1 < len(stamps) && at+1 < len(words) {
		first, second := atomic.LoadUint64(&words[at]), words[at+1]
		if first&record.ShortBits != steps[step].short || epoch+record.ShortEpoch(second) > last {
			break
		}
		enter := ticks + record.ShortEnter(second)
		stamps[n], stamps[n+1] = int64(enter), int64(enter+record.ShortDuration(first))
		n += 2
		at += record.ShortWords
		if step++; step == len(steps) {
			step, whole = 0, at
		}
	}
	l.stamps = stamps[:n]
	return at, whole
}

// equalEnough reports whether a record that differs from a step is still the same call, with
// another address or with results that nothing else depends on. It updates the step.
func (r *Recorder) equalEnough(t *thread, s *loopStep, w []uint64) bool {
	l, m := &t.loop, s.repeat
	roles := m.wordRoles()
	results := false
	for i := record.AddressWord; i < len(w); i++ {
		if w[i] == s.kept[i] {
			continue
		}
		switch role := roles[i-record.AddressWord]; {
		case role == roleResult:
			results = true
		case role < 0 || !r.objects.AnyAddress(mpi.Kind(role), w[i]):
			return false
		}
	}
	copy(s.kept, w)
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
