package key

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Read decodes a committed record of a thread: it writes the key, and gives and frees the ids of
// handles and requests. untraced reports whether tracing was off before the call. It returns nil if
// there is no such function. Number must follow.
func (t *Table) Read(thread uint32, rec record.Record, untraced bool) *Call {
	l := layoutFor(rec.Function)
	if l == nil {
		return nil
	}
	c := &t.call
	c.reset(thread, l, rec, untraced)
	t.objects.Requests.Begin(thread)
	result := rec.Words[record.ReturnWord]
	c.failed = l.errorCode && int32(result) != 0 && !(t.inStatus != 0 && int32(result) == int32(t.inStatus))
	extras := t.prepare(c, rec)
	t.sites.Missed = false
	c.key = t.write(c.key, c, rec)
	if !c.Whole {
		return c
	}
	if len(l.ends) > 0 {
		t.complete(l, c.words, c.in, c.out, c.failed, c.named)
		t.free(c)
	}
	if l.effect != NoEffect && !c.failed {
		c.Effect, c.Extras = l.effect, record.Reader{Words: rec.Words, At: extras, OK: true}
	}
	return c
}

// prepare finds the parameters of a call in its record, and the call's communicator. It returns the
// offset of the extras.
func (t *Table) prepare(c *Call, rec record.Record) (extras int) {
	l := c.layout
	rd := record.Reader{Words: rec.Words, At: l.length, OK: true}
	if l.length > 0 {
		c.in, c.out = l.in, l.out
		rd.OK = l.length <= len(rec.Words)
	} else {
		c.in, c.out = t.in, t.out
		rd.At = record.HeaderWords
		c.locate(&rd)
	}
	t.setWhole(c, rd.OK && rec.Flags&record.FlagTruncated == 0)
	return rd.At
}

// setWhole sets whether all arguments of a call are in its record. If so, it looks up the
// communicator.
func (t *Table) setWhole(c *Call, whole bool) {
	l := c.layout
	if c.Whole = whole; !whole || l.comm < 0 {
		return
	}
	c.comm = t.objects.UseCommunicator(c.words[c.in[l.comm]])
	if c.comm != nil {
		c.own = c.comm.Own
		if l.root >= 0 {
			c.atRoot = t.objects.IsRoot(c.comm, c.words[c.in[l.root]])
		}
	}
}

// head writes the beginning of a key: function, call site, own rank.
func (t *Table) head(key []byte, c *Call, rec record.Record, flags uint64) []byte {
	if c.untraced {
		flags |= flagUntraced
	}
	key = binary.AppendUvarint(key, uint64(rec.Function)|flags)
	key = binary.AppendUvarint(key, uint64(t.sites.Of(rec.Words[record.AddressWord])))
	return binary.AppendVarint(key, int64(c.own))
}

// write writes the key of a call up to its last byte.
func (t *Table) write(key []byte, c *Call, rec record.Record) []byte {
	l := c.layout
	flags := uint64(0)
	if c.Whole && c.ignoresStatus() {
		flags = flagStatusIgnored
	}
	key = t.head(key, c, rec, flags)
	key = t.result(key, c, rec.Words[record.ReturnWord])
	if !c.Whole {
		for range l.values() - 1 {
			key = appendForm(key, trace.Absent)
		}
		return key
	}
	for i := range l.params {
		switch p := &l.params[i]; {
		case p.in && p.plain: // the usual case
			key = t.word(key, p.kind, c.words[c.in[i]], mpi.EffectNone)
		case p.in:
			key = t.inValue(key, c, i)
		}
	}
	t.objects.Requests.Begin(c.thread)
	for i := range l.params {
		if l.params[i].out {
			key = t.outValue(key, c, i)
		}
	}
	return key
}

