package recorder

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// complete ends the requests that a call ended. A call that waits may do so and fail (a message was longer than the
// buffer); one that frees a request may not.
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
			// A request that has ended has become MPI_REQUEST_NULL; a persistent one that is complete has not.
			if k < len(after) && k < len(ids) && ids[k] >= 0 && r.requests.isNull(after[k]) {
				r.requests.end(raw, ids[k])
			}
		}
	}
}

// free ends the handles and messages that a successful call freed or used up.
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

// elements are the words of a scalar or array parameter that stands at a place of the record.
func (c *call) elements(p *parameter, at int32) []uint64 {
	rd := record.Reader{Words: c.words, At: int(at), OK: true}
	if p.shape == shapeArray {
		elements, _, _ := rd.Array()
		return elements
	}
	return rd.Take(1)
}

// applyEffects does what a successful call means beyond its handles; it reports whether the call gave a communicator, whose
// instance is then the call's last stream.
func (r *Recorder) applyEffects(c *call, extras *record.Reader) bool {
	switch c.meaning {
	case meansInit:
		r.begin(extras)
	case meansFinalize:
		r.finalized = true
	case meansSession:
		r.sessions++
		r.finalized = false
		r.meetWorld(extras)
	case meansSessionEnd:
		r.finalized = r.finalized || r.sessions == 0
	case meansName:
		if c.comm != nil {
			r.label(c)
		}
	case meansCommunicator:
		return r.born(c, extras)
	case meansParent:
		return r.meetParent(c, extras)
	case meansControl:
		r.control(int32(c.words[c.in[0]]))
	}
	return false
}

// begin takes the extras of MPI_Init.
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

// Levels of MPI_Pcontrol that the recorder has to know (DESIGN.md); the shim acts on them.
const (
	levelOff = 0
	levelOn  = 1
)

// control notes that calls will be missing from now on, or no more.
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

// meetWorld takes the extras of MPI_Session_init: where this process is in the process set of the world.
func (r *Recorder) meetWorld(extras *record.Reader) {
	rank, size := int64(extras.Word()), int64(extras.Word())
	if extras.OK && r.rank < 0 && rank >= 0 && rank < size && size <= maxWorld {
		r.rank, r.worldSize = int(rank), int(size)
		r.communicators.rank = r.rank
	}
}

// maxWorld bounds what is believed of a damaged record.
const maxWorld = 1 << 30

// meetParent makes the communicator to the world that spawned this one known when it is asked for first.
func (r *Recorder) meetParent(c *call, extras *record.Reader) bool {
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

// born names the communicator that a call created. A call that is collective over its parent counts on it also when
// it gave this process no communicator.
func (r *Recorder) born(c *call, extras *record.Reader) bool {
	b := birth{how: c.naming}
	var inherited instanceIndex = none
	if c.comm != nil {
		b.parent = r.communicators.instances[c.comm.instance].GlobalName
		b.ordinal = c.comm.creations
		inherited = instanceIndex(c.comm.instance)
		if c.naming.advances() {
			c.comm.creations++
		}
	}
	if c.newID < 0 || r.generality >= dropsArguments { // calls on it have no known own rank: no signature from before is theirs
		return false
	}
	child, ok := readDescription(extras)
	b.tag = r.tagOf(c)
	switch {
	case ok:
		r.communicators.add(c.newID, r.communicators.name(b.of(child)), child)
	case inherited >= 0 && c.naming == namedByParent:
		// MPI_Comm_idup: the communicator cannot be asked yet, but is as its parent
		r.communicators.inherit(c.newID, inherited, c.comm.own, c.comm.inter, b)
	default:
		return false
	}
	r.scratch.push(int64(r.communicators.live[c.newID].instance))
	r.grew(newSignatureBytes)
	return true
}

type instanceIndex int32

// tagOf is the tag or string tag of a creating call.
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
