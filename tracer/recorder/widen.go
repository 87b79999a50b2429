package recorder

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// An argument that is another number in every call would make a signature of every call: a hundred bytes each in the
// process that is traced, and a grammar that finds nothing. So signatures are counted by family, those that differ only in
// numbers among their inputs, in handles, requests included, and in how many statuses they return; from the mostAlike-th on
// all calls of the family have one *wide* signature, with a value stream for each of these (ScalaTrace II's value vectors, Wu
// and Mueller, ICS '13, §3.1). What does not vary after all costs a run; the merge makes an argument of it again, and makes
// streams of smaller families, seeing all of a thread's calls at once (merger/varying.go).
//
// A family is told by its wide key, by hash alone: two that collide would be widened early, nothing else.
type families struct {
	keys  map[uint64]int32 // how many there are of a family, up to mostAlike
	wide  int              // families that are
	early bool             // whatever is new is widened at once (generalize.go)
}

// mostAlike is the number of signatures from which on a family is wide: many more than a loop over levels of a grid or
// stages of an algorithm makes.
const mostAlike = 256

func newFamilies() families { return families{keys: map[uint64]int32{}} }

// widen gives the key of a whole call, and tells whether it is a wide one: then what goes to streams has been changed
// accordingly.
func (r *Recorder) widen(key []byte, l *layout, creates bool) ([]byte, bool) {
	if r.families.wide == 0 && r.knows(key, creates) {
		return key, false
	}
	w := &r.widening
	if !w.start(key, l, &r.scratch) {
		return key, false
	}
	family := xxhash.Sum64(w.to)
	if r.families.keys[family] < mostAlike { // else it does not matter whether the key is known
		known := r.knows(key, creates)
		if !known && !r.families.early {
			r.count(family)
		}
		if known || !r.families.early {
			return key, false
		}
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
	changed        bool
	told           uint64 // hash of the numbers that were widened
}

// What becomes a stream among the values of a parameter.
type wideness uint8

const (
	keepsAll       wideness = iota
	widensNumbers           // integers, handles, and lists of nothing else
	widensRequests          // a request, or a list of requests
	widensResults           // handles, and lists of statuses
)

func wideIn(p *parameter) wideness {
	if p.kind == mpi.KindRequest {
		return widensRequests
	}
	return widensNumbers
}

func wideOut(p *parameter) wideness {
	if p.kind == mpi.KindRequest {
		return keepsAll // which one a call creates is told by its signature
	}
	return widensResults
}

// start widens a key; false if there is nothing to widen, or it is no key. Without the values of streams only the key is
// made.
func (w *widening) start(key []byte, l *layout, s *scratch) bool {
	w.from, w.to, w.values, w.lengths = key, w.to[:0], w.values[:0], w.lengths[:0]
	w.streamed, w.streamedCounts, w.told, w.changed = s.values, s.lengths, 0, false
	for range 3 { // function, site, own rank
		w.number()
	}
	w.value(keepsAll)
	for i := range l.params {
		if p := &l.params[i]; p.in {
			w.value(wideIn(p))
		}
	}
	for i := range l.params {
		if p := &l.params[i]; p.out {
			w.value(wideOut(p))
		}
	}
	if !w.changed {
		return false
	}
	w.to = append(w.to, w.from...)
	w.values, w.lengths = append(w.values, w.streamed...), append(w.lengths, w.streamedCounts...)
	return true
}

// number copies a varint.
func (w *widening) number() uint64 {
	if len(w.from) > 0 && w.from[0] < 0x80 { // most are short
		x := w.from[0]
		w.to, w.from = append(w.to, x), w.from[1:]
		return uint64(x)
	}
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

// value copies a value, or makes a stream of it.
func (w *widening) value(wide wideness) {
	if len(w.from) == 0 {
		return
	}
	form := w.from[0]
	if wide != keepsAll && w.widened(wide, trace.Form(form)) {
		w.changed = true
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
			w.value(keepsAll)
		}
	case trace.Status:
		w.stream(statusFields)
	case trace.Stream, trace.ListStream:
		w.stream(1)
	}
}

// widened makes a stream of a value of this form, if there is one for it.
func (w *widening) widened(wide wideness, form trace.Form) bool {
	switch form {
	case trace.Int:
		if wide == widensNumbers {
			x, n := binary.Varint(w.from[1:])
			w.one(x, n)
			return true
		}
	case trace.Handle:
		x, n := binary.Uvarint(w.from[1:])
		w.one(int64(x), n)
		return true
	case trace.List:
		switch wide {
		case widensNumbers:
			return w.list(w.integer)
		case widensRequests:
			return w.requests()
		case widensResults:
			return w.statuses()
		}
	}
	return false
}

// one makes a stream of a value of n bytes.
func (w *widening) one(x int64, n int) {
	w.from, w.to = w.from[1+max(n, 0):], appendForm(w.to, trace.Stream)
	w.values, w.lengths = append(w.values, x), append(w.lengths, 1)
	w.told = mix(w.told, uint64(x))
}

// integer reads an element of a list of integers.
func (w *widening) integer(b []byte, _ int) (rest []byte, ok bool) {
	if len(b) == 0 || trace.Form(b[0]) != trace.Int {
		return nil, false
	}
	x, n := binary.Varint(b[1:])
	w.values = append(w.values, x)
	return b[1+max(n, 0):], true
}

// list makes a stream of a list of which each element is one of a kind.
func (w *widening) list(element func(b []byte, i int) (rest []byte, ok bool)) bool {
	count, k := binary.Uvarint(w.from[1:])
	if k <= 0 || count == 0 {
		return false
	}
	b, before := w.from[1+k:], len(w.values)
	w.values = append(w.values, 0)
	for i := range int(min(count, uint64(len(b)))) {
		var ok bool
		if b, ok = element(b, i); !ok {
			w.values = w.values[:before]
			return false
		}
	}
	n := len(w.values) - before
	w.values[before] = int64(n - 1)
	for _, x := range w.values[before:] {
		w.told = mix(w.told, uint64(x))
	}
	w.from, w.to = b, appendForm(w.to, trace.ListStream)
	w.lengths = append(w.lengths, int32(n))
	return true
}

// requests makes a stream of a list of requests: how long it is, then positions and the requests that are there. A stream
// may leave out what is as in the call before (docs/format.md); here nothing is.
func (w *widening) requests() bool {
	count, k := binary.Uvarint(w.from[1:])
	first := true
	return k > 0 && w.list(func(b []byte, i int) ([]byte, bool) {
		if len(b) == 0 {
			return nil, false
		}
		x, n := binary.Uvarint(b[1:])
		request := int64(x)
		switch trace.Form(b[0]) {
		case trace.Handle:
		case trace.Name:
			request = trace.NullRequest // there is no other constant
		default:
			return nil, false
		}
		if first {
			w.values, first = append(w.values, int64(count)), false
		}
		w.values = append(w.values, int64(i), request)
		return b[1+max(n, 0):], true
	})
}

// statuses makes one stream of the streams of a list of statuses.
func (w *widening) statuses() bool {
	count, k := binary.Uvarint(w.from[1:])
	if k <= 0 || count == 0 || count > uint64(len(w.from)-1-k) {
		return false
	}
	n := int(count)
	for _, form := range w.from[1+k:][:n] {
		if trace.Form(form) != trace.Status {
			return false
		}
	}
	w.from, w.to = w.from[1+k+n:], appendForm(w.to, trace.ListStream)
	n *= statusFields
	if n > len(w.streamedCounts) {
		return true // the values are not asked for
	}
	w.values = append(append(w.values, int64(n)), w.streamed[:n]...)
	w.lengths = append(w.lengths, int32(1+n))
	w.streamed, w.streamedCounts = w.streamed[n:], w.streamedCounts[n:]
	return true
}
