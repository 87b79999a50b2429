package key

import (
	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A family is identified by the hash of its wide key. If two families have the same hash they are
// widened early, which has no other effect.

// families counts the signatures of each family.
type families struct {
	keys  map[uint64]int32 // number of signatures of a family, up to MaxAlike
	wide  int              // number of wide families
	early bool             // widen every new signature at once (generality.go)
}

// A recentFamily is a wide family with its terminal or, for calls that create a request, its
// creator.
type recentFamily struct {
	hash    uint64
	number  int32
	known   bool
	creates bool
}

// MaxAlike is the number of signatures that makes a family wide. Loops over levels of a grid or
// stages of an algorithm make far fewer.
const MaxAlike = 256

func newFamilies() families { return families{keys: map[uint64]int32{}} }

// widen returns the key for a call and reports whether it is a wide one. If it is, the call's
// stream values have been changed accordingly.
func (t *Table) widen(c *Call) ([]byte, bool) {
	key := c.key
	if t.families.wide == 0 && t.knows(key, c.creates) {
		return key, false
	}
	w := &t.widening
	if !w.start(textOf(key), c.layout, &c.Values) {
		return key, false
	}
	w.family = xxhash.Sum64(w.to)
	if w.recent = t.recentOf(w, c.creates); w.recent == none {
		w.settled = t.families.keys[w.family] == MaxAlike
		if !w.settled { // otherwise it does not matter whether the key is known
			known := t.knows(key, c.creates)
			if !known && !t.families.early {
				t.count(w.family)
			}
			if known || !t.families.early {
				return key, false
			}
		}
	}
	c.Values.Values, w.values.Values = w.values.Values, c.Values.Values
	c.Values.Lengths, w.values.Lengths = w.values.Lengths, c.Values.Lengths
	return w.to, true
}

// recentOf returns the terminal or creator of the wide key just made if the family is a recent one,
// otherwise none.
func (t *Table) recentOf(w *widening, creates bool) int32 {
	f := &w.recentFamilies[w.family%uint64(len(w.recentFamilies))]
	if !f.known || f.hash != w.family || f.creates != creates {
		return none
	}
	var key string
	if creates {
		key = t.objects.Requests.Key(f.number)
	} else {
		key = t.signatures.terminals[f.number].key
	}
	if key != string(w.to) {
		return none
	}
	return f.number
}

// noteRecent stores the terminal or creator of the wide key just made.
func (t *Table) noteRecent(number int32, creates bool) {
	if w := &t.widening; w.settled {
		w.recentFamilies[w.family%uint64(len(w.recentFamilies))] = recentFamily{w.family, number, true, creates}
	}
}

// count counts a new signature of a family.
func (t *Table) count(family uint64) {
	n := t.families.keys[family] + 1
	t.families.keys[family] = n
	if n == MaxAlike {
		t.families.wide++ // its calls have another key from now on: see Era
	}
}

// countKnown counts the keys of a recorder that was restored.
func (t *Table) countKnown(key string) {
	head := keyScanner{key: key}
	if l := layoutFor(uint16(head.uvarint())); l != nil && t.widening.start(key, l, &values.Call{}) {
		t.count(xxhash.Sum64(t.widening.to))
	}
}

// A widening makes a wide key and its stream values from a key and its stream values.
type widening struct {
	keyCopy
	values         values.Call
	streamed       []int64 // values and lengths of the key's streams
	streamedCounts []int32
	nextValue      int // number of values copied
	nextCount      int // number of lengths copied
	changed        bool
	varied         uint64 // hash of the numbers that were widened
	family         uint64 // hash of the wide key
	recent         int32  // its terminal, or creator, if it is a recent one; else none
	settled        bool   // the family is wide for good

	recentFamilies [64]recentFamily // by hash: even irregular programs mostly call few families
}

// A wideness defines which values of a parameter become a stream.
type wideness uint8

const (
	keepsAll       wideness = iota
	widensNumbers           // integers, handles, and lists of these
	widensRequests          // a request, or a list of requests
	widensResults           // the same, and lists of statuses; short lists have a stream for each element
)

func wideIn(p *parameter) wideness {
	if p.kind == mpi.KindRequest {
		return widensRequests
	}
	return widensNumbers
}

func wideOut(p *parameter) wideness {
	if p.kind == mpi.KindRequest {
		return keepsAll // the created request is part of the signature
	}
	return widensResults
}

// start widens a key. It returns false if there is nothing to widen or key is malformed. If s is
// empty, only the key is made.
func (w *widening) start(key string, l *layout, s *values.Call) bool {
	w.keyCopy.start(key)
	w.values.Reset()
	w.streamed, w.streamedCounts, w.nextValue, w.nextCount, w.varied, w.changed = s.Values, s.Lengths, 0, 0, 0, false
	for range 3 { // function, site, own rank
		w.uvarint()
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
	if !w.changed || w.bad {
		return false
	}
	w.end()
	w.values.Values, w.values.Lengths = append(w.values.Values, w.streamed[w.nextValue:]...), append(w.values.Lengths, w.streamedCounts[w.nextCount:]...)
	return true
}

// stream copies the values of streams.
func (w *widening) stream(streams int) {
	for range min(streams, len(w.streamedCounts)-w.nextCount) {
		n := w.streamedCounts[w.nextCount]
		w.values.Values, w.values.Lengths = append(w.values.Values, w.streamed[w.nextValue:w.nextValue+int(n)]...), append(w.values.Lengths, n)
		w.nextValue += int(n)
		w.nextCount++
	}
}

// value copies a value, or makes a stream of it.
func (w *widening) value(wide wideness) {
	form := w.next()
	if wide != keepsAll && w.widened(wide, form) {
		w.changed = true
		return
	}
	for parts := 1; ; form = w.next() {
		switch form {
		case trace.List:
			parts += int(w.number)
		case trace.Status:
			w.stream(values.StatusFields)
		case trace.Stream, trace.ListStream:
			w.stream(1)
		}
		if parts--; parts == 0 || w.bad {
			return
		}
	}
}

// widened makes a stream of the value whose first part was read. If there is no stream for it, it
// restores the position of the scanner and returns false.
func (w *widening) widened(wide wideness, form trace.Form) bool {
	switch form {
	case trace.Int:
		if wide != widensRequests {
			w.one(w.int())
			return true
		}
	case trace.Handle:
		w.one(int64(w.number))
		return true
	case trace.List:
		switch wide {
		case widensNumbers:
			return w.list(w.numberOrHandle)
		case widensRequests:
			return w.list(w.request)
		case widensResults:
			return w.statuses() || w.elements() || w.list(w.numberOrHandle)
		}
	}
	return false
}

// one makes a stream of a number.
func (w *widening) one(x int64) {
	w.replace(w.begin, trace.Stream)
	w.values.Push(x)
	w.varied = online.Mix(w.varied, uint64(x))
}

// shortList is the number of elements of returned lists with a stream for each of them. They
// compress better: most dimensions or coordinates are constant, or have a pattern of their own.
const shortList = 8

// elements makes a stream of each number and handle in a short list, and keeps names. It returns
// false if there is nothing to do, or if the list has other elements.
func (w *widening) elements() bool {
	list, at, wide := w.keyPart, w.at, 0
	if list.number > shortList {
		return false
	}
	flat := true
	for range list.number {
		switch w.next() {
		case trace.Int, trace.Handle:
			wide++
		case trace.Name:
		default:
			flat = false
		}
	}
	w.keyPart, w.at = list, at
	if !flat || wide == 0 {
		return false
	}
	for range list.number {
		switch w.next() {
		case trace.Int:
			w.one(w.int())
		case trace.Handle:
			w.one(int64(w.number))
		}
	}
	return true
}

// list makes a stream of a list if each of its elements has values for it.
func (w *widening) list(element func(form trace.Form, i, n int) bool) bool {
	list, at, before := w.keyPart, w.at, len(w.values.Values)
	if list.number == 0 {
		return false
	}
	w.values.Values = append(w.values.Values, 0)
	for i := range int(list.number) {
		if !element(w.next(), i, int(list.number)) {
			w.keyPart, w.at, w.values.Values = list, at, w.values.Values[:before]
			return false
		}
	}
	n := len(w.values.Values) - before
	w.values.Values[before] = int64(n - 1)
	for _, x := range w.values.Values[before:] {
		w.varied = online.Mix(w.varied, uint64(x))
	}
	w.replace(list.begin, trace.ListStream)
	w.values.Lengths = append(w.values.Lengths, int32(n))
	return true
}

// numberOrHandle adds an element of a list of integers or handles to the stream.
func (w *widening) numberOrHandle(form trace.Form, _, _ int) bool {
	switch form {
	case trace.Int:
		w.values.Values = append(w.values.Values, w.int())
	case trace.Handle:
		w.values.Values = append(w.values.Values, int64(w.number))
	default:
		return false
	}
	return true
}

// request adds element i of a list of n requests to the stream, which has the length of the list,
// then the positions and requests. A stream may omit elements that are equal to those of the
// previous call (docs/format-sections.md); here it never does.
func (w *widening) request(form trace.Form, i, n int) bool {
	request := int64(w.number)
	switch form {
	case trace.Handle:
	case trace.Name:
		request = trace.NullRequest // the only named constant of a request
	default:
		return false
	}
	if i == 0 {
		w.values.Values = append(w.values.Values, int64(n))
	}
	w.values.Values = append(w.values.Values, int64(i), request)
	return true
}

// statuses merges the streams of a list of statuses into one stream.
func (w *widening) statuses() bool {
	list, at, n := w.keyPart, w.at, int(w.number)
	for range n {
		if w.next() != trace.Status {
			w.keyPart, w.at = list, at
			return false
		}
	}
	if n == 0 {
		return false
	}
	w.replace(list.begin, trace.ListStream)
	n *= values.StatusFields
	if n > len(w.streamedCounts)-w.nextCount {
		return true // the caller does not want the values
	}
	w.values.Values = append(append(w.values.Values, int64(n)), w.streamed[w.nextValue:w.nextValue+n]...)
	w.values.Lengths = append(w.values.Lengths, int32(1+n))
	w.nextValue, w.nextCount = w.nextValue+n, w.nextCount+n
	return true
}
