package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Windows and files. Handles differ between ranks. The number of the collective that created an
// object identifies it on all ranks. Collectives on an object (fences, collective file access) are
// ordered per object (MPI 4.0 §12.5, §14.4).

// An objectKey is a handle of a rank.
type objectKey struct {
	kind   semantics.Role // Window or File
	handle int64
}

// An object is one rank's view of a window or file.
type object struct {
	number   uint32 // of the collective that created it, on all ranks
	comm     int32
	own      int32
	ordinal  uint32      // collectives so far
	split    *Collective // split collective that was begun and not ended (MPI_File_read_all_begin)
	part     int
	access   []int32 // rows of the present access epoch (MPI_Win_start)
	exposure []int32 // rows of the present exposure epoch (MPI_Win_post)
	locks    []*lock // held
}

// object returns the object that a call names, nil if it is not known.
func (m *Matcher) object(p *plan, c *Call, row int) *object {
	v := p.in(c.event, p.object)
	if v.Form != trace.Handle {
		return nil
	}
	return m.ranks[row].objects[objectKey{p.object, v.Int}]
}

// createObject handles the collective creation of a window or file.
func (m *Matcher) createObject(p *plan, c *Call, row int) {
	done := m.completion(c, row)
	proto := prototype{plan: p, comm: c.comm, own: c.own, root: noValue}
	op, part := m.enter(&proto, nil, c, row)
	if op != nil {
		if v := p.out(c.event, p.object); v.Form == trace.Handle {
			m.ranks[row].objects[objectKey{p.object, v.Int}] = &object{number: uint32(op.Number), comm: c.comm, own: c.own}
		}
		m.leave(op, part, done)
	}
	m.seal(done)
}

// onObject handles a collective on a window or file: a fence, collective access, the release of the
// object.
func (m *Matcher) onObject(p *plan, c *Call, row int) {
	o := m.object(p, c, row)
	if o == nil {
		return
	}
	if p.action == freeObject {
		delete(m.ranks[row].objects, objectKey{p.object, p.in(c.event, p.object).Int})
	}
	switch p.Completion {
	case semantics.Nonblocking:
		if id := p.out(c.event, semantics.Request); id.Form == trace.Handle {
			r := m.ranks[row].requests.put(id.Int)
			r.active = true
			r.collective, r.part = m.enterOn(o, p.class, c, row)
		}
	case semantics.SplitBegin:
		o.split, o.part = m.enterOn(o, p.class, c, row)
	case semantics.SplitEnd:
		if o.split != nil {
			done := m.completion(c, row)
			m.leave(o.split, o.part, done)
			o.split = nil
			m.seal(done)
		}
	case semantics.Blocking, semantics.Persistent, semantics.Partitioned:
		done := m.completion(c, row)
		if op, part := m.enterOn(o, p.class, c, row); op != nil {
			m.leave(op, part, done)
		}
		m.seal(done)
	}
}

// enterOn records that a rank enters its next collective on an object.
func (m *Matcher) enterOn(o *object, class Class, call *Call, row int) (*Collective, int) {
	g := m.group(o.comm)
	if g == nil || o.own < 0 || g.part(row, int(o.own)) >= g.size() {
		return nil, 0
	}
	o.ordinal++
	part := g.part(row, int(o.own))
	c := m.collective(collectiveKey{comm: o.comm, object: o.number, ordinal: o.ordinal}, class, g.size(), g.present)
	m.arrive(c, part, call, row)
	return c, part
}
