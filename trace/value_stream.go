package trace

// A valueStream gives the values of a sequence one by one, from memory or, some at a time, from the encoding.
type valueStream struct {
	values  []int64 // what is at hand
	encoded *sequenceReader
	buffer  []int64
	list    []int64 // what take gave, where it did not fit into the buffer
	booked  int64   // for list
}

// The number of values that are decoded at a time grows with use: a trace has many streams of which few are long.
const (
	firstStreamBuffer = 8
	streamBuffer      = 128
)

// newValueStream reads the sequence at the front of b.
func newValueStream(b []byte, m *budget) valueStream {
	r := newSequenceReader(b, m)
	return valueStream{encoded: &r}
}

func (v *valueStream) next() (int64, bool) {
	if len(v.values) == 0 {
		return v.refill()
	}
	x := v.values[0]
	v.values = v.values[1:]
	return x, true
}

// refill decodes more values and takes the first.
func (v *valueStream) refill() (int64, bool) {
	if v.encoded == nil || v.encoded.left == 0 {
		return 0, false
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

// take gives the next n values, which are valid until the stream is used again. What it keeps is booked until release.
func (v *valueStream) take(n int, m *budget) ([]int64, error) {
	if n <= len(v.values) {
		list := v.values[:n]
		v.values = v.values[n:]
		return list, nil
	}
	if v.encoded == nil || v.encoded.left < uint64(n-len(v.values)) {
		return nil, v.err()
	}
	if n > cap(v.list) {
		room := max(n, 2*cap(v.list))
		more := 8 * int64(room-cap(v.list))
		if !m.take(more) {
			return nil, errMemory
		}
		v.booked += more
		v.list = make([]int64, room)
	}
	list := v.list[:n]
	had := copy(list, v.values)
	v.values = nil
	if v.encoded.read(list[had:]) < n-had {
		return nil, v.err()
	}
	return list, nil
}

// release gives back what take has booked; the stream is of no use after it.
func (v *valueStream) release(m *budget) {
	m.give(v.booked)
	v.booked, v.list = 0, nil
}

// err says why next, take or skip had no more.
func (v *valueStream) err() error {
	if v.encoded != nil && v.encoded.d.err != nil {
		return v.encoded.d.err
	}
	return errStreamEnds
}

// skip passes over n values; false when there are fewer.
func (v *valueStream) skip(n uint64) bool {
	if k := uint64(len(v.values)); k > 0 {
		k = min(k, n)
		v.values = v.values[k:]
		n -= k
	}
	return n == 0 || v.encoded != nil && v.encoded.skip(n)
}
