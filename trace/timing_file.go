package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// timingChunk is the number of calls whose times are read at once by a walk over the calls.
const timingChunk = 4096

// A storedTiming is the timing of a thread in a file.
type storedTiming struct {
	file   *Reader // possibly without what is not about timing
	thread int     // index in the file
	root   int
	calls  uint64
	stood  extrapolations
}

// storeTimings makes the timing in the file that of the threads, and checks it. It retains only the
// grammar and the positions of the blocks: a merge of many files keeps it until the merged one is
// written.
func (t *Reader) storeTimings(threads *ThreadTable) error {
	file := &Reader{r: t.r, size: t.size, budget: t.budget, timing: t.timing, summed: t.summed, timingPlan: t.timingPlan,
		shared: Content{Meta: t.shared.Meta, Grammar: t.shared.Grammar}}
	threads.timing, threads.storedThread, threads.storedRoot = codec.Numbers{}, codec.Numbers{}, codec.Numbers{}
	threads.sources, threads.stored = []TimingSource{nil}, []*Reader{file}
	root, calls := threads.root.Lookup(), threads.calls.Lookup()
	for i, has := range t.timed.All() {
		s := storedTiming{file, i, int(root(i)), uint64(calls(i)), extrapolations{}}
		if has != timingOfCalls {
			threads.timing.Push(0)
		} else if err := s.check(); err == nil {
			threads.timing.Push(1)
		} else {
			return fmt.Errorf("trace: timing of rank %d thread %d %w", threads.rank.At(i), threads.number.At(i), err)
		}
		threads.storedThread.Push(int64(s.thread))
		threads.storedRoot.Push(int64(s.root))
	}
	return nil
}

// check checks that all blocks exist and are undamaged, without decoding them.
func (s *storedTiming) check() error {
	for at := uint64(0); at < s.calls; at += timing.BlockCalls {
		_, _, _, size, err := s.file.timingBlock(s.thread, at)
		if err != nil {
			return fmt.Errorf("from call %d: %w", at, err)
		}
		s.file.budget.Give(size)
	}
	return nil
}

// OpenTiming returns a reader at the first call.
func (s *storedTiming) OpenTiming() (TimingReader, error) {
	return &storedTimingReader{from: s, walk: s.file.shared.Grammar.Walk(s.root), stood: s.stood}, nil
}

type storedTimingReader struct {
	from  *storedTiming
	walk  *grammar.Walk
	part  timingPart
	next  uint64
	until uint64
	stood extrapolations
}

func (r *storedTimingReader) ReadTiming(gaps, durations []int64) (int, error) {
	for i := range gaps {
		terminal, ok := r.walk.Next()
		if !ok {
			r.part.release(r.from.file.budget)
			r.part = timingPart{}
			return i, nil
		}
		if r.next == r.until {
			file := r.from.file
			r.part.release(file.budget)
			r.part = timingPart{}
			var err error
			if r.part, err = file.timingOf(r.from.thread, r.from.calls, r.next, r.from.stood); err != nil {
				return i, fmt.Errorf("trace: timing from call %d: %w", r.next, err)
			}
			r.until += r.part.calls
		}
		call := r.next
		r.next++
		if r.stood.at(call) {
			r.part.pass()
			gaps[i], durations[i] = 0, 0
			continue
		}
		gaps[i], durations[i], ok = r.part.next(terminal)
		if !ok {
			return i, fmt.Errorf("trace: %w", timing.ErrDamaged)
		}
	}
	return len(gaps), nil
}

// A timingPart is the timing of some consecutive calls: a block, or a piece of timing in memory.
type timingPart struct {
	decoder         *timing.Decoder // nil: sums, or the two lists
	sums            *timing.SumsDecoder
	gaps, durations []int64
	start           int64 // of a block: its first tick relative to the thread's
	calls           uint64
	size            int64 // booked on the reader's budget
	beside          int64 // of a block with LongSums: ticks of such blocks beside it
}

// release returns the memory of the part.
func (p *timingPart) release(m *codec.Budget) {
	m.Give(p.size)
	if p.decoder != nil {
		p.decoder.Release()
	}
}

