package key

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// isRepeatable reports whether the only effects of a function's calls are to end and create
// requests, so that its calls can have patterns.
func (l *layout) isRepeatable() bool {
	if l.effect != NoEffect {
		return false
	}
	for i := range l.params {
		p := &l.params[i]
		switch p.spec.Effect {
		case mpi.EffectNone, mpi.EffectStarted:
		case mpi.EffectNew:
			if i != l.newRequest {
				return false
			}
		case mpi.EffectCompleted, mpi.EffectFreed:
			if p.kind != mpi.KindRequest || !p.in || !p.out {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// hashedWords returns the words of the fixed part of a record that are in every key.
func (l *layout) hashedWords() []int32 {
	const enough = 8
	var offsets []int32
	for i := range l.params {
		p := &l.params[i]
		if !p.in {
			continue
		}
		if l.in[i] == 0 || len(offsets) == enough {
			break // the following offsets depend on the call
		}
		if p.shape == shapeWord && p.inSlot == inSignature && p.kind != mpi.KindBuffer && p.kind != mpi.KindRequest {
			offsets = append(offsets, l.in[i])
		}
	}
	return offsets
}

// A patternBuilder decodes a record as Read does and notes the role of each word in the key.
type patternBuilder struct {
	t     *Table
	c     *Call
	p     *Pattern
	named []int32 // requests that the call may have ended, in the order in which Read found them
	seen  []bool  // words that have a role
	ok    bool
}

// HasPattern reports whether a call may have a pattern. A call with a new signature has none yet.
func (c *Call) HasPattern() bool {
	return c.Whole && !c.Wide && c.Added == 0 && !c.failed && c.repeatable &&
		int(record.Low(c.words[record.LengthWord])) == 8*len(c.words)
}

// Pattern returns what the key of the call that was just numbered depends on; nil if that is not
// known.
func (t *Table) Pattern(c *Call) *Pattern {
	first := c.words[record.LengthWord]
	p := &Pattern{
		First: first, Function: record.FunctionIn(first), layout: c.layout, untraced: c.untraced,
		comm: communicatorUse{at: none}, generation: t.objects.Generation(),
		terminal: c.Terminal, creator: c.creator, requestAt: none,
		in: slices.Clone(c.in[:len(c.params)]), out: slices.Clone(c.out[:len(c.params)]),
	}
	b := &patternBuilder{t: t, c: c, p: p, named: c.named, seen: make([]bool, len(c.words)), ok: true}
	if c.layout.comm >= 0 {
		p.comm = useOfCommunicator(t.objects, c.in[c.layout.comm], c.words)
	}
	b.record()
	if !b.ok || !b.sameValues() {
		return nil
	}
	return p
}

// record assigns roles to all words of the record.
func (b *patternBuilder) record() {
	for _, at := range []int32{record.LengthWord, record.ReservedWord, record.EpochWord, record.EnterWord, record.ExitWord} {
		b.seen[at] = true
	}
	if b.c.returnSlot == inStream {
		b.source(record.ReturnWord, 1, values.Word)
	}
	b.t.objects.Requests.Begin(b.c.thread)
	for i := range b.c.params {
		if p := &b.c.params[i]; p.in && b.ok {
			b.parameter(p, b.c.in[i], p.inSlot, false)
		}
	}
	b.p.returned = len(b.p.requests)
	b.t.objects.Requests.Begin(b.c.thread)
	for i := range b.c.params {
		if p := &b.c.params[i]; p.out && b.ok {
			if i == b.c.newRequest && b.c.creates {
				b.p.requestAt = b.c.out[i]
				b.seen[b.c.out[i]] = true
				continue
			}
			b.parameter(p, b.c.out[i], p.outSlot, true)
			if p.spec.OnlyIf != 0 { // the flag determines which other values exist
				b.want(b.c.out[p.spec.OnlyIf-1])
			}
		}
	}
	for at, seen := range b.seen {
		if !seen {
			b.want(int32(at))
		}
	}
}

// parameter assigns roles to the words of a parameter. A word without a role must be equal.
func (b *patternBuilder) parameter(p *parameter, at int32, where slot, out bool) {
	rd := record.Reader{Words: b.c.words, At: int(at), OK: true}
	ignored := p.spec.RootOnly && !b.c.atRoot || b.t.inPlace(b.c, p)
	switch {
	case ignored:
	case p.kind == mpi.KindRequest:
		b.requests(p, &rd, out)
	case p.kind == mpi.KindBuffer:
		if b.t.objects.AnyAddress(p.kind, b.c.words[at]) {
			b.seen[at] = true
			b.p.addresses = append(b.p.addresses, wordAddress{at, p.kind})
		}
	case where == inStream:
		b.source(at, 1, values.Word)
	case where == inList:
		if elements, special, _ := rd.Array(); special == 0 {
			b.source(at+1, len(elements), values.List)
		}
	case where == inStatus:
		b.want(at) // whether the application ignored it
		b.source(at+1, 1, values.Statuses)
	case where == inStatusList && p.shape == shapeStatus:
		b.want(at)
		n := 0
		if !out || b.c.defined(p) {
			n = 1
		}
		b.source(at+1, n, values.StatusList)
	case where == inStatuses, where == inStatusList:
		b.want(at)
		rd.Word()
		words, special := rd.Statuses()
		if special != 0 {
			b.ok = false
			return
		}
		form := values.Statuses
		if where == inStatusList {
			form = values.StatusList
		}
		b.source(at+2, len(words)/record.StatusWords, form)
	case b.t.objects.Dense(p.kind):
		b.handles(p, &rd)
	}
}

// requests records the ids of the requests in a parameter. The values of requests that the call may
// have ended do not matter on return.
func (b *patternBuilder) requests(p *parameter, rd *record.Reader, out bool) {
	n := 1
	if p.shape == shapeArray {
		elements, special, _ := rd.Array()
		if special != 0 {
			return
		}
		n, rd.At = len(elements), rd.At-len(elements)
	}
	mayEnd := p.spec.Effect == mpi.EffectCompleted || p.spec.Effect == mpi.EffectFreed
	for at := rd.At; at < rd.At+n; at++ {
		b.seen[at] = true
		if mayEnd && out {
			if p.outSlot != leftOut { // MPI_Request_free: its result is in the key
				b.seen[at] = false
				_, null := b.t.objects.Requests.Null(b.c.words[at])
				b.ok = b.ok && null
			}
			continue
		}
		w := requestWord{at: int32(at)}
		if mayEnd {
			if len(b.named) == 0 {
				b.ok = false
				return
			}
			w.value, b.named = b.named[0], b.named[1:]
		} else {
			var ok bool
			if w.value, ok = b.t.objects.Requests.Known(b.c.words[at]); !ok {
				b.ok = false
				return
			}
		}
		b.p.requests = append(b.p.requests, w)
	}
}

// handles records the values of the handles in a parameter.
func (b *patternBuilder) handles(p *parameter, rd *record.Reader) {
	first, n := rd.At, 1
	if p.shape == shapeArray {
		elements, special, _ := rd.Array()
		if special != 0 {
			return
		}
		first, n = rd.At-len(elements), len(elements)
	}
	for at := first; at < first+n; at++ {
		v, found := b.t.objects.Known(p.kind, b.c.words[at])
		b.p.handles = append(b.p.handles, handleWord{int32(at), p.kind, v, found})
	}
}

// want requires a word to be equal.
func (b *patternBuilder) want(at int32) {
	b.seen[at] = true
	b.p.exact = append(b.p.exact, exactWord{at, b.c.words[at]})
}

// source records the origin of stream values: n words, statuses or elements.
func (b *patternBuilder) source(at int32, n int, form values.Form) {
	b.p.Values.Add(at, n, form)
	for k := at; k < at+form.Words(n); k++ {
		b.seen[k] = true
	}
}

// sameValues reports whether the sources yield the values of the call and all requests were seen.
func (b *patternBuilder) sameValues() bool {
	var v values.Call
	b.p.Values.Read(&v, b.c.words)
	b.p.Values.Flat = len(v.Values) == len(v.Lengths)
	return slices.Equal(v.Values, b.c.Values.Values) && slices.Equal(v.Lengths, b.c.Values.Lengths) && len(b.named) == 0
}
