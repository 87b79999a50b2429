package recorder

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// An argument that differs in every call would create a signature for every call: a hundred bytes each in the traced
// process, and a grammar without repetition. So signatures are counted by family. Signatures of one family differ only
// in numbers among their inputs, in handles including requests, and in the number of statuses that they return. From
// the maxAlike-th signature on all calls of the family have one *wide* signature, with a value stream for each of these
// (ScalaTrace II's value vectors, Wu and Mueller, ICS '13, §3.1). A stream of equal values costs one run; the merge
// turns it back into an argument. The merge also makes streams of smaller families, since it sees all calls of a thread
// at once (merger/varying.go).
//
// A family is identified by the hash of its wide key. Two families with one hash are widened early; nothing else follows.

// families counts the signatures of each family.
type families struct {
	keys  map[uint64]int32 // number of signatures of a family, up to maxAlike
	wide  int              // number of wide families
	early bool             // every new signature is widened at once (memory_limit.go)
}

// A recentFamily is a wide family with its terminal or, for calls that create a request, its creator.
type recentFamily struct {
	hash    uint64
	number  int32
	known   bool
	creates bool
}

// maxAlike is the number of signatures from which on a family is wide. Loops over levels of a grid or stages of an
// algorithm make far fewer.
const maxAlike = 256

func newFamilies() families { return families{keys: map[uint64]int32{}} }

// widen returns the key for a call and reports whether it is a wide one. If it is, the call's stream values have been
// changed accordingly.
func (r *Recorder) widen(key []byte, l *layout, creates bool) ([]byte, bool) {
	if r.families.wide == 0 && r.knows(key, creates) {
		return key, false
	}
	w := &r.widening
	if !w.start(key, l, &r.scratch) {
		return key, false
	}
	w.family = xxhash.Sum64(w.to)
	if w.recent = r.recentOf(w, creates); w.recent == none {
		w.settled = r.families.keys[w.family] == maxAlike
		if !w.settled { // otherwise it does not matter whether the key is known
			known := r.knows(key, creates)
			if !known && !r.families.early {
				r.count(w.family)
			}
			if known || !r.families.early {
				return key, false
			}
		}
	}
	s := &r.scratch
	s.values, w.values = w.values, s.values
	s.lengths, w.lengths = w.lengths, s.lengths
	return w.to, true
}

// recentOf returns the terminal or creator of the wide key just made if it is a recent one; else none.
func (r *Recorder) recentOf(w *widening, creates bool) int32 {
	f := &w.recentFamilies[w.family%uint64(len(w.recentFamilies))]
	if !f.known || f.hash != w.family || f.creates != creates {
		return none
	}
	var key string
	if creates {
		key = r.requests.creators[f.number].key
	} else {
		key = r.signatures.terminals[f.number].key
	}
	if key != string(w.to) {
		return none
	}
	return f.number
}

// noteRecent remembers the number of the wide key just made.
func (r *Recorder) noteRecent(number int32, creates bool) {
	if w := &r.widening; w.settled {
		w.recentFamilies[w.family%uint64(len(w.recentFamilies))] = recentFamily{w.family, number, true, creates}
	}
}

// count counts a new signature of a family.
func (r *Recorder) count(family uint64) {
	n := r.families.keys[family] + 1
	r.families.keys[family] = n
	if n == maxAlike {
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

// A widening makes a wide key and its stream values from a key and its stream values.
type widening struct {
	from           []byte
	at             int // bytes of it that were read
	to             []byte
	values         []int64
	lengths        []int32
	streamed       []int64 // values and lengths of the key's streams,
	streamedCounts []int32
	next           int // how many of the values were copied,
	nextCount      int // and of the lengths
	changed        bool
	varied         uint64 // hash of the numbers that were widened
	family         uint64 // hash of the wide key
	recent         int32  // its terminal, or creator, if it is a recent one; else none
	settled        bool   // the family is wide for good

	recentFamilies [64]recentFamily // by hash: even irregular programs mostly call few families
}

// A wideness says which values of a parameter become a stream.
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
		return keepsAll // the signature determines which request a call creates
	}
	return widensResults
}

// start widens a key. It returns false if there is nothing to widen or key is malformed. If s is empty, only the key is
// made.
func (w *widening) start(key []byte, l *layout, s *scratch) bool {
	w.from, w.at, w.to, w.values, w.lengths = key, 0, w.to[:0], w.values[:0], w.lengths[:0]
	w.streamed, w.streamedCounts, w.next, w.nextCount, w.varied, w.changed = s.values, s.lengths, 0, 0, 0, false
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
	w.to = append(w.to, w.from[w.at:]...)
	w.values, w.lengths = append(w.values, w.streamed[w.next:]...), append(w.lengths, w.streamedCounts[w.nextCount:]...)
	return true
}

// copied copies the next n bytes, or as many as remain.
func (w *widening) copied(n int) {
	end := min(w.at+n, len(w.from))
	w.to = append(w.to, w.from[w.at:end]...)
	w.at = end
}

