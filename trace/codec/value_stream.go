package codec

import "errors"

// A ValueStream returns the values of a sequence one by one. It reads them from memory, or decodes
// a batch at a time.
type ValueStream struct {
	values  []int64 // decoded and not returned yet
	encoded *sequenceReader
	chunks  []*Chunk     // remaining chunks
	rest    *ValueStream // what follows the chunks
	chunk   *Chunk       // the chunk being read
	content []byte       // its content
	buffer  []int64
	list    []int64 // the result of Take where it did not fit into the buffer
	booked  int64   // bytes booked for list
	failed  error
}

// ErrStreamEnds is returned where a stream has fewer values than requested.
var ErrStreamEnds = errors.New("a value stream ends too early")

// The batch size of decoding grows with use: a trace has many streams, and few of them are long.
const (
	firstStreamBuffer = 8
	streamBuffer      = 128
)

// NewValueStream returns a stream of the sequence at the front of b.
func NewValueStream(b []byte, m *Budget) ValueStream {
	r := newSequenceReader(b, m)
	return ValueStream{encoded: &r}
}

// NewSequenceStream returns a stream of the chunks of s, followed by rest, or by the values of s if
// rest is nil.
func NewSequenceStream(s Sequence, rest *ValueStream) ValueStream {
	if rest == nil {
		rest = &ValueStream{values: s.Values}
	}
	if len(s.Chunks) == 0 {
		return *rest
	}
	return ValueStream{chunks: s.Chunks, rest: rest}
}

// Next returns the next value; false at the end and on an error (Err).
func (v *ValueStream) Next() (int64, bool) {
	if len(v.values) == 0 {
		return v.refill()
	}
	x := v.values[0]
	v.values = v.values[1:]
	return x, true
}

// refill decodes more values and takes the first.
func (v *ValueStream) refill() (int64, bool) {
	for v.encoded == nil || v.encoded.left == 0 {
		if !v.advance() {
			return 0, false
		}
		if len(v.values) > 0 {
			return v.Next()
		}
	}
	if n := len(v.buffer); n < streamBuffer {
		v.buffer = make([]int64, min(v.encoded.left, uint64(max(2*n, firstStreamBuffer))))
	}
	n := v.encoded.read(v.buffer)
	if n == 0 {
		return 0, false
	}
	v.values = v.buffer[1:n]
	return v.buffer[0], true
}

// advance moves to the next chunk, or to what follows the last one; false at the end.
func (v *ValueStream) advance() bool {
	if v.failed != nil || v.encoded != nil && v.encoded.d.Err != nil {
		return false
	}
	v.leave()
	switch {
	case len(v.chunks) > 0:
		chunk := v.chunks[0]
		content, err := chunk.Content()
		if err != nil {
			v.failed = err
			return false
		}
		v.chunk, v.content, v.chunks = chunk, content, v.chunks[1:]
		r, err := chunk.read(content)
		if err != nil {
			v.failed = err
			return false
		}
		v.encoded = &r
	case v.rest != nil:
		v.encoded, v.values, v.rest = v.rest.encoded, v.rest.values, nil
	default:
		return false
	}
	return true
}

// leave releases the current chunk.
func (v *ValueStream) leave() {
	if v.chunk == nil {
		return
	}
	if v.encoded != nil {
		v.encoded.end()
	}
	v.chunk.Release(v.content)
	v.chunk, v.content, v.encoded = nil, nil, nil
}

// left is the number of remaining values.
func (v *ValueStream) left() uint64 {
	n := uint64(len(v.values)) + uint64(len(v.chunks))*SequenceChunk
	if v.encoded != nil {
		n += v.encoded.left
	}
	if v.rest != nil {
		n += v.rest.left()
	}
	return n
}

// Take returns the next n values, which are valid until the stream is used again. Memory that it
// allocates is taken from m until Release.
func (v *ValueStream) Take(n int, m *Budget) ([]int64, error) {
	if n <= len(v.values) {
		list := v.values[:n]
		v.values = v.values[n:]
		return list, nil
	}
	if v.left() < uint64(n) {
		return nil, v.Err()
	}
	if n > cap(v.list) {
		room := max(n, 2*cap(v.list))
		more := 8 * int64(room-cap(v.list))
		if !m.Take(more) {
			return nil, ErrMemory
		}
		v.booked += more
		v.list = make([]int64, room)
	}
	list := v.list[:n]
	for had := 0; had < n; {
		k := copy(list[had:], v.values)
		v.values = v.values[k:]
		had += k
		if had == n {
			break
		}
		if v.encoded != nil && v.encoded.left > 0 {
			if k = v.encoded.read(list[had:]); k == 0 {
				return nil, v.Err()
			}
			had += k
		} else if !v.advance() {
			return nil, v.Err()
		}
	}
	return list, nil
}

// Release returns the memory of the stream to m. The stream must not be used after it.
func (v *ValueStream) Release(m *Budget) {
	m.Give(v.booked)
	v.booked, v.list = 0, nil
	v.leave()
}

// Err is the error that ended Next, Take or Skip, if any.
func (v *ValueStream) Err() error {
	switch {
	case v.failed != nil:
		return v.failed
	case v.encoded != nil && v.encoded.d.Err != nil:
		return v.encoded.d.Err
	}
	return ErrStreamEnds
}

// Skip skips n values; false if there are fewer. Whole chunks are skipped without reading them.
func (v *ValueStream) Skip(n uint64) bool {
	for {
		k := min(uint64(len(v.values)), n)
		v.values = v.values[k:]
		if n -= k; n == 0 {
			return true
		}
		if v.encoded != nil && v.encoded.left > 0 {
			k := min(v.encoded.left, n)
			if !v.encoded.skip(k) {
				return false
			}
			n -= k
			continue
		}
		if whole := min(n/SequenceChunk, uint64(len(v.chunks))); whole > 0 {
			v.chunks = v.chunks[whole:]
			n -= whole * SequenceChunk
			continue
		}
		if !v.advance() {
			return false
		}
	}
}

// IsGrammar reports whether the stream begins with a sequence that is a grammar. Nothing may have
// been read yet.
func (v *ValueStream) IsGrammar() bool { return v.encoded != nil && v.encoded.isGrammar() }

// UseGrammar starts reading a sequence that is a grammar. g is the grammar that another stream of
// the same sequence has decoded, or nil to decode it. It returns the grammar in use.
func (v *ValueStream) UseGrammar(g *SequenceGrammar) (*SequenceGrammar, error) {
	v.encoded.grammar = g
	if !v.encoded.start() {
		return nil, v.encoded.d.Err
	}
	return v.encoded.grammar, nil
}
