package codec

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// The encoding of a sequence of integers (docs/format.md, "Sequences"): the number of values, then
// pieces until all values are present. A piece begins with a varint: its kind in the low two bits,
// and its number of values n ≥ 1 above them. "The value before" is 0 at the beginning.
const (
	pieceRun         = iota // one zigzag varint: the difference of the value to the one before; n times
	pieceProgression        // two zigzag varints: the difference of the first value to the one before, the step
	pieceLiterals           // n zigzag varints: the values
	pieceDifferences        // n zigzag varints: each the difference to the value before
)

const (
	pieceKindBits = 2
	pieceKindMask = 1<<pieceKindBits - 1
	// shortestRun is the number of equal values, or equal steps, from which on a separate piece is
	// worth its overhead.
	shortestRun = 4
)

// ErrSequence is the error of a sequence that is damaged.
var ErrSequence = errors.New("trace: damaged sequence")

// AppendSequence appends the compact encoding of values: pieces, or a grammar of the values
// or of their differences where that is much shorter. Bits of floating-point numbers may be
// among the values.
func AppendSequence(b []byte, values []int64) []byte {
	start := len(b)
	b = appendPieces(b, values)
	if grammar := grammarOfSequence(values, len(b)-start); grammar != nil {
		return append(b[:start], grammar...)
	}
	return b
}

// An Effort selects between compact and fast writing.
type Effort uint8

const (
	Smallest Effort = iota // a finished trace: written once and kept
	Fastest                // a shard: read once, by a merge that has many of them
)

// longestTried is the longest list of values for which a grammar is tried when writing has to be
// fast. Longer lists belong to programs without order, where a grammar takes much time and saves
// little; and the merge tries it anyway.
const longestTried = 1 << 12

// appendSequence is AppendSequence with the effort p.
func (p Effort) appendSequence(b []byte, values []int64) []byte {
	if p == Fastest && len(values) > longestTried {
		return appendPieces(b, values)
	}
	return AppendSequence(b, values)
}

// appendPieces writes runs and arithmetic progressions, and everything else as values or
// differences, whichever is shorter.
func appendPieces(b []byte, values []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	var before int64
	literals := 0 // start of what is not written yet
	flush := func(end int) {
		if literals < end {
			b = appendLiterals(b, values[literals:end], before)
			before = values[end-1]
		}
	}
	for i := 0; i < len(values); {
		n, step := progression(values[i:])
		if n < shortestRun {
			i++
			continue
		}
		flush(i)
		kind := uint64(pieceProgression)
		if step == 0 {
			kind = pieceRun
		}
		b = binary.AppendUvarint(b, uint64(n)<<pieceKindBits|kind)
		b = binary.AppendVarint(b, values[i]-before)
		if step != 0 {
			b = binary.AppendVarint(b, step)
		}
		before = values[i+n-1]
		i += n
		literals = i
	}
	flush(len(values))
	return b
}

// progression is the number of values at the beginning that form an arithmetic progression;
// differences wrap around.
func progression(values []int64) (n int, step int64) {
	if len(values) < 2 {
		return len(values), 0
	}
	step = values[1] - values[0]
	n = 2
	for n < len(values) && values[n]-values[n-1] == step {
		n++
	}
	return n, step
}

func appendLiterals(b []byte, values []int64, before int64) []byte {
	plain, differences := 0, 0
	last := before
	for _, v := range values {
		plain += varintLen(v)
		differences += varintLen(v - last)
		last = v
	}
	head := uint64(len(values)) << pieceKindBits
	if plain <= differences {
		b = binary.AppendUvarint(b, head|pieceLiterals)
		for _, v := range values {
			b = binary.AppendVarint(b, v)
		}
		return b
	}
	b = binary.AppendUvarint(b, head|pieceDifferences)
	for _, v := range values {
		b = binary.AppendVarint(b, v-before)
		before = v
	}
	return b
}

