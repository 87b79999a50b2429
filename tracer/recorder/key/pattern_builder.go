package key

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// isRepeatable reports whether the only effects of a function's calls are to end and create
// requests, so that its calls can have patterns.
func (l *layout) isRepeatable() bool {
	if l.effect != semantics.Unknown {
		return false
	}
	for i := range l.fields {
		switch f := &l.fields[i]; f.spec.Effect {
		case mpi.EffectNone, mpi.EffectStarted:
		case mpi.EffectNew:
			if i != l.newRequest {
				return false
			}
		case mpi.EffectCompleted, mpi.EffectFreed:
			if f.kind != mpi.KindRequest || f.spec.Direction != mpi.InOut {
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
	for i := range l.inputs {
		f := &l.fields[i]
		if l.at[i] == 0 || len(offsets) == enough {
			break // the following offsets depend on the call
		}
		if f.shape == shapeWord && f.form == values.None && f.kind != mpi.KindBuffer && f.kind != mpi.KindRequest {
			offsets = append(offsets, l.at[i])
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
	ok    bool
}

// Pattern returns what the key of the call that was just numbered depends on; nil if that is not
// known. A call with a new signature has none yet.
func (t *Table) Pattern(c *Call) *Pattern {
	first := c.words[record.LengthWord]
	if !c.Whole || c.Wide || c.Added > 0 || c.failed || !c.repeatable || int(record.Low(first)) != 8*len(c.words) {
		return nil
	}
	p := &Pattern{
		First: first, layout: c.layout, untraced: c.untraced,
		comm: useOfCommunicator(t.objects, &c.arguments), generation: t.objects.Generation(),
		terminal: c.Terminal, creator: c.creator, requestAt: none,
		at: slices.Clone(c.at), roles: make([]role, len(c.words)),
	}
	b := &patternBuilder{t: t, c: c, p: p, named: c.named, ok: true}
	b.record()
	if !b.ok || !b.sameValues() {
		return nil
	}
	return p
}

// record assigns roles to all words of the record.
func (b *patternBuilder) record() {
	c := b.c
	for _, at := range []int32{record.LengthWord, record.ReservedWord, record.EpochWord, record.EnterWord, record.ExitWord} {
		b.p.roles[at] = roleFixed
	}
	if c.returns != values.None {
		b.source(record.ReturnWord, 1, values.Word)
	}
	b.t.objects.Requests.Begin(c.thread)
	for i := range c.fields {
		if i == c.inputs {
			b.t.objects.Requests.Begin(c.thread)
		}
		b.field(i)
	}
	for i := range c.fields { // flags determine which other values exist
		if flag := c.fields[i].flag; flag != none {
			b.want(c.at[flag])
		}
	}
	for at, role := range b.p.roles {
		if role == roleNone {
			b.want(int32(at))
		}
	}
}

// field assigns roles to the words of a field. A word without a role must be equal.
func (b *patternBuilder) field(i int) {
	f, at := &b.c.fields[i], b.c.at[i]
	switch {
	case i == b.c.newRequest && b.c.creates:
		b.p.requestAt = at
		b.p.roles[at] = roleFixed
	case b.t.isIgnored(b.c, f):
	case f.kind == mpi.KindRequest:
		b.requests(i)
	case f.kind == mpi.KindBuffer:
		if b.t.objects.AnyAddress(b.c.words[at]) {
			b.p.roles[at] = roleAddress
			b.p.addresses = append(b.p.addresses, at)
		}
	case f.form != values.None:
		b.streams(i)
	case b.t.objects.Dense(f.kind):
		e := b.c.elements(i)
		for k, raw := range e.words {
			v, found := b.t.objects.Known(f.kind, raw)
			b.p.handles = append(b.p.handles, handleWord{e.at + int32(k), f.kind, v, found})
		}
	}
}

// streams records the sources of a field that goes to streams.
func (b *patternBuilder) streams(i int) {
	f, e := &b.c.fields[i], b.c.elements(i)
	n := len(e.words)
	if f.kind == mpi.KindStatus {
		b.want(b.c.at[i]) // whether the application ignored it
		n /= record.StatusWords
		b.ok = b.ok && e.special == 0
	}
	if e.special == 0 {
		b.source(e.at, n, f.form)
	}
}

// requests records the ids of the requests in a field. The values of requests that the call may
// have ended do not matter on return.
func (b *patternBuilder) requests(i int) {
	f, e := &b.c.fields[i], b.c.elements(i)
	requests := &b.t.objects.Requests
	for k, raw := range e.words {
		if f.effect == mpi.EffectFreed { // MPI_Request_free: its result is in the key
			_, null := requests.Null(raw)
			b.ok = b.ok && null
			continue
		}
		at := e.at + int32(k)
		b.p.roles[at] = roleFixed
		var id int32
		ok := true
		switch {
		case f.effect == mpi.EffectCompleted:
			continue
		case !f.ends:
			id, ok = requests.Known(raw)
		case len(b.named) > 0:
			id, b.named = b.named[0], b.named[1:]
		default:
			ok = false
		}
		b.ok = b.ok && ok
		b.p.requests, b.p.ids = append(b.p.requests, at), append(b.p.ids, id)
		if !f.out {
			b.p.returned++
		}
	}
}

// want requires a word to be equal.
func (b *patternBuilder) want(at int32) {
	b.p.roles[at] = roleFixed
	b.p.exact = append(b.p.exact, exactWord{at, b.c.words[at]})
}

// source records the origin of stream values: n words, statuses or elements.
func (b *patternBuilder) source(at int32, n int, form values.Form) {
	b.p.Values.Add(at, n, form)
	for k := at; k < at+form.Words(n); k++ {
		b.p.roles[k] = roleResult
	}
}

// sameValues reports whether the sources yield the values of the call and all requests were seen.
func (b *patternBuilder) sameValues() bool {
	var v values.Call
	b.p.Values.Read(&v, b.c.words)
	b.p.Values.Flat = len(v.Values) == len(v.Lengths)
	return slices.Equal(v.Values, b.c.Values.Values) && slices.Equal(v.Lengths, b.c.Values.Lengths) && len(b.named) == 0
}
