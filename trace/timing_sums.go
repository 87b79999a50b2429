package trace

import (
	"encoding/binary"
	"github.com/cairn-mpi/cairn/trace/codec"
	"slices"
)

// Where a limit leaves no room for the times of all calls, sums are kept in their place: of the calls of a stretch, which
// is ShortSums or LongSums of them, and of these by signature. So a profile stays exact, and so do the moments at which
// stretches begin and end. Nothing is known of a single call but the stretch that it is in; that is what Event.EnterError
// and Event.ExitError say of it.
const (
	ShortSums = 1 << 10
	LongSums  = TimingBlockCalls
)

// maxSumRows is how many signatures of a stretch have sums of their own; those that come later share those of the last one.
const maxSumRows = 256

// sumsOf is over how many calls the sums in a block of this kind go; 0: it has none.
func sumsOf(kind codec.Kind) uint64 {
	switch kind {
	case blockShortSums:
		return ShortSums
	case blockLongSums:
		return LongSums
	}
	return 0
}

func sumsKind(per uint64) codec.Kind {
	if per == ShortSums {
		return blockShortSums
	}
	return blockLongSums
}

// A SummedSource is a TimingSource that may have sums in place of the times of some calls. What it reads are the sums
// spread evenly over the calls of each signature.
type SummedSource interface {
	TimingSource
	// SumsOf is over how many calls the sums of a block go, ShortSums or LongSums; 0: it has times.
	SumsOf(block uint64) uint64
}

// sumsIn is SumsOf for any source.
func sumsIn(s TimingSource, block uint64) uint64 {
	if summed, is := s.(SummedSource); is {
		return summed.SumsOf(block)
	}
	return 0
}

// A sumRow has the sums of the calls of a signature.
type sumRow struct{ calls, gap, duration int64 }

// A sumRows are those of a stretch, in the order in which signatures first come.
type sumRows struct {
	rows  []sumRow
	of    map[int32]int // by terminal
	most  int           // rows
	calls uint64
}

// row is that of a terminal.
func (s *sumRows) row(terminal int32) int {
	n, known := s.of[terminal]
	if !known {
		if s.of == nil {
			s.of = map[int32]int{}
		}
		n = min(len(s.of), s.most-1)
		s.of[terminal] = n
	}
	return n
}

// A sumsEncoder writes a block of sums.
type sumsEncoder struct {
	per uint64
	now sumRows
	b   []byte
}

func newSumsEncoder(per uint64) *sumsEncoder {
	return &sumsEncoder{per: per, now: sumRows{most: maxSumRows}}
}

func (e *sumsEncoder) call(terminal int32, gap, duration int64) {
	s := &e.now
	n := s.row(terminal)
	if n == len(s.rows) {
		s.rows = append(s.rows, sumRow{})
	}
	r := &s.rows[n]
	r.calls, r.gap, r.duration = r.calls+1, r.gap+gap, r.duration+duration
	if s.calls++; s.calls == e.per {
		e.stretch()
	}
}

// stretch ends a stretch.
func (e *sumsEncoder) stretch() {
	s := &e.now
	e.b = binary.AppendUvarint(e.b, uint64(len(s.rows)))
	for _, column := range []func(r *sumRow) int64{
		func(r *sumRow) int64 { return r.calls }, func(r *sumRow) int64 { return r.gap }, func(r *sumRow) int64 { return r.duration },
	} {
		for i := range s.rows {
			e.b = binary.AppendVarint(e.b, column(&s.rows[i]))
		}
	}
	clear(s.of)
	s.rows, s.calls = s.rows[:0], 0
}

// finish appends the block.
func (e *sumsEncoder) finish(to []byte) []byte {
	if e.now.calls > 0 {
		e.stretch()
	}
	return append(to, e.b...)
}

// A sumsDecoder reads a block of sums.
type sumsDecoder struct {
	d    codec.Decoder
	per  uint64
	left uint64 // calls of the block
	now  sumRows
	done []int64 // calls of each row that were given
	span int64   // ticks from the beginning of the stretch to its end
}

func newSumsDecoder(block []byte, per, calls uint64) *sumsDecoder {
	return &sumsDecoder{d: codec.Decoder{Rest: block}, per: per, left: calls}
}

