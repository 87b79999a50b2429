package recorder

import (
	"encoding/binary"
	"iter"
)

// results are the value streams of one terminal of a thread. If a call returns the same values as
// the one before, it is only counted; settle adds the count to the streams.
type results struct {
	streams []stream
	again   uint64   // times that the last values recurred, not yet in the streams
	last    *repeat  // repeat of the last call, if each stream got one value of it; else nil
	words   []uint64 // the words of that record that the values come from
	written uint64   // length of the first stream when the tables were last written
}

// settle adds again to the streams, and reports whether there are any streams.
func (rs *results) settle() bool {
	if rs.again == 0 {
		return len(rs.streams) > 0
	}
	for i := range rs.streams {
		// every stream got one value from the last call, which is in its last run
		rs.streams[i].n += rs.again
		rs.streams[i].count += rs.again
	}
	rs.again = 0
	return len(rs.streams) > 0
}

// push adds the values of one call: lengths[i] of them to stream i.
func (rs *results) push(values []int64, lengths []int32) {
	rs.settle()
	rs.last, rs.words = nil, rs.words[:0]
	if len(rs.streams) < len(lengths) {
		rs.streams = append(rs.streams, make([]stream, len(lengths)-len(rs.streams))...)
	}
	at := 0
	for i, n := range lengths {
		for range n {
			rs.streams[i].push(values[at])
			at++
		}
	}
}

// resultsOf returns the results of a terminal.
func (t *thread) resultsOf(number int32) *results {
	if int(number) >= len(t.results) {
		t.results = append(t.results, make([]results, int(number)+1-len(t.results))...)
	}
	return &t.results[number]
}

// returned adds the results of a call.
func (t *thread) returned(number int32, s *scratch) {
	if len(s.lengths) > 0 {
		t.resultsOf(number).push(s.values, s.lengths)
	}
}

// A stream is a sequence of integers, kept as runs, since results are usually the same again. The
// beginning of a long irregular stream is in full blocks.
type stream struct {
	inBlocks uint64 // number of values in full blocks
	runs     []byte // varint value, uvarint repetitions − 1: all later runs except the last one
	value    int64
	count    uint64 // of the last run; 0: the stream is empty
	n        uint64
	written  int32 // bytes of runs that are in the file of the tables
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
		runs := binary.AppendVarint(s.runs, s.value)
		if s.count == 1 { // the usual case, or there would be few runs
			runs = append(runs, 0)
		} else {
			runs = binary.AppendUvarint(runs, s.count-1)
		}
		s.runs, s.count = runs, 0
	}
}

// blockRuns is the number of bytes of runs that a stream may keep at a checkpoint.
const blockRuns = 4 << 10

// closeValues turns long value streams into blocks. The last run stays, since it may grow.
func (r *Recorder) closeValues() {
	minBytes := blockRuns
	if r.generality > keepsEverything { // many streams add up even if each is short
		minBytes = blockRuns / 64
	}
	for _, t := range r.threads {
		for i := range t.results {
			for k := range t.results[i].streams {
				s := &t.results[i].streams[k]
				if len(s.runs) < minBytes {
					continue
				}
				n := s.n - s.count - s.inBlocks
				of := BlockOf{t.number, int32(i), int32(k)}
				r.full = append(r.full, &Block{Of: of, First: s.inBlocks, N: n, Data: [2][]byte{s.runs}})
				s.inBlocks, s.runs, s.written = s.inBlocks+n, nil, 0
				t.results[i].written = 0
			}
		}
	}
}

// encoded returns the runs of the stream that are in memory, from a byte on.
func (s *stream) encoded(from int32) []byte {
	b := s.runs[from:]
	if s.count > 0 {
		b = binary.AppendVarint(b[:len(b):len(b)], s.value)
		b = binary.AppendUvarint(b, s.count-1)
	}
	return b
}

// decodeStream decodes the result of encoded; n is the number of its values.
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

// EncodeRuns encodes values in the format of a block.
func EncodeRuns(values []int64) []byte {
	var s stream
	for _, v := range values {
		s.push(v)
	}
	return s.encoded(0)
}

// ClosedStreams returns all value streams, thread by thread, with the number of their values
// that are in blocks.
func (r *Recorder) ClosedStreams() iter.Seq2[BlockOf, uint64] {
	return func(yield func(BlockOf, uint64) bool) {
		for _, t := range r.byNumber() {
			for number := range t.results {
				for i := range t.results[number].streams {
					if !yield(BlockOf{t.number, int32(number), int32(i)}, t.results[number].streams[i].inBlocks) {
						return
					}
				}
			}
		}
	}
}
