package recorder

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
