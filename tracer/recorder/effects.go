package recorder

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// complete ends the requests that a call ended. A call that waits may end requests and still fail
// (a message was longer than the buffer); a call that frees a request ends it only on success.
func (r *Recorder) complete(c *call) {
	named := r.scratch.named
	for _, i := range c.ends {
		p := &c.params[i]
		if p.kind != mpi.KindRequest || !p.in || !p.out || c.failed && p.spec.Effect != mpi.EffectCompleted {
			continue
		}
		before, after := c.elements(p, c.in[i]), c.elements(p, c.out[i])
		ids := named[:min(len(before), len(named))]
		named = named[len(ids):]
		r.objects.Requests.Complete(before, after, ids)
	}
}

// free ends the handles and messages that a successful call freed or consumed.
func (r *Recorder) free(c *call) {
	for _, i := range c.ends {
		p := &c.params[i]
		if !p.in || !r.objects.Dense(p.kind) {
			continue
		}
		for _, raw := range c.elements(p, c.in[i]) {
			r.objects.Free(p.kind, raw)
			if p.kind == mpi.KindSession {
				r.sessions--
			}
		}
	}
}

// elements returns the words of a scalar or array parameter at an offset of the record.
func (c *call) elements(p *parameter, at int32) []uint64 {
	rd := record.Reader{Words: c.words, At: int(at), OK: true}
	if p.shape == shapeArray {
		elements, _, _ := rd.Array()
		return elements
	}
	return rd.Take(1)
}

// applyEffects applies the effects of a successful call beyond its handles. It reports whether the
// call returned a communicator, whose instance is then the call's last stream.
func (r *Recorder) applyEffects(c *call, extras *record.Reader) bool {
	switch c.meaning {
	case meansInit:
		r.begin(extras)
	case meansFinalize:
		r.finalized = true
	case meansSession:
		r.sessions++
		r.finalized = false
		r.addWorld(extras)
	case meansSessionEnd:
		r.finalized = r.finalized || r.sessions == 0
	case meansName:
		if c.comm != nil {
			r.label(c)
		}
	case meansCommunicator:
		return r.addCommunicator(c, extras)
	case meansParent:
		return r.addParent(c, extras)
	case meansControl:
		r.control(int32(c.words[c.in[0]]))
	}
	return false
}

// begin processes the extras of MPI_Init.
func (r *Recorder) begin(extras *record.Reader) {
	rank, size := int64(extras.Word()), int64(extras.Word())
	extras.Word() // level of thread support
	if !extras.OK || rank < 0 || rank >= size || size > maxWorld {
		return
	}
	r.rank, r.worldSize = int(rank), int(size)
	r.objects.Start(extras)
}

// Levels of MPI_Pcontrol that matter to the recorder (DESIGN.md); the shim acts on them.
const (
	levelOff = 0
	levelOn  = 1
)

// control records that tracing was turned off or on.
func (r *Recorder) control(level int32) {
	switch level {
	case levelOff:
		r.off = true
		for _, t := range r.threads {
			t.untraced = true
		}
	case levelOn:
		r.off = false
	}
}

// addWorld processes the extras of MPI_Session_init: this process's rank in the process
// set of the world.
func (r *Recorder) addWorld(extras *record.Reader) {
	rank, size := int64(extras.Word()), int64(extras.Word())
	if extras.OK && r.rank < 0 && rank >= 0 && rank < size && size <= maxWorld {
		r.rank, r.worldSize = int(rank), int(size)
		r.objects.SetRank(r.rank)
	}
}

// maxWorld is the largest world size that is accepted from a record, which may be damaged.
const maxWorld = 1 << 30

// addParent adds the communicator to the world that spawned this one, at the first call
// that returns it.
func (r *Recorder) addParent(c *call, extras *record.Reader) bool {
	instance, ok := r.objects.AddParent(c.words[c.out[c.parent]], extras)
	if ok {
		r.scratch.push(int64(instance))
	}
	return ok
}

func (r *Recorder) label(c *call) {
	for i := range c.params {
		if p := &c.params[i]; p.shape == shapeString && p.in {
			rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
			text, _, _ := rd.Text()
			r.objects.Label(c.comm, record.Printable(text))
			return
		}
	}
}

// addCommunicator adds the communicator that a call created.
func (r *Recorder) addCommunicator(c *call, extras *record.Reader) bool {
	made := identity.Creation{Function: c.semantics, Parent: c.comm, ID: c.newID, Tag: c.tag()}
	if r.generality >= dropsArguments {
		made.ID = none // calls on it have no known own rank, so no earlier signature matches
	}
	instance, ok := r.objects.AddCommunicator(made, extras)
	if ok {
		r.scratch.push(int64(instance))
		r.grew(newSignatureBytes)
	}
	return ok
}

// tag returns the tag or string tag of a creating call.
func (c *call) tag() string {
	for i := range c.params {
		p := &c.params[i]
		rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
		switch {
		case !p.in:
		case p.kind == mpi.KindTag:
			return fmt.Sprint(int32(rd.Word()))
		case p.kind == mpi.KindString:
			text, _, _ := rd.Text()
			return record.Printable(text)
		}
	}
	return ""
}
