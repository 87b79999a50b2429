package timing

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Where a limit leaves no room for the times of all calls, sums replace them: one for each stretch
// of ShortSums or LongSums calls, and within it one for each signature. So a profile stays exact,
// and so do the times at which stretches begin and end. Of a single call only its stretch is known;
// Event.EnterError and Event.ExitError have that bound. A process that gives up times itself sums
// over other stretches than these: its blocks have LongSums, and the bound includes such blocks
// before and after.
const (
	ShortSums = 1 << 10
	LongSums  = BlockCalls
)

// maxSumRows is the number of signatures in a stretch with sums of their own; later signatures
// share the last one.
const maxSumRows = 256

// A sumRow is the sums of the calls of a signature.
type sumRow struct{ calls, gap, duration int64 }

// sumRows are the rows of a stretch, in order of first use.
type sumRows struct {
	rows  []sumRow
	of    map[int32]int // by terminal
	limit int           // maximum number of rows
	calls uint64
}

// row returns the row of a terminal.
func (s *sumRows) row(terminal int32) int {
	n, known := s.of[terminal]
	if !known {
		if s.of == nil {
			s.of = map[int32]int{}
		}
		n = min(len(s.of), s.limit-1)
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

// NewSumsEncoder starts a block of sums over per calls each.
func NewSumsEncoder(per uint64) *SumsEncoder {
	return &SumsEncoder{per: per, now: sumRows{limit: maxSumRows}}
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

// stretch ends the current stretch.
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
	done []int64 // calls of each row that were returned
	Span int64   // ticks from the beginning to the end of the stretch
}

// NewSumsDecoder returns a decoder of a block with the given number of calls.
func NewSumsDecoder(block []byte, per, calls uint64) *SumsDecoder {
	return &SumsDecoder{d: codec.Decoder{Rest: block}, per: per, left: calls}
}

// stretch moves to the next stretch.
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
	s.now.limit, s.now.calls, s.Span = int(n), calls, 0
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

// Begin reads the sums of the first stretch, so that Span is known before the first Call.
func (s *SumsDecoder) Begin() bool { return s.left > 0 && (s.now.calls > 0 || s.stretch()) }

// Call returns the share of the next call, which has this terminal, in the sums.
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
	return Share(r.gap, r.calls, done), Share(r.duration, r.calls, done), s.left > 0 || len(s.d.Rest) == 0
}

// Share returns what number i, from 0, of n intervals has of their sum.
func Share(sum, n, i int64) int64 {
	each, rest := sum/n, sum%n
	return each + rest*(i+1)/n - rest*i/n
}
