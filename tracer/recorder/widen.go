package recorder

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace"
)

// An argument that is another number in every call would make a signature of every call: a hundred bytes each in the
// process that is traced, and a grammar that finds nothing. So signatures are counted by family, those that differ only in
// the numbers among their inputs; from the mostAlike-th on all calls of the family have one *wide* signature, with a value
// stream for each of these numbers (ScalaTrace II's value vectors, Wu and Mueller, ICS '13, §3.1). What does not vary
// after all costs a run; the merge makes an argument of it again, and makes streams of smaller families, seeing all of a
// thread's calls at once (merger/varying.go).
//
// A family is told by its wide key, by hash alone: two that collide would be widened early, nothing else.
type families struct {
	keys map[uint64]int32 // how many there are of a family, up to mostAlike
	wide int              // families that are
}

// mostAlike is the number of signatures from which on a family is wide: many more than a loop over levels of a grid or
// stages of an algorithm makes.
const mostAlike = 256

func newFamilies() families { return families{keys: map[uint64]int32{}} }

// widen gives the key of a whole call, and tells whether it is a wide one: then what goes to streams has been changed
// accordingly.
func (r *Recorder) widen(key []byte, l *layout, known bool) ([]byte, bool) {
	if known && r.families.wide == 0 {
		return key, false
	}
	w := &r.widening
	if !w.start(key, l, &r.scratch) {
		return key, false
	}
	family := xxhash.Sum64(w.to)
	n := r.families.keys[family]
	if n < mostAlike {
		if !known {
			r.count(family)
		}
		return key, false
	}
	s := &r.scratch
	s.values, w.values = w.values, s.values
	s.lengths, w.lengths = w.lengths, s.lengths
	return w.to, true
}

// count takes a new signature of a family into account.
func (r *Recorder) count(family uint64) {
	n := r.families.keys[family] + 1
	r.families.keys[family] = n
	if n == mostAlike {
		r.families.wide++
		r.repeats.forget() // the family's calls have another key from now on
	}
}

// countKnown counts the keys of a recorder that was restored.
func (r *Recorder) countKnown(key string) {
	function, n := binary.Uvarint([]byte(key))
	if l := layoutFor(uint16(function)); n > 0 && l != nil {
		if w := &r.widening; w.start([]byte(key), l, &scratch{}) {
			r.count(xxhash.Sum64(w.to))
		}
	}
}

// A widening makes a wide key, and the values of its streams, of a key and those of its streams.
type widening struct {
	from, to       []byte
	values         []int64
	lengths        []int32
	streamed       []int64 // values and lengths of streams that have not been copied yet
	streamedCounts []int32
	told           uint64 // hash of the numbers that were widened
}

// start widens a key; false if there is nothing to widen, or it is no key. Without the values of streams only the key is
// made.
func (w *widening) start(key []byte, l *layout, s *scratch) bool {
	w.from, w.to, w.values, w.lengths = key, w.to[:0], w.values[:0], w.lengths[:0]
	w.streamed, w.streamedCounts, w.told = s.values, s.lengths, 0
	for range 3 { // function, site, own rank
		w.number()
	}
	w.value(false)
	for i := range l.params {
		if l.params[i].in {
			w.value(true)
		}
	}
	if len(w.to) == len(key)-len(w.from) && bytes.HasPrefix(key, w.to) {
		return false
	}
	w.to = append(w.to, w.from...)
	w.values, w.lengths = append(w.values, w.streamed...), append(w.lengths, w.streamedCounts...)
	return true
}

// number copies a varint.
func (w *widening) number() uint64 {
	x, n := binary.Uvarint(w.from)
	n = max(n, 0)
	w.to, w.from = append(w.to, w.from[:n]...), w.from[n:]
	return x
}

// stream copies the values of streams.
func (w *widening) stream(streams int) {
	for range min(streams, len(w.streamedCounts)) {
		n := w.streamedCounts[0]
		w.values, w.lengths = append(w.values, w.streamed[:n]...), append(w.lengths, n)
		w.streamed, w.streamedCounts = w.streamed[n:], w.streamedCounts[1:]
	}
}

// value copies a value; where numbers are to be widened, an integer or a list of them becomes a stream.
func (w *widening) value(wide bool) {
	if len(w.from) == 0 {
		return
	}
	form := w.from[0]
	if wide && trace.Form(form) == trace.Int {
		x, n := binary.Varint(w.from[1:])
		w.from = w.from[1+max(n, 0):]
		w.to = appendForm(w.to, trace.Stream)
		w.values, w.lengths = append(w.values, x), append(w.lengths, 1)
		w.told = mix(w.told, uint64(x))
		return
	}
	if wide && trace.Form(form) == trace.List && w.integers() {
		return
	}
	w.to, w.from = append(w.to, form), w.from[1:]
	switch trace.Form(form) {
	case trace.Int, trace.Float, trace.Handle, trace.Code, trace.Name:
		w.number()
	case formLocated:
		w.number()
		w.number()
	case trace.Text:
		n := min(w.number(), uint64(len(w.from)))
		w.to, w.from = append(w.to, w.from[:n]...), w.from[n:]
	case trace.List:
		for n := min(w.number(), uint64(len(w.from))); n > 0 && len(w.from) > 0; n-- {
			w.value(false)
		}
	case trace.Status:
		w.stream(statusFields)
	case trace.Stream, trace.ListStream:
		w.stream(1)
	}
}

// integers makes a stream of a list that holds nothing but integers.
func (w *widening) integers() bool {
	count, k := binary.Uvarint(w.from[1:])
	if k <= 0 || count == 0 {
		return false
	}
	b, before := w.from[1+k:], len(w.values)
	w.values = append(w.values, int64(count))
	for range count {
		if len(b) == 0 || trace.Form(b[0]) != trace.Int {
			w.values = w.values[:before]
			return false
		}
		x, n := binary.Varint(b[1:])
		w.values, b = append(w.values, x), b[1+max(n, 0):]
	}
	for _, x := range w.values[before:] {
		w.told = mix(w.told, uint64(x))
	}
	w.from, w.to = b, appendForm(w.to, trace.ListStream)
	w.lengths = append(w.lengths, int32(count)+1)
	return true
}