// number copies a varint.
func (w *widening) number() uint64 {
	if w.at < len(w.from) && w.from[w.at] < 0x80 { // most are short
		x := w.from[w.at]
		w.to = append(w.to, x)
		w.at++
		return uint64(x)
	}
	x, n := binary.Uvarint(w.from[w.at:])
	w.copied(max(n, 0))
	return x
}

// stream copies the values of streams.
func (w *widening) stream(streams int) {
	for range min(streams, len(w.streamedCounts)-w.nextCount) {
		n := w.streamedCounts[w.nextCount]
		w.values, w.lengths = append(w.values, w.streamed[w.next:w.next+int(n)]...), append(w.lengths, n)
		w.next += int(n)
		w.nextCount++
	}
}

// value copies a value, or makes a stream of it.
func (w *widening) value(wide wideness) {
	if w.at == len(w.from) {
		return
	}
	form := w.from[w.at]
	if wide != keepsAll && w.widened(wide, trace.Form(form)) {
		w.changed = true
		return
	}
	w.to = append(w.to, form)
	w.at++
	switch trace.Form(form) {
	case trace.Int, trace.Float, trace.Handle, trace.Code, trace.Name:
		w.number()
	case formLocated:
		w.number()
		w.number()
	case trace.Text:
		w.copied(int(min(w.number(), uint64(len(w.from)))))
	case trace.List:
		for n := min(w.number(), uint64(len(w.from)-w.at)); n > 0 && w.at < len(w.from); n-- {
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
			x, n := binary.Varint(w.from[w.at+1:])
			w.one(x, n)
			return true
		}
	case trace.Handle:
		x, n := binary.Uvarint(w.from[w.at+1:])
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
	w.at += 1 + max(n, 0)
	w.to = appendForm(w.to, trace.Stream)
	w.values, w.lengths = append(w.values, x), append(w.lengths, 1)
	w.varied = online.Mix(w.varied, uint64(x))
}

// integer reads the element of a list of integers at a byte of the key and returns its end.
func (w *widening) integer(at, _ int) (end int, ok bool) {
	if at >= len(w.from) || trace.Form(w.from[at]) != trace.Int {
		return 0, false
	}
	x, n := binary.Varint(w.from[at+1:])
	w.values = append(w.values, x)
	return at + 1 + max(n, 0), true
}

// list makes a stream of a list whose elements are all of one kind.
func (w *widening) list(element func(at, i int) (end int, ok bool)) bool {
	count, k := binary.Uvarint(w.from[w.at+1:])
	if k <= 0 || count == 0 {
		return false
	}
	at, before := w.at+1+k, len(w.values)
	w.values = append(w.values, 0)
	for i := range int(min(count, uint64(len(w.from)-at))) {
		var ok bool
		if at, ok = element(at, i); !ok {
			w.values = w.values[:before]
			return false
		}
	}
	n := len(w.values) - before
	w.values[before] = int64(n - 1)
	for _, x := range w.values[before:] {
		w.varied = online.Mix(w.varied, uint64(x))
	}
	w.at, w.to = at, appendForm(w.to, trace.ListStream)
	w.lengths = append(w.lengths, int32(n))
	return true
}

// requests makes a stream of a list of requests: its length, then positions and non-null requests. A stream may omit
// what is the same as in the call before (docs/format-sections.md); here nothing is omitted.
func (w *widening) requests() bool {
	count, k := binary.Uvarint(w.from[w.at+1:])
	return k > 0 && w.list(func(at, i int) (int, bool) {
		if at >= len(w.from) {
			return 0, false
		}
		x, n := binary.Uvarint(w.from[at+1:])
		request := int64(x)
		switch trace.Form(w.from[at]) {
		case trace.Handle:
		case trace.Name:
			request = trace.NullRequest // the only constant
		default:
			return 0, false
		}
		if i == 0 {
			w.values = append(w.values, int64(count))
		}
		w.values = append(w.values, int64(i), request)
		return at + 1 + max(n, 0), true
	})
}

// statuses merges the streams of a list of statuses into one stream.
func (w *widening) statuses() bool {
	count, k := binary.Uvarint(w.from[w.at+1:])
	if k <= 0 || count == 0 || count > uint64(len(w.from)-w.at-1-k) {
		return false
	}
	at, n := w.at+1+k, int(count)
	for _, form := range w.from[at:][:n] {
		if trace.Form(form) != trace.Status {
			return false
		}
	}
	w.at, w.to = at+n, appendForm(w.to, trace.ListStream)
	n *= statusFields
	if n > len(w.streamedCounts)-w.nextCount {
		return true // the caller does not want the values
	}
	w.values = append(append(w.values, int64(n)), w.streamed[w.next:w.next+n]...)
	w.lengths = append(w.lengths, int32(1+n))
	w.next, w.nextCount = w.next+n, w.nextCount+n
	return true
}
