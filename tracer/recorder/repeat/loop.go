package repeat

import (
	"slices"
	"sync/atomic"

	"github.com/cairn-mpi/cairn/trace/grammar"
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
//   - its calls are repeats (table.go) whose tables have not changed. Words that a pattern leaves
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
	steps       []Step
	words       []uint64           // of the steps
	stamps      []int64            // enter and exit of each call that was equal
	buffer      *record.Buffer     // whose short records the steps know
	start       grammar.Snapshot   // where the iteration began
	repetition  grammar.Repetition // its repetition in the grammar
	generation  uint64             // of the objects
	era         uint64             // of the repeats
	live        identity.Snapshot
	interrupted bool   // calls were consumed one by one since the last iteration
	again       uint64 // equal iterations that are not counted yet
	wait        int    // rounds of the grammar before the next attempt
	patience    int    // initial value of wait after a failure
	missed      int    // failed comparisons in a row where an iteration can begin
	rounds      int    // kept rounds of the grammar − 1: handles may be exchanged from round to round
	left        int    // rounds still to keep
	consumed    uint64 // calls that were consumed as iterations

	// the comparison from Enter to Leave
	begin, next Position // of the first iteration that is not consumed; of the next record
	done        int      // steps of that iteration that were compared
	equal       bool     // no record differed
	short       bool     // the records end in the middle of an iteration that is equal so far
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

// A Step is a call of a loop.
type Step struct {
	Terminal int32
	Function uint16 // mpi
	Marker   bool
	counted  bool // all calls of its terminal return the same values
	repeat   *Repeat
	kept     []uint64 // the words of its record: a part of the loop's
	short    uint64   // a short record with these bits is this call, in the loop's buffer
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

// After observes a repeat that was just recorded. It reports whether the thread's loop is known
// from now on. untraced reports whether tracing is off.
func (t *Thread) After(m *Repeat, terminal int32, rec record.Record, untraced bool) (known bool) {
	t.latest = m
	l := &t.loop
	l.interrupted = true
	if l.state == loopBegun {
		l.keep(m, terminal, rec)
	}
	if !t.grammar.AtIterationStart() {
		return false
	}
	switch l.state {
	case loopKnown:
	case loopBegun:
		if l.left > 0 {
			l.left--
			return false
		}
		if t.close(untraced) {
			l.state = loopKnown
			return true
		}
		l.forget()
	case loopUnknown:
		if l.wait > 0 {
			l.wait--
			return false
		}
		t.beginLoop(untraced)
	}
	return false
}

// beginLoop starts to record an iteration.
func (t *Thread) beginLoop(untraced bool) {
	l, requests := &t.loop, &t.table.objects.Requests
	if untraced || requests.Live() > maxLoopLive {
		return
	}
	l.state, l.left = loopBegun, l.rounds
	l.patience, l.missed = max(l.patience, 1), 0
	l.steps, l.words, l.live = l.steps[:0], l.words[:0], requests.Snapshot(l.live)
	l.start, l.generation, l.era = t.grammar.Snapshot(), t.table.objects.Generation(), t.table.era
}

// keep adds a call.
func (l *loop) keep(m *Repeat, terminal int32, rec record.Record) {
	if len(l.steps) == maxLoop {
		l.patience = maxPatience
		l.forget()
		return
	}
	l.words = append(l.words, rec.Words...)
	l.steps = append(l.steps, Step{
		Terminal: terminal, Function: rec.Function, Marker: rec.IsMarker(), repeat: m, short: unknownShort,
	})
}

// close reports whether the recorded calls are an iteration that may recur.
func (t *Thread) close(untraced bool) bool {
	l := &t.loop
	var ok bool
	if l.repetition, ok = t.grammar.Since(l.start); !ok || len(l.steps) == 0 || untraced || !t.sameState() {
		return false
	}
	words := l.words
	for i := range l.steps {
		s := &l.steps[i]
		n := int(record.Low(words[record.LengthWord])) / 8
		s.kept, words = words[:n:n], words[n:]
	}
	first := map[int32]*Step{} // by terminal
	for i := range l.steps {
		s := &l.steps[i]
		f := first[s.Terminal]
		if f == nil {
			f, s.counted = s, s.repeat.Values.Flat
			first[s.Terminal] = f
		}
		f.counted = f.counted && f.repeat == s.repeat && sameResults(f, s)
	}
	for i := range l.steps {
		s := &l.steps[i]
		s.counted = first[s.Terminal].counted
	}
	l.buffer = nil
	if n := 2 * max(len(l.steps), loopBatch); cap(l.stamps) < n {
		l.stamps = make([]int64, 0, n)
	}
	return true
}

func sameResults(a, b *Step) bool {
	return !slices.ContainsFunc(a.repeat.Values.At, func(at int32) bool { return a.kept[at] != b.kept[at] })
}

// sameState reports whether handles and requests are the same as at the beginning of the recorded
// iteration.
func (t *Thread) sameState() bool {
	t.table.refresh()
	l, objects := &t.loop, t.table.objects
	return l.generation == objects.Generation() && l.era == t.table.era && objects.Requests.Same(l.live)
}

// EnterLoop reports whether the thread's next record, which is at word at of its first buffer, may
// begin an iteration of its loop. If so, Iterate and LeaveLoop must follow. untraced reports
// whether tracing is off or was off before the record.
func (t *Thread) EnterLoop(at int, untraced bool) bool {
	l := &t.loop
	if l.state != loopKnown || !t.grammar.AtIterationStart() {
		return false
	}
	if !t.grammar.Repeat(l.repetition, 0) || untraced || !t.sameState() || l.interrupted && !t.returnedSame() {
		l.forget()
		return false
	}
	l.interrupted = false
	l.begin = Position{At: at}
	l.next, l.done, l.equal, l.short = l.begin, 0, true, false
	return true
}

// Iterate compares records with the iteration over and over, while their epochs are at most last.
// The results of equal iterations go to their streams; the caller must consume their times
// (Stamps). It reports whether it must be called again.
func (t *Thread) Iterate(buffers []*record.Buffer, composer *record.Composer, last uint64) (more bool) {
	l := &t.loop
	l.stamps = l.stamps[:0]
	for {
		before := len(l.stamps) / 2
		end, whole := l.same(l.done, buffers[l.next.Buffer], l.next.At, last)
		l.next.At = end
		l.done += len(l.stamps)/2 - before
		if whole > 0 {
			l.begin = Position{l.next.Buffer, whole}
		}
		for ; l.done >= len(l.steps); l.done -= len(l.steps) {
			t.iterated()
		}
		if l.done == 0 && cap(l.stamps)-len(l.stamps) < 2*len(l.steps) {
			return true
		}
		rec, size := l.next.record(buffers, composer)
		if size == 0 {
			l.short = l.done > 0 && l.next.atEnd(buffers)
			return false
		}
		if rec.Open || rec.Function == online.StepFunction || rec.Function == record.SummedFunction || rec.Epoch > last { // no part of the loop
			return false
		}
		if l.equal = t.isStep(&l.steps[l.done], rec, buffers[l.next.Buffer]); !l.equal {
			return false
		}
		l.stamps = append(l.stamps, int64(rec.Enter), int64(rec.Exit))
		l.next.At += size
		if l.done++; l.done == len(l.steps) {
			l.begin, l.done = l.next, 0
			t.iterated()
		}
	}
}

// Stamps returns enter and exit of each call of the whole iterations that Iterate consumed, which
// are calls of Steps over and over. The caller may change them.
func (t *Thread) Stamps() []int64 { return t.loop.stamps[:len(t.loop.stamps)-2*t.loop.done] }

// Steps returns the calls of an iteration of the thread's loop.
func (t *Thread) Steps() []Step { return t.loop.steps }

// LeaveLoop adds the iterations that were consumed to the grammar and the results. It returns the
// number of their calls and the position behind them. short reports that the records end in the
// middle of another iteration that is equal so far.
func (t *Thread) LeaveLoop() (calls uint64, end Position, short bool) {
	l := &t.loop
	calls = l.again * uint64(len(l.steps))
	if calls > 0 {
		for i := range l.steps {
			t.count(&l.steps[i])
		}
		t.grammar.Repeat(l.repetition, l.again)
		l.consumed += calls
		t.table.credit = int(min(uint64(t.table.credit)+calls, maxCredit))
		t.latest = l.steps[len(l.steps)-1].repeat
		l.again, l.patience, l.missed = 0, 0, 0
	} else if !l.equal && l.missed < l.rounds { // the grammar may not be at the first of the rounds
		l.missed++
		return 0, l.begin, false
	}
	if !l.equal {
		l.forget()
	}
	return calls, l.begin, l.short
}

// ForgetLoop drops the thread's loop: its grammar begins anew.
func (t *Thread) ForgetLoop() { t.loop.forget() }

// Iterated returns the number of calls that were consumed as iterations.
func (t *Thread) Iterated() uint64 { return t.loop.consumed }

// Memory estimates the memory of the thread in bytes.
func (t *Thread) Memory() int { return 8 * (cap(t.loop.words) + cap(t.loop.stamps)) }

// iterated counts an iteration that was equal. Its results that are not counted go to their
// streams: the kept words are those of its records.
func (t *Thread) iterated() {
	l := &t.loop
	l.again++
	for i := range l.steps {
		if s := &l.steps[i]; !s.counted && !s.repeat.Values.None() {
			t.values.Read(s.Terminal, &s.repeat.Values, s.kept)
		}
	}
}

// isStep reports whether a record is a step of the loop. From then on a short record of the buffer
// with the same original is recognized by its bits.
func (t *Thread) isStep(s *Step, rec record.Record, in *record.Buffer) bool {
	w := rec.Words
	if w[record.LengthWord] != s.kept[record.LengthWord] ||
		!slices.Equal(s.kept[record.AddressWord:], w[record.AddressWord:]) && !t.equalEnough(s, w) {
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
func (t *Thread) count(s *Step) {
	if s.counted && !s.repeat.Values.None() {
		t.values.Count(s.Terminal, t.loop.again)
	}
}

// returnedSame reports whether the last call of each terminal returned the same values as in the
// loop.
func (t *Thread) returnedSame() bool {
	for i := range t.loop.steps {
		s := &t.loop.steps[i]
		if s.counted && !s.repeat.Values.None() && !t.values.IsSame(s.Terminal, &s.repeat.Values, s.kept) {
			return false
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
func (t *Thread) equalEnough(s *Step, w []uint64) bool {
	ok, results := t.table.keys.Varies(&s.repeat.Pattern, s.kept, w)
	if !ok {
		return false
	}
	copy(s.kept, w)
	if results && s.counted {
		for i := range t.loop.steps {
			if other := &t.loop.steps[i]; other.Terminal == s.Terminal {
				t.count(other)
				other.counted = false
			}
		}
	}
	return true
}
