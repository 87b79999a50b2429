package recorder

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The fast path. Most calls are repeats: the same function, call site and inputs as an earlier
// call. A repeat is that earlier call: the words of a record that must be equal for its key to be
// the same, and its terminal. The terminal of a record that matches is appended to the grammar at
// once; its key is neither written nor looked up. Every other record takes the slow path (apply),
// which alone defines keys. The slow path also makes the repeats, from calls whose key it has seen
// before (buildRepeat).
//
// Invariant. The key of a call is a function of
//
//  1. the compared words,
//  2. the ids of its requests, which are looked up,
//  3. whether tracing was off before it,
//  4. the handle and communicator tables. Every change of these increments r.repeats.generation; a
//     repeat of an older generation is first compared with the tables again (stillMeans).
//
// So:
//
//   - a change of anything that keys depend on, other than the words of a record and what
//     stillMeans looks up again, must drop all repeats: r.repeats.forget();
//   - a call with effects other than ending or creating requests must not be repeatable
//     (layout.repeatable);
//   - a word that is in the key must not be among those that are left out: scalars and arrays of
//     requests, results that go to streams, addresses of buffers that are no constants
//     (repeatBuilder.parameter).
//
// Whole iterations are compared by loops.go. TestRepeats and FuzzRepeats compare the states of
// recorders with and without the fast path, byte by byte.

// repeats is the table of all repeats.
type repeats struct {
	heads      []*repeat // by hash, chained
	generation uint64    // of the tables that keys depend on
	era        uint64    // counts forget
	count      int
	credit     int // for making repeats: calls that never repeat soon use it up
	off        bool
}

const (
	repeatBuckets = 1 << 12
	maxRepeats    = 1 << 12 // above this all are dropped
	maxChain      = 16      // repeats with one hash
	repeatCost    = 16      // matches that pay for making one repeat
	maxCredit     = 2 * maxRepeats * repeatCost
)

func newRepeats() *repeats { return &repeats{credit: maxCredit} }

// forget drops all repeats: something that keys depend on has changed.
func (rs *repeats) forget() {
	rs.heads, rs.count = nil, 0
	rs.generation++
	rs.era++ // threads and other repeats may still refer to one
}

// A repeat is a call that may recur.
type repeat struct {
	layout     *layout
	first      uint64 // the word with length, function, binding and flags
	exact      []exactWord
	addresses  []wordAddress
	requests   []requestWord
	returned   int // index of the first one that the call returned
	generation uint64
	era        uint64
	handles    []handleWord
	comm       communicatorUse

	untraced  bool  // tracing was off before the call
	number    int32 // terminal; undefined if the call creates a request
	creator   int32 // creating signature; none: the call creates no request
	requestAt int32 // offset of the raw handle of that request

	in, out   []int32 // offsets of the parameters
	sources   []resultSource
	resultsAt []int32 // the words that the sources read
	flat      bool    // every stream gets one value
	roles     []int16 // see wordRoles

	next  *repeat // the repeat that followed last time
	chain *repeat // next one with the same hash
}

type exactWord struct {
	at   int32
	want uint64
}

type wordAddress struct {
	at   int32
	kind mpi.Kind
}

// A requestWord is a word with a request: a constant or an id.
type requestWord struct {
	at    int32
	value int32
}

// A handleWord is a word whose value in a handle table is part of the key.
type handleWord struct {
	at    int32
	kind  mpi.Kind
	value int32
	found bool
}

// A communicatorUse is the part of a key that depends on the communicator of the call.
type communicatorUse struct {
	at    int32 // none: the call has no communicator
	known bool
	own   int32
	inter bool
}

// A resultSource is the origin of stream values in a record.
type resultSource struct {
	at, n int32
	form  sourceForm
}

type sourceForm uint8

const (
	sourceWord       sourceForm = iota // one value
	sourceList                         // n elements: one stream, with their number first
	sourceStatuses                     // n statuses: five streams each
	sourceStatusList                   // n statuses: one stream, with the number of values first
)

// match returns the repeat that a committed record of a thread matches, nil if there is none.
func (r *Recorder) match(t *thread, words []uint64) *repeat {
	first := words[record.LengthWord]
	if t.latest != nil {
		if m := t.latest.next; m != nil && m.first == first && r.matches(m, t, words) {
			return m
		}
	}
	rs := r.repeats
	if rs.heads == nil {
		return nil
	}
	for m := rs.heads[repeatHash(words)]; m != nil; m = m.chain {
		if m.first == first && r.matches(m, t, words) {
			if t.latest != nil {
				t.latest.next = m
			}
			return m
		}
	}
	return nil
}

// repeatHash hashes what distinguishes most repeats: the call site and the first inputs.
func repeatHash(words []uint64) uint32 {
	h := words[record.LengthWord]*0x9e3779b97f4a7c15 ^ words[record.AddressWord]
	if l := layoutFor(record.FunctionIn(words[record.LengthWord])); l != nil {
		for _, at := range l.hashed {
			if int(at) >= len(words) {
				break
			}
			h = (h ^ words[at]) * 0xff51afd7ed558ccd
			h ^= h >> 32
		}
	}
	return uint32(h*0x9e3779b97f4a7c15>>32) % repeatBuckets
}

