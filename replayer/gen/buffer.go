package main

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// allocate declares a buffer and allocates its memory, of the size that the counts and datatypes of
// the call require.
func (w *writer) allocate(i int) {
	p := &w.f.Params[i]
	switch w.s.Operation {
	case semantics.WindowCreate:
		w.line("(void)value_%s_;\n\tvoid *%s = cr_memory(c_, %s);", p.Name, p.Name, w.first(mpi.KindAint))
		return
	case semantics.SendBuffers:
		w.line("(void)value_%s_;\n\tvoid *%s = cr_memory(c_, %s);", p.Name, p.Name, w.first(mpi.KindBytes))
		return
	case semantics.MemoryFree:
		w.line("(void)value_%s_;\n\tvoid *%s = cr_next_allocated(c_);", p.Name, p.Name)
		return
	}
	region := "CR_SENT"
	if p.Direction.IsOut() {
		region = "CR_RECEIVED"
	}
	w.line("void *%s = cr_place(c_, value_%s_, %s, %s);", p.Name, p.Name, region, w.span(i))
}

// A side has the parameters that describe a buffer.
type side struct {
	count, displacements, datatype *mpi.Param
}

// with returns the first parameter that has one of some roles.
func (w *writer) with(roles ...semantics.Role) *mpi.Param {
	for _, r := range roles {
		for i, role := range w.s.Roles {
			if role == r {
				return &w.f.Params[i]
			}
		}
	}
	return nil
}

// span is the C expression for the size of a buffer.
func (w *writer) span(i int) string {
	first := i == w.buffer(0)
	switch w.s.Operation {
	case semantics.Pack, semantics.Unpack:
		if first == (w.s.Operation == semantics.Pack) { // data
			return fmt.Sprintf("cr_span(c_, %s, datatype)", w.first(mpi.KindCount))
		}
		return fmt.Sprintf("cr_span(c_, %s, MPI_BYTE)", w.first(mpi.KindBytes))
	}
	if w.s.Completion == semantics.SplitEnd {
		return "(struct span){0, 0}"
	}
	send := side{w.with(semantics.Count), w.with(semantics.Displacements), w.with(semantics.Datatype)}
	receive := side{w.with(semantics.ReceiveCount), w.with(semantics.ReceiveDisplacements), w.with(semantics.ReceiveDatatype)}
	reduces := w.first(mpi.KindOp) != ""
	this, other := send, receive
	switch {
	case receive.datatype == nil: // both buffers are alike
		if send.count == nil {
			this.count = receive.count
		}
		other = side{}
	case !first:
		this, other = receive, send
		if this.displacements == nil { // only the receiving side has any
			this.displacements = send.displacements
		}
	}
	if this.count == nil || this.count.IsArray() || w.s.Operation == semantics.RemoteAccess {
		return w.spanOf(this, "1")
	}
	factor := "1"
	switch w.s.Operation {
	case semantics.OneToAll: // a scatter has two sides
		if other.count != nil && first {
			factor = "cr_size(comm)"
		}
	case semantics.AllToOne:
		if other.count != nil && !first {
			factor = "cr_size(comm)"
		}
	case semantics.AllToAll:
		if reduces && send.count == nil || !reduces && !other.count.IsArray() {
			factor = "cr_size(comm)"
		}
	case semantics.Neighbor:
		if !other.count.IsArray() {
			factor = "cr_neighbors(comm)"
		}
	}
	return w.spanOf(this, factor)
}

// buffer returns the index of the n-th buffer.
func (w *writer) buffer(n int) int {
	for i := range w.f.Params {
		if w.f.Params[i].Kind == mpi.KindBuffer {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// spanOf is the span of a side. factor multiplies a count that is a single number.
func (w *writer) spanOf(s side, factor string) string {
	switch {
	case s.datatype == nil:
		return "(struct span){0, 0}"
	case s.count == nil:
		return fmt.Sprintf("cr_span(c_, 1, %s)", s.datatype.Name)
	case s.datatype.IsArray():
		return fmt.Sprintf("CR_SPANS(c_, n_%s_, %s, %s, %s)", s.count.Name, s.count.Name, s.displacements.Name, s.datatype.Name)
	case s.count.IsArray() && s.displacements != nil:
		return fmt.Sprintf("CR_SPAN_V(c_, n_%s_, %s, %s, %s)", s.count.Name, s.count.Name, s.displacements.Name, s.datatype.Name)
	case s.count.IsArray():
		return fmt.Sprintf("cr_span(c_, CR_SUM(n_%s_, %s), %s)", s.count.Name, s.count.Name, s.datatype.Name)
	}
	if p := w.with(semantics.Partitions); p != nil {
		factor = p.Name
	}
	if factor == "1" {
		return fmt.Sprintf("cr_span(c_, %s, %s)", s.count.Name, s.datatype.Name)
	}
	return fmt.Sprintf("cr_span(c_, cr_times(c_, %s, %s), %s)", s.count.Name, factor, s.datatype.Name)
}