// complete ends the requests that a call ended; named are their ids. A call that waits may end
// requests and still fail (a message was longer than the buffer); a call that frees a request ends
// it only on success.
func (t *Table) complete(l *layout, words []uint64, in, out []int32, failed bool, named []int32) {
	for _, i := range l.ends {
		p := &l.params[i]
		if p.kind != mpi.KindRequest || !p.in || !p.out || failed && p.spec.Effect != mpi.EffectCompleted {
			continue
		}
		before, after := p.elements(words, in[i]), p.elements(words, out[i])
		ids := named[:min(len(before), len(named))]
		named = named[len(ids):]
		t.objects.Requests.Complete(before, after, ids)
	}
}

// free ends the handles and messages that a call freed or consumed if it succeeded.
func (t *Table) free(c *Call) {
	if c.failed {
		return
	}
	for _, i := range c.ends {
		p := &c.params[i]
		if !p.in || !t.objects.Dense(p.kind) {
			continue
		}
		for _, raw := range p.elements(c.words, c.in[i]) {
			t.objects.Free(p.kind, raw)
		}
	}
}

// Number gives a call that was read its terminal, and its values for the streams.
func (t *Table) Number(c *Call) {
	if c.described {
		c.key = append(c.key, 1)
	} else {
		c.key = append(c.key, 0)
	}
	key, general, recent := c.key, false, int32(none)
	if c.Whole {
		if key, c.Wide = t.widen(c); c.Wide {
			recent, c.Varied = t.widening.recent, t.widening.varied
		}
		if t.generality > KeepsEverything && recent == none && !t.knows(key, c.creates) {
			key, general = t.generalize(key, c), true
		}
	}
	known := t.Len()
	c.Terminal = recent
	switch {
	case c.creates:
		if c.creator = recent; recent == none {
			c.creator = t.objects.Requests.Creator(key)
		}
		c.Terminal = t.created(c.creator, c.request)
	case recent == none:
		c.Terminal = t.signatures.terminal(key)
	}
	if c.Wide && !general && recent == none {
		if c.creates {
			t.noteRecent(c.creator, true)
		} else {
			t.noteRecent(c.Terminal, false)
		}
	}
	if t.Len() > known {
		c.Added = len(key) + SignatureBytes
	}
}

// SignatureBytes is the memory of a signature beside its key, including its results.
const SignatureBytes = 256

// ReadUnfinished decodes the record of the call that a process was in when it ended, with its
// inputs, and gives it a terminal. Its outputs and its result are absent, which distinguishes it
// from all other calls. It returns nil if there is no such function.
func (t *Table) ReadUnfinished(thread uint32, rec record.Record, untraced bool) *Call {
	l := layoutFor(rec.Function)
	if l == nil {
		return nil
	}
	c := &t.call
	c.reset(thread, l, rec, untraced)
	c.failed, c.in, c.out = true, t.in, t.out
	t.objects.Requests.Begin(thread)
	rd := record.Reader{Words: rec.Words, At: record.HeaderWords, OK: true}
	for i := range l.params {
		if p := &l.params[i]; p.in {
			c.in[i] = int32(rd.At)
			pass(&rd, p.shape)
		}
		c.out[i] = c.in[i] // the record has nothing else
	}
	t.setWhole(c, rd.OK && rec.Flags&record.FlagTruncated == 0)
	key := t.head(c.key, c, rec, 0)
	key = appendForm(key, trace.Absent)
	for i := range l.params {
		p := &l.params[i]
		// MPI_IN_PLACE as an output-only buffer is recorded after the call
		unsure := p.spec.UnlessInPlace != 0 && !l.params[p.spec.UnlessInPlace-1].in
		switch {
		case p.in && c.Whole && !unsure:
			key = t.inValue(key, c, i)
		case p.in:
			key = appendForm(key, trace.Absent)
		}
	}
	for i := range l.params {
		if l.params[i].out {
			key = appendForm(key, trace.Absent)
		}
	}
	key = append(key, 0) // it creates no communicator
	c.key, c.Terminal = key, t.signatures.terminal(key)
	return c
}
