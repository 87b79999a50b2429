package key

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Read decodes a record of a thread: it writes the key, and gives and frees the ids of handles and
// requests. untraced reports whether tracing was off before the call. It returns nil if there is no
// such function. Number must follow.
//
// The record of a call that never returned has only inputs. Its outputs are absent, and so is its
// result if the process ended in it, which distinguishes it from all other calls. The result of a
// call that the program left is null.
func (t *Table) Read(thread uint32, rec record.Record, untraced bool) *Call {
	l := layoutFor(rec.Function)
	if l == nil {
		return nil
	}
	c := &t.call
	c.reset(thread, l, rec, untraced)
	t.objects.Requests.Begin(thread)
	result := rec.Words[record.ReturnWord]
	if l.spec.Return == mpi.KindErrorCode && int32(result) != 0 && !(t.inStatus != 0 && int32(result) == int32(t.inStatus)) {
		c.failed = true
	}
	extras := c.locate(rec)
	if c.Whole && l.comm != none {
		t.useCommunicator(c)
	}
	t.sites.Missed = false
	c.key = t.write(c.key, c, rec.Words[record.AddressWord], result)
	if !c.Whole || c.open {
		return c
	}
	t.end(&c.arguments, c.failed, c.named)
	if l.effect != semantics.Unknown && !c.failed {
		c.Effect, c.Extras = l.effect, record.Reader{Words: rec.Words, At: extras, OK: true}
	}
	return c
}

// useCommunicator looks up the communicator of a call.
func (t *Table) useCommunicator(c *Call) {
	if c.comm = t.objects.UseCommunicator(c.words[c.at[c.layout.comm]]); c.comm == nil {
		return
	}
	c.own = c.comm.Own
	if c.root != none {
		c.atRoot = t.objects.IsRoot(c.comm, c.words[c.at[c.root]])
	}
}

// end ends the handles, messages and requests that a call freed, consumed or completed; named are
// the ids of the requests. A call that waits may complete requests and still fail (a message was
// longer than the buffer); all other effects need success.
func (t *Table) end(a *arguments, failed bool, named []int32) {
	for _, e := range a.ends {
		f := &a.fields[e.before]
		if failed && f.spec.Effect != mpi.EffectCompleted {
			continue
		}
		before := a.elements(e.before).words
		switch {
		case f.ends && e.after != none:
			ids := named[:min(len(before), len(named))]
			named = named[len(ids):]
			t.objects.Requests.Complete(before, a.elements(e.after).words, ids)
		case t.objects.Dense(f.kind):
			for _, raw := range before {
				t.objects.Free(f.kind, raw)
			}
		}
	}
}

// Number gives a call that was read its terminal, and its values for the streams.
func (t *Table) Number(c *Call) {
	c.key = append(c.key, c.described)
	key, number := c.key, int32(none)
	if c.Whole && !c.open {
		key, number = t.widen(c)
		if t.generality >= DropsTexts && number == none && !t.knows(key, c.creates) {
			key = t.generalize(key, c)
		}
	}
	known := t.Len()
	if number == none {
		if c.creates {
			number = t.objects.Requests.Creator(key)
		} else {
			number = t.signatures.terminal(key)
		}
		if c.Wide {
			t.noteRecent(number, c.creates)
		}
	}
	c.Terminal = number
	if c.creates {
		c.creator, c.Terminal = number, t.created(number, c.request)
	}
	if t.Len() > known {
		c.Added = len(key) + SignatureBytes
	}
}

// SignatureBytes is the memory of a signature beside its key, including its results.
const SignatureBytes = 256
