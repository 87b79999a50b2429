package recorder

import (
	"encoding/binary"
	"io"
)

// A stream is a sequence of integers, kept as runs: results are the same again most of the time. Of a long one that is
// not regular the beginning is in the file of the process's directory (spill.go).
type stream struct {
	spilled []extent // of runs
	inFile  uint64   // how many values these are
	runs    []byte   // varint value, uvarint repetitions − 1: all that follow but the last
	value   int64
	count   uint64 // of the last run; 0: the stream is empty
	n       uint64
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

// spillRuns is how many bytes of runs a stream keeps in memory at a checkpoint.
const spillRuns = 4 << 10

// write moves the runs to the file; at is its length, before and after.
func (s *stream) write(f io.WriterAt, at int64) (int64, error) {
	n := int64(len(s.runs))
	if err := fitsLimit(at + n); err != nil {
		return at, err
	}
	if _, err := f.WriteAt(s.runs, at); err != nil {
		return at, err
	}
	s.spilled = appendExtent(s.spilled, extent{at, n})
	s.inFile, s.runs = s.n-s.count, s.runs[:0]
	return at + n, nil
}

// all is the stream as bytes; f is needed when some is in the file.
func (s *stream) all(f io.ReaderAt) ([]byte, error) {
	b, err := readExtents(s.spilled, f)
	return append(b, s.encoded()...), err
}

// encoded is what is in memory of the stream, as bytes.
func (s *stream) encoded() []byte {
	b := s.runs
	if s.count > 0 {
		b = binary.AppendVarint(b[:len(b):len(b)], s.value)
		b = binary.AppendUvarint(b, s.count-1)
	}
	return b
}

// decodeStream reads what encoded gave; n is the number of values in it.
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

// values expands what all gave.
func (s *stream) values(b []byte) ([]int64, error) {
	out := make([]int64, 0, min(s.n, 1<<20))
	for len(b) > 0 {
		v, i := binary.Varint(b)
		if i <= 0 {
			return nil, errCheckpoint
		}
		k, j := binary.Uvarint(b[i:])
		if j <= 0 || k >= s.n-uint64(len(out)) {
			return nil, errCheckpoint
		}
		b = b[i+j:]
		for range k + 1 {
			out = append(out, v)
		}
	}
	if uint64(len(out)) != s.n {
		return nil, errCheckpoint
	}
	return out, nil
}