// stretch goes on to the next stretch.
func (s *sumsDecoder) stretch() bool {
	n := s.d.Uvarint()
	calls := min(s.per, s.left)
	if s.d.Err != nil || n == 0 || n > min(maxSumRows, calls) {
		return false
	}
	s.now.rows = slices.Grow(s.now.rows[:0], int(n))[:n]
	s.done = append(s.done[:0], make([]int64, n)...)
	for _, column := range []func(r *sumRow) *int64{
		func(r *sumRow) *int64 { return &r.calls }, func(r *sumRow) *int64 { return &r.gap }, func(r *sumRow) *int64 { return &r.duration },
	} {
		for i := range s.now.rows {
			*column(&s.now.rows[i]) = s.d.Varint()
		}
	}
	clear(s.now.of)
	s.now.most, s.now.calls, s.span = int(n), calls, 0
	all := int64(0)
	for _, r := range s.now.rows {
		if r.calls < 1 || r.calls > int64(calls)-all {
			return false
		}
		all += r.calls
		s.span += magnitude(r.gap) + magnitude(r.duration)
	}
	return s.d.Err == nil && all == int64(calls)
}

// call is what the next call has of the sums, which has this terminal.
func (s *sumsDecoder) call(terminal int32) (gap, duration int64, ok bool) {
	if s.left == 0 || s.now.calls == 0 && !s.stretch() {
		return 0, 0, false
	}
	n := s.now.row(terminal)
	r := &s.now.rows[n]
	done := s.done[n]
	if done == r.calls {
		return 0, 0, false
	}
	s.done[n]++
	s.now.calls--
	s.left--
	share := func(sum int64) int64 {
		each, rest := sum/r.calls, sum%r.calls
		return each + rest*(done+1)/r.calls - rest*done/r.calls
	}
	return share(r.gap), share(r.duration), s.left > 0 || len(s.d.Rest) == 0
}

// Coarse says that of some calls of a thread only sums of times are there.
type Coarse struct {
	Rank, Thread int
	From, To     uint64 // the first call, and the one after the last
	Per          uint64 // calls that a sum goes over
}

// coarseOf lists the calls of a thread of which there are sums.
func coarseOf(rank, thread int, calls uint64, per func(block uint64) uint64) (list []Coarse) {
	for block := range (calls + TimingBlockCalls - 1) / TimingBlockCalls {
		n := per(block)
		if n == 0 {
			continue
		}
		from, to := block*TimingBlockCalls, min(calls, (block+1)*TimingBlockCalls)
		if last := len(list) - 1; last >= 0 && list[last].To == from && list[last].Per == n {
			list[last].To = to
			continue
		}
		list = append(list, Coarse{rank, thread, from, to, n})
	}
	return list
}

// Coarse lists the calls of which there are only sums of times, by rank and thread.
func (t *Reader) Coarse() (list []Coarse) {
	if !t.summed {
		return nil
	}
	for i, where := range t.shared.Threads.All() {
		if t.timed.At(i) == timingOfCalls {
			list = append(list, coarseOf(where.Rank, where.Thread, where.Calls, func(block uint64) uint64 { return t.sumsOf(i, block) })...)
		}
	}
	return list
}

// Coarse lists the calls of which there are only sums of times, by rank and thread.
func (c *Content) Coarse() (list []Coarse) {
	for _, t := range c.Threads.All() {
		s, is := t.Timing.(SummedSource)
		if stored, of := s.(*storedTiming); is && !(of && !stored.file.summed) {
			list = append(list, coarseOf(t.Rank, t.Thread, t.Calls, s.SumsOf)...)
		}
	}
	return list
}

// CoarseCalls is how many calls these are, and of which ranks.
func CoarseCalls(list []Coarse) (calls uint64, ranks RankList) {
	var of []int
	for _, c := range list {
		calls += c.To - c.From
		if n := len(of); n == 0 || of[n-1] != c.Rank {
			of = append(of, c.Rank)
		}
	}
	return calls, NewRankList(of)
}

// sumsOf is over how many calls the sums of a thread's block go; 0: it has times.
func (t *Reader) sumsOf(thread int, block uint64) uint64 {
	if !t.summed {
		return 0
	}
	e, err := t.timingEntry(thread, block*TimingBlockCalls)
	if err != nil {
		return 0 // found when the block is read
	}
	return sumsOf(e.Kind)
}

// SumsOf implements SummedSource.
func (s *storedTiming) SumsOf(block uint64) uint64 { return s.file.sumsOf(s.thread, block) }

// SumsOf implements SummedSource.
func (s *CodedTimes) SumsOf(block uint64) uint64 {
	if n := uint64(len(s.Blocks)); block >= n {
		if s.Rest == nil {
			return 0
		}
		return sumsIn(s.Rest, block)
	}
	return s.Blocks[block].SumsOf()
}

// SumsOf is over how many calls the sums in the block go; 0: it has times.
func (b PartBlock) SumsOf() uint64 { return sumsOf(b.entry().Kind) }