// next returns the timing of the next call, which has this terminal.
func (p *timingPart) next(terminal int32) (gap, duration int64, ok bool) {
	if d := p.decoder; d != nil {
		gap, duration = d.Call(terminal)
		return gap, duration, d.Err == nil
	}
	if p.sums != nil {
		return p.sums.Call(terminal)
	}
	if len(p.gaps) == 0 {
		return 0, 0, false
	}
	gap, duration = p.gaps[0], p.durations[0]
	p.gaps, p.durations = p.gaps[1:], p.durations[1:]
	return gap, duration, true
}

// steps returns the steps of the grid at the latest gap and duration.
func (p *timingPart) steps(g *timing.Grid, gap, duration int64) (gapStep, durationStep int64) {
	if p.decoder != nil {
		return p.decoder.GapStep, p.decoder.DurationStep
	}
	return g.StepAt(gap), g.StepAt(duration)
}

// inFile reports whether the part is a block of a file, which has its start time.
func (p *timingPart) inFile() bool { return p.decoder != nil || p.sums != nil }

// pass skips a call whose times are extrapolated from a lead rank.
func (p *timingPart) pass() {
	if p.decoder == nil {
		p.gaps, p.durations = p.gaps[min(1, len(p.gaps)):], p.durations[min(1, len(p.durations)):]
	} else {
		p.decoder.Restart()
	}
}

// timingEntry finds the block of call at (a multiple of timing.BlockCalls).
func (t *Reader) timingEntry(thread int, at uint64) (codec.Entry, error) {
	e, ok := t.timing.Find(int64(t.shared.timingRow(thread)), int64(at/timing.BlockCalls))
	if !ok {
		return codec.Entry{}, errors.New("missing")
	}
	return e, nil
}

// timingBlock reads the block of call at: the tick at which it begins, relative to the thread's
// first one, and its content.
func (t *Reader) timingBlock(thread int, at uint64) (kind codec.Kind, start int64, coded []byte, size int64, err error) {
	e, err := t.timingEntry(thread, at)
	if err != nil {
		return 0, 0, nil, 0, err
	}
	content, err := t.block(e)
	if err != nil {
		return 0, 0, nil, 0, err
	}
	d := newDecoder(content, nil)
	start = d.Varint()
	return e.Kind, start, d.Rest, int64(len(content)), d.Err
}

// timingPart reads the block of call at (a multiple of timing.BlockCalls).
func (t *Reader) timingPart(thread int, at uint64) (timingPart, error) {
	where := t.shared.Threads.At(thread)
	part, err := t.timingOf(thread, where.Calls, at, where.extrapolations())
	if err != nil {
		err = fmt.Errorf("trace: timing of rank %d thread %d from call %d: %w", where.Rank, where.Thread, at, err)
	}
	return part, err
}

// timingOf reads the block of call at of a thread with the given number of calls.
func (t *Reader) timingOf(thread int, calls, at uint64, stood extrapolations) (timingPart, error) {
	kind, start, coded, size, err := t.timingBlock(thread, at)
	if err != nil {
		return timingPart{}, err
	}
	all := calls
	calls = min(calls-at, timing.BlockCalls)
	if per := sumsOf(kind); per > 0 {
		part := timingPart{sums: timing.NewSumsDecoder(coded, per, calls), start: start, calls: calls, size: size}
		if per == timing.LongSums {
			part.beside = t.spanOfSums(thread, all, int64(at)-timing.BlockCalls) + t.spanOfSums(thread, all, int64(at)+timing.BlockCalls)
		}
		return part, nil
	}
	own := calls - stood.within(at, at+calls)
	return timingPart{
		decoder: timing.NewDecoder(t.timingPlan, coded, own, t.budget), start: start, calls: calls, size: size,
	}, nil
}