// matches compares a record with a repeat. It changes no state except what the slow
// path resets anyway.
func (r *Recorder) matches(m *repeat, t *thread, words []uint64) bool {
	if m.untraced != t.untraced {
		return false
	}
	for i := range m.exact {
		if e := &m.exact[i]; words[e.at] != e.want {
			return false
		}
	}
	for _, a := range m.addresses {
		if !r.objects.AnyAddress(a.kind, words[a.at]) {
			return false
		}
	}
	if m.generation != r.repeats.generation && !r.stillMeans(m, words) {
		return false
	}
	if len(m.requests) > 0 {
		r.objects.Requests.Begin(t.number)
		for i := range m.requests {
			if i == m.returned {
				r.objects.Requests.Begin(t.number)
			}
			q := &m.requests[i]
			if v, ok := r.objects.Requests.Known(words[q.at]); !ok || v != q.value {
				return false
			}
		}
	}
	if m.creator == none {
		return true
	}
	_, null := r.objects.Requests.Null(words[m.requestAt])
	return !null
}

// stillMeans reports whether the handles of a repeat still mean what they did.
func (r *Recorder) stillMeans(m *repeat, words []uint64) bool {
	if m.era != r.repeats.era {
		return false
	}
	for i := range m.handles {
		h := &m.handles[i]
		if v, ok := r.objects.Known(h.kind, words[h.at]); ok != h.found || ok && v != h.value {
			return false
		}
	}
	if m.comm.at != none && m.comm != useOfCommunicator(r.objects, m.comm.at, words) {
		return false
	}
	m.generation = r.repeats.generation
	return true
}

// useOfCommunicator looks up the communicator at an offset of a record.
func useOfCommunicator(o *identity.Objects, at int32, words []uint64) communicatorUse {
	use := communicatorUse{at: at, own: none}
	if c := o.Communicator(words[at]); c != nil {
		use.known, use.own, use.inter = true, c.Own, c.Inter
	}
	return use
}

// again records a call that is a repeat.
func (r *Recorder) again(t *thread, m *repeat, rec record.Record) {
	words := rec.Words
	if r.repeats.credit < maxCredit {
		r.repeats.credit++
	}
	if len(m.layout.ends) > 0 {
		s := &r.scratch
		s.named = s.named[:0]
		for i := range m.requests[:m.returned] {
			s.named = append(s.named, m.requests[i].value)
		}
		r.complete(&call{layout: m.layout, words: words, in: m.in, out: m.out})
	}
	number := m.number
	if m.creator != none {
		r.objects.Requests.Begin(t.number)
		number = r.created(m.creator, words[m.requestAt])
	}
	t.append(number, rec)
	if len(m.sources) > 0 {
		r.returnedAgain(t.resultsOf(number), m, words)
	}
	t.latest = m
	t.untraced = r.off
	t.loop.note(r, t, m, number, rec)
}

// returnedAgain adds the results of a repeat.
func (r *Recorder) returnedAgain(rs *results, m *repeat, words []uint64) {
	if rs.last == m {
		same := true
		for i, at := range m.resultsAt {
			if rs.words[i] != words[at] {
				same = false
				break
			}
		}
		if same {
			rs.again++
			return
		}
	}
	r.returned(rs, m, words)
	if m.flat {
		rs.last = m
		for _, at := range m.resultsAt {
			rs.words = append(rs.words, words[at])
		}
	}
}

// returned adds the results of a repeat to the streams.
func (r *Recorder) returned(rs *results, m *repeat, words []uint64) {
	s := &r.scratch
	s.values, s.lengths = s.values[:0], s.lengths[:0]
	for _, source := range m.sources {
		s.take(source, words)
	}
	rs.push(s.values, s.lengths)
}

// take pushes the values of a source.
func (s *scratch) take(from resultSource, words []uint64) {
	w := words[from.at:]
	switch from.form {
	case sourceWord:
		s.push(int64(w[0]))
	case sourceList:
		s.values = append(s.values, int64(from.n))
		for _, e := range w[:from.n] {
			s.values = append(s.values, int64(e))
		}
		s.lengths = append(s.lengths, 1+from.n)
	case sourceStatuses:
		for i := range int(from.n) {
			s.status(w[i*record.StatusWords : (i+1)*record.StatusWords])
		}
	case sourceStatusList:
		s.values = append(s.values, int64(from.n)*statusFields)
		for i := range int(from.n) {
			fields := statusFieldsOf(w[i*record.StatusWords : (i+1)*record.StatusWords])
			s.values = append(s.values, fields[:]...)
		}
		s.lengths = append(s.lengths, 1+from.n*statusFields)
	}
}
