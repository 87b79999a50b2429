package recorder

import (
	"encoding/binary"
	"iter"
)

// results are what the calls of one terminal returned to a thread: its value streams. When calls return the same
// again, that is only counted, and the streams hear of it once (settle).
type results struct {
	streams []stream
	again   uint64   // times that the last values came again and the streams have not heard of
	last    *repeat  // what the last call was, if each stream got one value of it; else nil
	words   []uint64 // then the words of its record that the values come from
	written uint64   // how long the first stream was when the tables were written
}

// settle brings the streams up to date, and reports whether there are any.
func (rs *results) settle() bool {
	if rs.again == 0 {
		return len(rs.streams) > 0
	}
	for i := range rs.streams {
		// every stream got one value of the last call, which is its last run's
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

// resultsOf are the results of a terminal.
func (t *thread) resultsOf(number int32) *results {
	if int(number) >= len(t.results) {
		t.results = append(t.results, make([]results, int(number)+1-len(t.results))...)
	}
	return &t.results[number]
}

// returned adds what a call returned.
func (t *thread) returned(number int32, s *scratch) {
	if len(s.lengths) > 0 {
		t.resultsOf(number).push(s.values, s.lengths)
	}
}

// A stream is a sequence of integers, kept as runs: results are the same again most of the time. Of a long one that is
// not regular the beginning is in full blocks.
type stream struct {
	inBlocks uint64 // how many values
	runs     []byte // varint value, uvarint repetitions − 1: all that follow but the last
	value    int64
	count    uint64 // of the last run; 0: the stream is empty
	n        uint64
	written  int32 // how many bytes of runs the tables have in their file
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
		if s.count == 1 { // most often, or there would be few runs
			runs = append(runs, 0)
		} else {
			runs = binary.AppendUvarint(runs, s.count-1)
		}
		s.runs, s.count = runs, 0
	}
}

// blockRuns is how many bytes of runs a stream keeps at a checkpoint.
const blockRuns = 4 << 10

// closeValues makes blocks of what has become long of the threads' value streams. The last run stays: it grows.
func (r *Recorder) closeValues() {
	least := blockRuns
	if r.generality > keepsEverything { // of many streams little each is much
		least = blockRuns / 64
	}
	for _, t := range r.threads {
		for i := range t.results {
			for k := range t.results[i].streams {
				s := &t.results[i].streams[k]
				if len(s.runs) < least {
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

// encoded is what is in memory of the stream, from this byte on.
func (s *stream) encoded(from int32) []byte {
	b := s.runs[from:]
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

// EncodeRuns encodes values as a block has them.
func EncodeRuns(values []int64) []byte {
	var s stream
	for _, v := range values {
		s.push(v)
	}
	return s.encoded(0)
}

// ClosedStreams are all value streams, thread by thread, with the number of their values that are in blocks.
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