// spanOfSums returns the length in ticks of the block of call at of a thread with so many calls, if
// it is one of LongSums; 0 otherwise.
func (t *Reader) spanOfSums(thread int, calls uint64, at int64) int64 {
	if at < 0 || uint64(at) >= calls || t.sumsOf(thread, uint64(at)/timing.BlockCalls) != timing.LongSums {
		return 0
	}
	_, _, coded, size, err := t.timingBlock(thread, uint64(at))
	if err != nil {
		return 0 // the error is reported when the block is read
	}
	defer t.budget.Give(size)
	sums := timing.NewSumsDecoder(coded, timing.LongSums, min(calls-uint64(at), timing.BlockCalls))
	if !sums.Begin() {
		return 0
	}
	return sums.Span
}

// Timing returns the gaps and durations of Threads()[thread], in ticks; nil if the trace has none.
// Both are 0 where they are to be extrapolated from another rank.
func (t *Reader) Timing(thread int) (gaps, durations []int64, err error) {
	if !t.hasTimes(thread) {
		return nil, nil, nil
	}
	where := t.shared.Threads.At(thread)
	calls := where.Calls
	if calls > math.MaxInt64/16 || !t.budget.Take(int64(calls)*16) {
		return nil, nil, fmt.Errorf("trace: timing of %d calls: %w", calls, codec.ErrMemory)
	}
	from, err := (&storedTiming{t, thread, where.Root, calls, where.extrapolations()}).OpenTiming()
	if err != nil {
		return nil, nil, err
	}
	for at := 0; ; {
		// not more until the file has proved to have what it claims
		n := int(min(calls-uint64(at), timing.BlockCalls))
		gaps, durations = slices.Grow(gaps, n)[:at+n], slices.Grow(durations, n)[:at+n]
		k, err := from.ReadTiming(gaps[at:], durations[at:])
		if err != nil {
			return nil, nil, err
		}
		if at += k; k < n || uint64(at) == calls {
			return gaps[:at], durations[:at], nil
		}
	}
}

// Span returns the begin of the first call of Threads()[thread] and the end of its last call up to
// MPI_Finalize, on the scale of Event.
func (t *Reader) Span(thread int) (begin, end int64) { return t.Spans()(thread) }

// Spans returns a function that does what Span does, but faster for threads that are near to each
// other. It is for one goroutine.
func (t *Reader) Spans() func(thread int) (begin, end int64) {
	threads, ranks := &t.shared.Threads, &t.shared.Ranks
	number, first, length := threads.rank.Lookup(), threads.first.Lookup(), threads.length.Lookup()
	rank := ranks.Lookup()
	return func(thread int) (begin, end int64) {
		r := rank(ranks.Find(int(number(thread))))
		clock, from := timing.NewClockMap(&r.Clock), first(thread)
		return clock.Nanoseconds(from), clock.Nanoseconds(from + length(thread))
	}
}

