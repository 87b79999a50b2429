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
	keys map[uint64]int32 // number of signatures of a family, up to MaxAlike
	wide int              // number of wide families
}

// A recentFamily is the wide key of a family with its terminal or, for calls that create a request,
// its creator.
type recentFamily struct {
	key     string
	number  int32
	creates bool
}

// MaxAlike is the number of signatures that makes a family wide. Loops over levels of a grid or
// stages of an algorithm make far fewer.
const MaxAlike = 256

// widen returns the key for a call, and its terminal or creator if its family is a recent one,
// otherwise none. If the key is a wide one, the call's stream values have been changed accordingly.
func (t *Table) widen(c *Call) (key []byte, recent int32) {
	key = c.key
	if t.families.wide == 0 && t.knows(key, c.creates) {
		return key, none
	}
	w := &t.widening
	if !w.start(textOf(key), c.layout, c.Values) {
		return key, none
	}
	w.family = xxhash.Sum64(w.to)
	if f := w.slot(); f.creates == c.creates && f.key == string(w.to) {
		recent = f.number
	} else {
		recent = none
		w.settled = t.families.keys[w.family] == MaxAlike
		if !w.settled { // otherwise it does not matter whether the key is known
			known, early := t.knows(key, c.creates), t.generality >= WidensEarly
			if !known && !early {
				t.count(w.family)
			}
			if known || !early {
				return key, none
			}
		}
	}
	c.Wide, c.Varied = true, w.varied
	c.Values, w.values = w.values, c.Values
	return w.to, recent
}

// noteRecent stores the terminal or creator of the wide key just made.
func (t *Table) noteRecent(number int32, creates bool) {
	w := &t.widening
	if !w.settled {
		return
	}
	var key string
	if creates {
		key = t.objects.Requests.Key(number)
	} else {
		key = t.signatures.terminals[number].key
	}
	*w.slot() = recentFamily{key, number, creates}
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
	if l := layoutFor(uint16(head.uvarint())); l != nil && t.widening.start(key, l, values.Call{}) {
		t.count(xxhash.Sum64(t.widening.to))
	}
}

// A widening makes a wide key and its stream values from a key and its stream values.
type widening struct {
	keyCopy
	values  values.Call
	rest    values.Call // values of the key that were not copied yet
	numbers []uint64    // of the list that is read
	changed bool
	varied  uint64 // hash of the numbers that were widened
	family  uint64 // hash of the wide key
	settled bool   // the family is wide for good

	recentFamilies [64]recentFamily // by hash: even irregular programs mostly call few families
}

// slot returns where the family of the wide key is if it is a recent one.
func (w *widening) slot() *recentFamily {
	return &w.recentFamilies[w.family%uint64(len(w.recentFamilies))]
}

// A wideness defines which values of a parameter become a stream.
type wideness uint8

const (
	keepsAll       wideness = iota
	widensNumbers           // integers, handles, and lists of these
	widensRequests          // a request, or a list of requests
	widensResults           // the same, and lists of statuses; short lists have a stream for each element
)

func widenessOf(f *field) wideness {
	switch {
	case f.kind != mpi.KindRequest && f.out:
		return widensResults
	case f.kind != mpi.KindRequest:
		return widensNumbers
	case f.out:
		return keepsAll // the created request is part of the signature
	}
	return widensRequests
}

// start widens a key. It returns false if there is nothing to widen or key is malformed. If s is
// empty, only the key is made.
func (w *widening) start(key string, l *layout, s values.Call) bool {
	w.keyCopy.start(key)
	w.values.Reset()
	w.rest, w.varied, w.changed = s, 0, false
	for range 3 { // function, site, own rank
		w.uvarint()
	}
	w.value(keepsAll)
	for i := range l.fields {
		w.value(widenessOf(&l.fields[i]))
	}
	if !w.changed || w.bad {
		return false
	}
	w.end()
	w.values.Move(&w.rest, len(w.rest.Lengths))
	return true
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
			w.values.Move(&w.rest, values.StatusFields)
		case trace.Stream, trace.ListStream:
			w.values.Move(&w.rest, 1)
		}
		if parts--; parts == 0 || w.bad {
			return
		}
	}
}

// widened makes a stream of the value whose first part was read. If there is no stream for it, it
// restores the position of the scanner and returns false.
func (w *widening) widened(wide wideness, form trace.Form) bool {
	switch {
	case form == trace.Int && wide != widensRequests:
		w.one(w.int())
	case form == trace.Handle:
		w.one(int64(w.number))
	case form == trace.List:
		return w.list(wide)
	default:
		return false
	}
	return true
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

// list is widened for a list: one stream of it if each of its elements has values for it, or a
// stream for each number and handle of a short one.
func (w *widening) list(wide wideness) bool {
	list, at := w.keyPart, w.at
	forms := w.read(list.number, wide)
	switch {
	case list.number == 0:
	case wide == widensResults && forms.only(trace.Status):
		w.replace(list.begin, trace.ListStream)
		w.statuses(int(list.number))
		return true
	case wide == widensResults && list.number <= shortList && forms.only(trace.Int, trace.Handle, trace.Name) && !forms.only(trace.Name):
		w.at = at
		w.elements(list.number)
		return true
	case wide == widensRequests && forms.only(trace.Handle, trace.Name),
		wide != widensRequests && forms.only(trace.Int, trace.Handle):
		w.replace(list.begin, trace.ListStream)
		before := len(w.values.Values)
		w.values.Add(values.List, w.numbers)
		for _, x := range w.values.Values[before:] {
			w.varied = online.Mix(w.varied, uint64(x))
		}
		return true
	}
	w.keyPart, w.at = list, at
	return false
}

// formSet is the forms of the elements of a list.
type formSet uint64

// only reports whether the set has no other forms.
func (s formSet) only(forms ...trace.Form) bool {
	for _, form := range forms {
		s &^= 1 << form
	}
	return s == 0
}

// read reads a list of n elements and returns their forms. It makes the numbers of a stream: the
// integers and handles or, of requests, n, then the positions and requests. A stream may omit
// elements that are equal to those of the previous call (docs/format-sections.md); here it never
// does.
func (w *widening) read(n uint64, wide wideness) (forms formSet) {
	w.numbers = w.numbers[:0]
	if wide == widensRequests {
		w.numbers = append(w.numbers, n)
	}
	for i := range n {
		form := w.next()
		forms |= 1 << min(form, 63)
		number := w.number
		switch form {
		case trace.Int:
			number = uint64(w.int())
		case trace.Name:
			number = ^uint64(0) // trace.NullRequest: the only named constant of a request
		}
		if wide == widensRequests {
			w.numbers = append(w.numbers, i)
		}
		w.numbers = append(w.numbers, number)
	}
	return forms
}

// elements makes a stream of each number and handle of a list, and keeps names.
func (w *widening) elements(n uint64) {
	for range n {
		switch w.next() {
		case trace.Int:
			w.one(w.int())
		case trace.Handle:
			w.one(int64(w.number))
		}
	}
}

// statuses merges the streams of n statuses into one stream.
func (w *widening) statuses(n int) {
	n *= values.StatusFields
	if n > len(w.rest.Lengths) {
		return // the caller does not want the values
	}
	w.values.Values = append(w.values.Values, int64(n))
	w.values.Move(&w.rest, n)
	w.values.Lengths = append(w.values.Lengths[:len(w.values.Lengths)-n], int32(1+n))
}
