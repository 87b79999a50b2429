package recorder

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
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
		for k, raw := range before {
			// an ended request is MPI_REQUEST_NULL now; a completed persistent one is not
			if k < len(after) && k < len(ids) && ids[k] >= 0 && r.requests.isNull(after[k]) {
				r.requests.end(raw, ids[k])
			}
		}
	}
}

// free ends the handles and messages that a successful call freed or consumed.
func (r *Recorder) free(c *call) {
	for _, i := range c.ends {
		p := &c.params[i]
		h := r.handles[p.kind]
		if !p.in || h == nil {
			continue
		}
		for _, raw := range c.elements(p, c.in[i]) {
			id := h.free(raw)
			if p.kind == mpi.KindComm {
				r.communicators.forget(id)
			}
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
	if world, ok := readDescription(extras); ok {
		r.communicators.start(world)
	}
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
		r.communicators.rank = r.rank
	}
}

// maxWorld is the largest world size that is accepted from a record, which may be damaged.
const maxWorld = 1 << 30

// addParent adds the communicator to the world that spawned this one, at the first call
// that returns it.
func (r *Recorder) addParent(c *call, extras *record.Reader) bool {
	id, ok := r.handles[mpi.KindComm].table.get(c.words[c.out[c.parent]])
	if !ok || predefined(id) {
		return false
	}
	if r.communicators.of(id) == nil {
		parent, ok := readDescription(extras)
		if !ok {
			return false
		}
		r.communicators.add(id, parentName, parent)
	}
	r.scratch.push(int64(r.communicators.live[id].instance))
	return true
}

func (r *Recorder) label(c *call) {
	for i := range c.params {
		if p := &c.params[i]; p.shape == shapeString && p.in {
			rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
			text, _, _ := rd.Text()
			r.communicators.instances[c.comm.instance].Label = record.Printable(text)
			r.communicators.labeled = append(r.communicators.labeled, c.comm.instance)
			return
		}
	}
}

// addCommunicator names the communicator that a call created. A call that is collective over its
// parent increments the parent's counter even if this process got no communicator.
func (r *Recorder) addCommunicator(c *call, extras *record.Reader) bool {
	b := creation{how: c.naming}
	var inherited instanceIndex = none
	if c.comm != nil {
		b.parent = r.communicators.instances[c.comm.instance].GlobalName
		b.ordinal = c.comm.creations
		inherited = instanceIndex(c.comm.instance)
		if c.naming.advances() {
			c.comm.creations++
		}
	}
	// calls on it have no known own rank, so no earlier signature matches
	if c.newID < 0 || r.generality >= dropsArguments {
		return false
	}
	child, ok := readDescription(extras)
	b.tag = r.tagOf(c)
	switch {
	case ok:
		r.communicators.add(c.newID, r.communicators.name(b.of(child)), child)
	case inherited >= 0 && c.naming == namedByParent:
		// MPI_Comm_idup: the shim cannot query the communicator yet, but it is as its parent
		r.communicators.inherit(c.newID, inherited, c.comm.own, c.comm.inter, b)
	default:
		return false
	}
	r.scratch.push(int64(r.communicators.live[c.newID].instance))
	r.grew(newSignatureBytes)
	return true
}

type instanceIndex int32

// tagOf returns the tag or string tag of a creating call.
func (r *Recorder) tagOf(c *call) string {
	for i := range c.params {
		p := &c.params[i]
		rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
		switch {
		case !p.in:
		case p.kind == mpi.KindTag:
			return fmt.Sprint(int32(rd.Word()))
		case p.kind == mpi.KindString && c.naming != namedRemote:
			text, _, _ := rd.Text()
			return record.Printable(text)
		}
	}
	return ""
}