// timing writes the timing of a thread in blocks of timing.BlockCalls calls. Blocks that are in a
// file already are copied if their signatures are distinguished in the same way.
func (f *fileWriter) timing(thread int, t *Thread, c *Content, plan *timing.Plan) error {
	if stored, ok := t.Timing.(*storedTiming); ok && !t.SignaturesJoined && stored.file.shared.Meta.Timing.Equal(&c.Meta.Timing) {
		return f.copyTiming(thread, t, stored)
	}
	source, at, tick := t.Timing, uint64(0), int64(0) // tick of the next call
	if coded, ok := source.(*CodedTimes); ok && !t.SignaturesJoined && coded.Of.Meta.Timing.Equal(&c.Meta.Timing) {
		if err := f.copyCoded(thread, t, coded); err != nil {
			return err
		}
		source, at, tick = coded.Rest, uint64(len(coded.Blocks))*timing.BlockCalls, coded.Ticks
	}
	if at == t.Calls {
		return nil
	}
	var from TimingReader = &memoryTiming{t.Gaps, t.Durations}
	if source != nil {
		var err error
		if from, err = source.OpenTiming(); err != nil {
			return err
		}
	}
	walk := c.Grammar.Walk(t.Root)
	if at > 0 {
		lengths, err := c.Grammar.Lengths()
		if err != nil {
			return err
		}
		walk, _ = c.Grammar.Seek(t.Root, at, lengths)
	}
	gaps, durations := make([]int64, timingChunk), make([]int64, timingChunk)
	var encoder *timing.Encoder
	var sums *timing.SumsEncoder // of a block that has sums
	per := uint64(0)
	first := int64(0) // of the block
	stood, held := t.extrapolations(), overheads(t.Overheads)
	for at < t.Calls {
		want := int(min(t.Calls-at, timingChunk))
		n, err := from.ReadTiming(gaps[:want], durations[:want])
		if err != nil {
			return err
		}
		if n < want {
			return fmt.Errorf("trace: rank %d thread %d: timing of %d of %d calls", t.Rank, t.Thread, at+uint64(n), t.Calls)
		}
		if at%timing.BlockCalls == 0 {
			first, sums = tick, nil
			if per = sumsIn(t.Timing, at/timing.BlockCalls); per > 0 {
				sums = timing.NewSumsEncoder(per)
			} else {
				encoder = timing.NewEncoder(plan)
			}
		}
		for i := range n {
			terminal, _ := walk.Next()
			call := at + uint64(i)
			tick += held.before(call)
			if sums != nil {
				sums.Call(terminal, gaps[i], durations[i])
				tick += gaps[i] + durations[i]
				continue
			}
			if stood.at(call) {
				encoder.Restart()
				if call+1 == stood.to {
					tick += stood.current().Gap + stood.current().Duration
				}
				continue
			}
			encoder.Call(terminal, gaps[i], durations[i])
			tick += gaps[i] + durations[i]
		}
		part := at / timing.BlockCalls
		if at += uint64(n); at%timing.BlockCalls == 0 || at == t.Calls {
			start := binary.AppendVarint(nil, first)
			if sums != nil {
				f.block(sumsKind(per), int64(thread), int64(part), sums.Finish(start))
			} else {
				f.block(blockTiming, int64(thread), int64(part), encoder.Finish(start))
			}
		}
	}
	return nil
}

// copyCoded writes the blocks that are in parts, except those in the chain before the file.
func (f *fileWriter) copyCoded(thread int, t *Thread, from *CodedTimes) error {
	for number, b := range from.Blocks {
		if f.chained(b.part, b.entry(), int64(thread), int64(number)) {
			continue
		}
		content, err := b.content()
		if err != nil {
			return fmt.Errorf("trace: timing of rank %d thread %d, block %d: %w", t.Rank, t.Thread, number, err)
		}
		f.block(b.entry().Kind, int64(thread), int64(number), content)
		b.part.file.budget.Give(int64(len(content)))
	}
	return nil
}

func (f *fileWriter) copyTiming(thread int, t *Thread, from *storedTiming) error {
	for at := uint64(0); at < t.Calls; at += timing.BlockCalls {
		e, err := from.file.timingEntry(from.thread, at)
		if err != nil {
			return fmt.Errorf("trace: timing of rank %d thread %d from call %d: %w", t.Rank, t.Thread, at, err)
		}
		content, err := from.file.block(e)
		if err != nil {
			return err
		}
		f.block(e.Kind, int64(thread), int64(at/timing.BlockCalls), content)
		from.file.budget.Give(int64(len(content)))
	}
	return nil
}

// memoryTiming reads timing from memory.
type memoryTiming struct{ gaps, durations []int64 }

func (m *memoryTiming) ReadTiming(gaps, durations []int64) (int, error) {
	n := copy(gaps, m.gaps)
	copy(durations, m.durations[:n])
	m.gaps, m.durations = m.gaps[n:], m.durations[n:]
	return n, nil
}

// Times reads the gaps and durations of a thread from any source; nil if they are unknown.
func (t *Thread) Times() (gaps, durations []int64, err error) {
	if t.Timing == nil {
		return t.Gaps, t.Durations, nil
	}
	from, err := t.Timing.OpenTiming()
	if err != nil {
		return nil, nil, err
	}
	for {
		at := len(gaps)
		gaps, durations = slices.Grow(gaps, timingChunk)[:at+timingChunk], slices.Grow(durations, timingChunk)[:at+timingChunk]
		n, err := from.ReadTiming(gaps[at:], durations[at:])
		if err != nil {
			return nil, nil, err
		}
		if n < timingChunk {
			return gaps[:at+n], durations[:at+n], nil
		}
	}
}
