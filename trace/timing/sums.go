package timing

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Where a limit leaves no room for the times of all calls, sums are kept in their place: of the calls of a stretch, which
// is ShortSums or LongSums of them, and of these by signature. So a profile stays exact, and so do the moments at which
// stretches begin and end. Nothing is known of a single call but the stretch that it is in; that is what Event.EnterError
// and Event.ExitError say of it.
const (
	ShortSums = 1 << 10
	LongSums  = BlockCalls
)

// maxSumRows is how many signatures of a stretch have sums of their own; those that come later share those of the last one.
const maxSumRows = 256

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

// A SumsEncoder writes a block of sums.
type SumsEncoder struct {
	per uint64
	now sumRows
	b   []byte
}

// NewSumsEncoder begins a block of sums over so many calls each.
func NewSumsEncoder(per uint64) *SumsEncoder {
	return &SumsEncoder{per: per, now: sumRows{most: maxSumRows}}
}

// Call adds the gap and the duration of the next call.
func (e *SumsEncoder) Call(terminal int32, gap, duration int64) {
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
func (e *SumsEncoder) stretch() {
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

// Finish appends the block.
func (e *SumsEncoder) Finish(to []byte) []byte {
	if e.now.calls > 0 {
		e.stretch()
	}
	return append(to, e.b...)
}

// A SumsDecoder reads a block of sums.
type SumsDecoder struct {
	d    codec.Decoder
	per  uint64
	left uint64 // calls of the block
	now  sumRows
	done []int64 // calls of each row that were given
	Span int64   // ticks from the beginning of the stretch to its end
}

// NewSumsDecoder begins to read a block of so many calls.
func NewSumsDecoder(block []byte, per, calls uint64) *SumsDecoder {
	return &SumsDecoder{d: codec.Decoder{Rest: block}, per: per, left: calls}
}

// stretch goes on to the next stretch.
func (s *SumsDecoder) stretch() bool {
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
	s.now.most, s.now.calls, s.Span = int(n), calls, 0
	all := int64(0)
	for _, r := range s.now.rows {
		if r.calls < 1 || r.calls > int64(calls)-all {
			return false
		}
		all += r.calls
		s.Span += Magnitude(r.gap) + Magnitude(r.duration)
	}
	return s.d.Err == nil && all == int64(calls)
}

// Call is what the next call has of the sums, which has this terminal.
func (s *SumsDecoder) Call(terminal int32) (gap, duration int64, ok bool) {
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
