package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// scratch is memory that is reused from call to call.
type scratch struct {
	key     []byte
	in, out []int32 // see call
	values  []int64 // for the streams, stream by stream
	lengths []int32 // number of values per stream
	named   []int32 // request ids, in the order of the parameters that may end them
}

func (s *scratch) start() {
	s.in = make([]int32, maxParams)
	s.out = make([]int32, maxParams)
}

// push is one value for the next stream.
func (s *scratch) push(v int64) {
	s.values = append(s.values, v)
	s.lengths = append(s.lengths, 1)
}

// A call is a record that is being consumed.
type call struct {
	*layout
	words   []uint64
	in, out []int32 // offsets of the parameters in the record, by index
	failed  bool    // outputs are not defined
	atRoot  bool    // root-only parameters are significant
	whole   bool    // all of its arguments are in the record
	comm    *identity.Communicator
	own     int32  // rank in it; none: unknown
	newID   int32  // of the communicator that the call creates
	request uint64 // raw handle of the request that the call creates
	creates bool   // the call creates a request
}

// apply records one committed call of a thread.
func (r *Recorder) apply(t *thread, rec record.Record) {
	before := t.latest
	t.latest = nil
	t.loop.forget()
	l := layoutFor(rec.Function)
	if l == nil {
		r.lost.Malformed++
		return
	}
	s := &r.scratch
	s.values, s.lengths, s.named = s.values[:0], s.lengths[:0], s.named[:0]
	r.objects.Requests.Begin(t.number)
	c := call{layout: l, words: rec.Words, atRoot: true, own: none, newID: none}
	result := rec.Words[record.ReturnWord]
	c.failed = l.errorCode && int32(result) != 0 && !(r.inStatus != 0 && int32(result) == int32(r.inStatus))
	extras := r.prepare(&c, rec)
	s.key = r.keyOf(s.key[:0], t, &c, rec, extras)
	known := len(r.signatures.terminals)
	number, creator, wide := r.terminalOf(s.key, &c)
	if c.whole && !wide && int(number) < known {
		r.buildRepeat(t, before, &c, rec, number, creator)
	}
	t.append(number, rec)
	if wide && t.tally != nil { // clustering compares the arguments anyway
		t.tally.AddArguments(r.widening.varied)
	}
	t.returned(number, s)
	t.untraced = r.off
}

// prepare finds the parameters of a call in its record, and the call's communicator. It returns the
// offset of the extras.
func (r *Recorder) prepare(c *call, rec record.Record) (extras int) {
	l := c.layout
	rd := record.Reader{Words: rec.Words, At: l.length, OK: true}
	if l.length > 0 {
		c.in, c.out = l.in, l.out
		rd.OK = l.length <= len(rec.Words)
	} else {
		c.in, c.out = r.scratch.in, r.scratch.out
		rd.At = record.HeaderWords
		c.locate(&rd)
	}
	c.whole = rd.OK && rec.Flags&record.FlagTruncated == 0
	if c.whole && l.comm >= 0 {
		c.comm = r.objects.UseCommunicator(c.words[c.in[l.comm]])
		if c.comm != nil {
			c.own = c.comm.Own
			if l.root >= 0 {
				c.atRoot = r.objects.IsRoot(c.comm, c.words[c.in[l.root]])
			}
		}
	}
	return rd.At
}

// keyOf writes the key of a call and applies the call's effects on handles, requests and
// communicators. extras is the offset of the record's extras.
func (r *Recorder) keyOf(key []byte, t *thread, c *call, rec record.Record, extras int) []byte {
	l := c.layout
	r.sites.missed = false
	function := uint64(rec.Function)
	if c.whole && c.ignoresStatus() {
		function |= statusIgnored
	}
	if t.untraced {
		function |= untracedKey
	}
	key = binary.AppendUvarint(key, function)
	key = binary.AppendUvarint(key, uint64(r.sites.of(rec.Words[record.AddressWord])))
	key = binary.AppendVarint(key, int64(c.own))
	key = r.result(key, l, rec.Words[record.ReturnWord])
	if !c.whole {
		r.lost.Truncated++
		for i := range l.params {
			if l.params[i].in {
				key = appendForm(key, trace.Absent)
			}
			if l.params[i].out {
				key = appendForm(key, trace.Absent)
			}
		}
		return append(key, 0) // it creates no communicator
	}
	for i := range l.params {
		switch p := &l.params[i]; {
		case p.in && p.plain: // the usual case
			key = r.word(key, p.kind, c.words[c.in[i]], mpi.EffectNone)
		case p.in:
			key = r.inValue(key, c, i)
		}
	}
	r.objects.Requests.Begin(t.number)
	for i := range l.params {
		if l.params[i].out {
			key = r.outValue(key, c, i)
		}
	}
	r.complete(c)
	if !c.failed {
		r.free(c)
		rd := record.Reader{Words: rec.Words, At: extras, OK: true}
		if r.applyEffects(c, &rd) {
			return append(key, 1)
		}
	}
	return append(key, 0)
}

// terminalOf returns the terminal of a call with this key, and its creator if it creates a request.
// wide reports whether numbers of the key were moved to value streams (families.go).
func (r *Recorder) terminalOf(key []byte, c *call) (number, creator int32, wide bool) {
	general, recent := false, int32(none)
	if c.whole {
		if key, wide = r.widen(key, c.layout, c.creates); wide {
			recent = r.widening.recent
		}
		if r.generality > keepsEverything && recent == none && !r.knows(key, c.creates) {
			key, general = r.generalize(key, c.layout, c.creates), true
		}
	}
	known := len(r.signatures.terminals)
	number, creator = recent, none
	switch {
	case c.creates:
		if creator = recent; creator == none {
			creator = r.objects.Requests.Creator(key)
		}
		number = r.created(creator, c.request)
	case recent == none:
		number = r.signatures.terminal(key)
	}
	if wide && !general && recent == none {
		if c.creates {
			r.noteRecent(creator, true)
		} else {
			r.noteRecent(number, false)
		}
	}
	if len(r.signatures.terminals) > known {
		r.grew(len(key) + newSignatureBytes)
	}
	return number, creator, wide
}

// newSignatureBytes is the memory of a signature beside its key, including its results.
const newSignatureBytes = 256

// knows reports whether a call with this key was recorded before.
func (r *Recorder) knows(key []byte, creates bool) bool {
	if creates {
		return r.objects.Requests.HasCreator(key)
	}
	_, known := r.signatures.byKey[string(key)]
	return known
}

// created makes a request of a creating signature live and returns the terminal of the call.
func (r *Recorder) created(creator int32, raw uint64) int32 {
	request := r.objects.Requests.Create(creator, raw)
	if request.Terminal == none {
		request.Terminal = r.signatures.add(r.objects.Requests.Key(creator), request.ID)
	}
	return request.Terminal
}

// locate finds the parameters of a call in its record.
func (c *call) locate(rd *record.Reader) {
	for i := range c.params {
		if p := &c.params[i]; p.in {
			c.in[i] = int32(rd.At)
			pass(rd, p.shape)
		}
	}
	for i := range c.params {
		if p := &c.params[i]; p.out {
			c.out[i] = int32(rd.At)
			pass(rd, p.shape)
		}
	}
}

// append adds a call to the thread's grammar and timing.
func (t *thread) append(number int32, rec record.Record) {
	t.grammar.Append(number)
	t.time(number, rec.Function, rec.IsMarker(), int64(rec.Enter), int64(rec.Exit))
	t.lastFunction = rec.Function
	t.calls++
}