func varintLen(x int64) int {
	n := 1
	for u := Zigzag(x); u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

// Sequence reads a sequence. Its memory is Temporary.
func (d *Decoder) Sequence() []int64 {
	n := d.Uvarint()
	if n > 1<<60 || !d.Temporary(int64(n)*8) {
		d.Fail(ErrMemory)
		return nil
	}
	return d.sequenceValues(n)
}

// pieces reads a sequence that is not a grammar. Its memory is Temporary.
func (d *Decoder) pieces() []int64 {
	n := d.Uvarint()
	if n > 1<<60 || !d.Temporary(int64(n)*8) {
		d.Fail(ErrMemory)
		return nil
	}
	return d.readSequence(sequenceReader{d: *d, left: n, plain: true})
}

// Column reads a sequence that must have n values.
func (d *Decoder) Column(n int) []int64 {
	values := d.Sequence()
	if d.Err == nil && len(values) != n {
		d.Fail(ErrSequence)
	}
	if d.Err != nil {
		return make([]int64, n)
	}
	return values
}

// sequenceValues reads the pieces of n values. The caller has checked that the budget allows n.
func (d *Decoder) sequenceValues(n uint64) []int64 {
	return d.readSequence(sequenceReader{d: *d, left: n})
}

func (d *Decoder) readSequence(r sequenceReader) []int64 {
	n := r.left
	// A damaged file may claim many values and contain few: grow with the input.
	values := make([]int64, 0, min(n, 1024))
	for uint64(len(values)) < n {
		values = slices.Grow(values, int(min(n-uint64(len(values)), uint64(len(values)+1024))))
		k := r.read(values[len(values):cap(values)])
		if k == 0 {
			d.Fail(r.d.Err)
			return nil
		}
		values = values[:len(values)+k]
	}
	d.follow(&r)
	return values
}

// follow continues after a sequence that a separate reader has read to its end.
func (d *Decoder) follow(r *sequenceReader) {
	d.Rest = r.d.Rest
	r.end()
}

// end releases the grammar of a sequence, which only this reader used.
func (r *sequenceReader) end() {
	if r.grammar != nil {
		r.d.Budget.Give(r.grammar.bytes())
		r.grammar = nil
	}
}

// A sequenceReader returns the values of a sequence one by one.
type sequenceReader struct {
	d     Decoder
	left  uint64 // values of the sequence
	piece uint64 // values left in the piece
	kind  uint8
	value int64 // the value before
	step  int64

	begun bool // a piece was read
	plain bool // only pieces are allowed

	grammar *SequenceGrammar // nil: the sequence is not a grammar
	walk    *grammar.Walk
}

func newSequenceReader(b []byte, m *Budget) sequenceReader {
	r := sequenceReader{d: Decoder{Rest: b, Budget: m}}
	r.left = r.d.Uvarint()
	return r
}

// read fills dst and returns the number of values. It is less than len(dst) at the end and on an
// error (r.d.Err).
func (r *sequenceReader) read(dst []int64) (n int) {
	for n < len(dst) && r.left > 0 {
		if r.piece == 0 && !r.start() {
			return n
		}
		part := dst[n:]
		if uint64(len(part)) > r.piece {
			part = part[:r.piece]
		}
		if !r.fill(part) {
			return n
		}
		n += len(part)
		r.piece -= uint64(len(part))
		r.left -= uint64(len(part))
	}
	return n
}

// fill decodes values of one piece.
func (r *sequenceReader) fill(dst []int64) bool {
	value := r.value
	switch r.kind {
	case pieceGrammar:
		return r.fillFromGrammar(dst)
	case pieceRun:
		for i := range dst {
			dst[i] = value
		}
	case pieceProgression:
		for i := range dst {
			value += r.step
			dst[i] = value
		}
	default:
		b := r.d.Rest
		differences := int64(0)
		if r.kind == pieceDifferences {
			differences = -1
		}
		for i := range dst {
			var x uint64
			// most numbers take up to three bytes
			switch {
			case len(b) > 0 && b[0] < 0x80:
				x = uint64(b[0])
				b = b[1:]
			case len(b) > 1 && b[1] < 0x80:
				x = uint64(b[0]&0x7f) | uint64(b[1])<<7
				b = b[2:]
			case len(b) > 2 && b[2] < 0x80:
				x = uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2])<<14
				b = b[3:]
			default:
				var n int
				if x, n = binary.Uvarint(b); n <= 0 {
					r.d.Fail(ErrSequence)
					return false
				}
				b = b[n:]
			}
			value = value&differences + Unzigzag(x)
			dst[i] = value
		}
		r.d.Rest = b
	}
	r.value = value
	return true
}

func (r *sequenceReader) start() bool {
	head := r.d.Uvarint()
	r.kind = uint8(head & pieceKindMask)
	r.piece = head >> pieceKindBits
	if r.piece == 0 && !r.begun && !r.plain {
		return r.startGrammar()
	}
	r.begun = true
	if r.piece == 0 || r.piece > r.left {
		r.d.Fail(ErrSequence)
		return false
	}
	switch r.kind {
	case pieceRun:
		r.value += r.d.Varint()
		r.step = 0
	case pieceProgression:
		first := r.d.Varint()
		r.step = r.d.Varint()
		r.value += first - r.step
	}
	return r.d.Err == nil
}

// skip skips n values, without decoding them where one follows from another. It returns false if
// there are fewer.
func (r *sequenceReader) skip(n uint64) bool {
	var made [streamBuffer]int64
	for n > 0 {
		if r.left == 0 || r.piece == 0 && !r.start() {
			return false
		}
		m := min(n, r.piece)
		switch r.kind {
		case pieceRun:
		case pieceProgression:
			r.value += int64(m) * r.step
		default:
			m = min(m, uint64(len(made)))
			if !r.fill(made[:m]) {
				return false
			}
		}
		n -= m
		r.piece -= m
		r.left -= m
	}
	return true
}
