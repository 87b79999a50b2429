package recorder

import "encoding/binary"

// A stream is a sequence of integers, kept as runs: results are the same again most of the time.
type stream struct {
	runs  []byte // varint value, uvarint repetitions − 1: all but the last run
	value int64
	count uint64 // of the last run; 0: the stream is empty
	n     uint64
}

func (s *stream) push(v int64) {
	s.n++
	if v == s.value && s.count > 0 {
		s.count++
		return
	}
	s.flush()
	s.value, s.count = v, 1
}

func (s *stream) flush() {
	if s.count > 0 {
		s.runs = binary.AppendVarint(s.runs, s.value)
		s.runs = binary.AppendUvarint(s.runs, s.count-1)
		s.count = 0
	}
}

// encoded is the stream as bytes.
func (s *stream) encoded() []byte {
	b := s.runs
	if s.count > 0 {
		b = binary.AppendVarint(b[:len(b):len(b)], s.value)
		b = binary.AppendUvarint(b, s.count-1)
	}
	return b
}

// decodeStream reads what encoded gave; n is the number of values.
func decodeStream(b []byte, n uint64) (stream, bool) {
	s := stream{runs: b[:len(b):len(b)], n: n}
	var total uint64
	for len(b) > 0 {
		v, i := binary.Varint(b)
		if i <= 0 {
			return s, false
		}
		k, j := binary.Uvarint(b[i:])
		if j <= 0 || k >= n-total {
			return s, false
		}
		total += k + 1
		if rest := b[i+j:]; len(rest) == 0 {
			s.runs = s.runs[:len(s.runs)-len(b)]
			s.value, s.count = v, k+1
		}
		b = b[i+j:]
	}
	return s, total == n
}

// values expands the stream.
func (s *stream) values() []int64 {
	out := make([]int64, 0, s.n)
	for b := s.encoded(); len(b) > 0; {
		v, i := binary.Varint(b)
		k, j := binary.Uvarint(b[i:])
		b = b[i+j:]
		for range k + 1 {
			out = append(out, v)
		}
	}
	return out
}
