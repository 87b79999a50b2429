package values

import (
	"encoding/binary"
	"iter"
)

// Streams are the value streams of a thread, by terminal.
type Streams struct {
	results []results
	call    Call // reused from call to call
}

// results are the value streams of one terminal of a thread. If a call returns the same values as
// the one before, it is only counted; settle adds the count to the streams.
type results struct {
	streams []Stream
	again   uint64   // times that the last values recurred, not yet in the streams
	last    *Sources // of the last call, if each stream got one value of it; else nil
	words   []uint64 // the words of that record that the values come from
	written uint64   // length of the first stream when the tables were last written
}

// of returns the results of a terminal.
func (s *Streams) of(terminal int32) *results {
	if int(terminal) >= len(s.results) {
		s.results = append(s.results, make([]results, int(terminal)+1-len(s.results))...)
	}
	return &s.results[terminal]
}

// Push adds the values of a call of a terminal.
func (s *Streams) Push(terminal int32, c *Call) {
	if len(c.Lengths) > 0 {
		s.of(terminal).push(c)
	}
}

// Read adds the values of a call that are in its record.
func (s *Streams) Read(terminal int32, from *Sources, words []uint64) {
	s.call.Reset()
	from.Read(&s.call, words)
	s.of(terminal).push(&s.call)
}

// ReadAgain is Read for a call that may return the same values as the last one of its terminal.
func (s *Streams) ReadAgain(terminal int32, from *Sources, words []uint64) {
	if s.IsSame(terminal, from, words) {
		s.Count(terminal, 1)
		return
	}
	s.Read(terminal, from, words)
	if from.Flat {
		rs := &s.results[terminal]
		rs.last = from
		for _, at := range from.At {
			rs.words = append(rs.words, words[at])
		}
	}
}

// IsSame reports whether a record has the values of the last call of its terminal.
func (s *Streams) IsSame(terminal int32, from *Sources, words []uint64) bool {
	rs := s.of(terminal)
	if rs.last != from {
		return false
	}
	for i, at := range from.At {
		if rs.words[i] != words[at] {
			return false
		}
	}
	return true
}

// Count adds n calls with the values of the last one. Each of its streams got one value.
func (s *Streams) Count(terminal int32, n uint64) { s.results[terminal].again += n }

// settle adds again to the streams, and reports whether there are any streams.
func (rs *results) settle() bool {
	if rs.again > 0 {
		for i := range rs.streams {
			// every stream got one value from the last call, which is in its last run
			rs.streams[i].n += rs.again
			rs.streams[i].count += rs.again
		}
		rs.again = 0
	}
	return len(rs.streams) > 0
}

// push adds the values of one call.
func (rs *results) push(c *Call) {
	rs.settle()
	rs.last, rs.words = nil, rs.words[:0]
	if len(rs.streams) < len(c.Lengths) {
		rs.streams = append(rs.streams, make([]Stream, len(c.Lengths)-len(rs.streams))...)
	}
	at := 0
	for i, n := range c.Lengths {
		for range n {
			rs.streams[i].Push(c.Values[at])
			at++
		}
	}
}

// An ID identifies a stream of a thread: its terminal, and its index among the terminal's streams.
type ID struct{ Terminal, Number int32 }

// All returns all streams in the order of their ids.
func (s *Streams) All() iter.Seq2[ID, *Stream] {
	return func(yield func(ID, *Stream) bool) {
		for terminal := range s.results {
			rs := &s.results[terminal]
			rs.settle()
			for i := range rs.streams {
				if !yield(ID{int32(terminal), int32(i)}, &rs.streams[i]) {
					return
				}
			}
		}
	}
}

// A Piece is consecutive values of a stream, as runs.
type Piece struct {
	Of    ID
	First uint64 // number of its first value
	N     uint64 // number of values
	Runs  []byte
}

// TakeLong removes from memory the runs of streams that have at least minBytes of them. The last
// run stays, since it may grow.
func (s *Streams) TakeLong(minBytes int) (pieces []Piece) {
	for id, st := range s.All() {
		if len(st.runs) < minBytes {
			continue
		}
		n := st.n - st.count - st.inBlocks
		pieces = append(pieces, Piece{id, st.inBlocks, n, st.runs})
		st.inBlocks, st.runs, st.written = st.inBlocks+n, nil, 0
		s.results[id.Terminal].written = 0
	}
	return pieces
}

// A Stream is a sequence of integers, kept as runs, since results are usually the same again. The
// beginning of a long irregular stream is in full blocks.
type Stream struct {
	inBlocks uint64 // number of values in full blocks
	runs     []byte // varint value, uvarint repetitions − 1: all later runs except the last one
	value    int64
	count    uint64 // of the last run; 0: the stream is empty
	n        uint64
	written  int32 // bytes of runs that are in the file of the tables
}

// Push adds a value.
func (s *Stream) Push(v int64) {
	s.n++
	if v == s.value && s.count > 0 {
		s.count++
		return
	}
	if s.count > 0 {
		s.runs = s.appendRun(s.runs)
	}
	s.value, s.count = v, 1
}

// appendRun appends the last run.
func (s *Stream) appendRun(to []byte) []byte {
	return binary.AppendUvarint(binary.AppendVarint(to, s.value), s.count-1)
}

// InBlocks returns the number of values in full blocks.
func (s *Stream) InBlocks() uint64 { return s.inBlocks }

// Len returns the number of values.
func (s *Stream) Len() uint64 { return s.n }

// Runs returns the runs that are in memory.
func (s *Stream) Runs() []byte { return s.encoded(0) }

// encoded returns the runs of the stream that are in memory, from a byte on.
func (s *Stream) encoded(from int32) []byte {
	b := s.runs[from:]
	if s.count > 0 {
		b = s.appendRun(b[:len(b):len(b)])
	}
	return b
}

// decodeStream decodes the result of encoded; n is the number of its values.
func decodeStream(b []byte, n uint64) (Stream, bool) {
	s := Stream{runs: b[:len(b):len(b)], n: n}
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
