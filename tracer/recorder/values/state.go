package values

import (
	"math"
	"unsafe"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// Encode writes the streams of terminals that were called since its last call, or of all: the new
// runs of each stream and its last run, which may have become longer.
func (s *Streams) Encode(e *checkpoint.Encoder, everything bool) {
	var changed []int
	for number := range s.results {
		if rs := &s.results[number]; rs.settle() && (everything || rs.streams[0].n != rs.written) {
			changed = append(changed, number)
		}
	}
	e.Uint(uint64(len(changed)))
	for _, number := range changed {
		rs := &s.results[number]
		e.Uint(uint64(number))
		e.Uint(uint64(len(rs.streams)))
		for i := range rs.streams {
			st := &rs.streams[i]
			if everything {
				st.written = 0
			}
			e.Uint(st.inBlocks)
			e.Uint(st.n - st.inBlocks)
			e.Uint(uint64(st.written))
			e.Bytes(st.encoded(st.written))
			st.written = int32(len(st.runs))
		}
		rs.written = rs.streams[0].n
	}
}

// Decode applies what Encode wrote. Complete must follow the last call.
func (s *Streams) Decode(d *checkpoint.Decoder, terminals int) {
	for range d.Count() {
		number, n := d.Uint(), d.Count()
		if number >= uint64(terminals) || n == 0 {
			d.Fail()
			return
		}
		rs := s.of(int32(number))
		if len(rs.streams) == 0 {
			rs.streams = make([]Stream, n)
		}
		if len(rs.streams) != n {
			d.Fail()
			return
		}
		for i := range rs.streams {
			st := &rs.streams[i]
			inBlocks, inMemory, kept, runs := d.Uint(), d.Uint(), d.Uint(), d.Bytes()
			if inBlocks > math.MaxInt64 || inMemory > math.MaxInt64 || kept > uint64(len(st.runs)) {
				d.Fail()
				return
			}
			st.inBlocks, st.n = inBlocks, inBlocks+inMemory
			st.runs = append(st.runs[:kept], runs...)
		}
	}
}

// Complete separates the last run of each stream, which may grow, from the others. It
// returns false if a stream is damaged.
func (s *Streams) Complete() bool {
	for _, st := range s.All() {
		whole, ok := decodeStream(st.runs, st.n-st.inBlocks)
		if !ok {
			return false
		}
		whole.inBlocks, whole.n = st.inBlocks, st.n
		*st = whole
	}
	return true
}

// Memory estimates the memory of the streams in bytes.
func (s *Streams) Memory() int {
	n := cap(s.results) * int(unsafe.Sizeof(results{}))
	for i := range s.results {
		rs := &s.results[i]
		n += cap(rs.streams)*int(unsafe.Sizeof(Stream{})) + 8*cap(rs.words)
		for k := range rs.streams {
			n += cap(rs.streams[k].runs)
		}
	}
	return n
}
