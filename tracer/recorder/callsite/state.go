package callsite

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
)

// Encode writes the sites since its last call, or all of them.
func (s *Table) Encode(e *checkpoint.Encoder, everything bool) {
	if everything {
		s.written = 0
	}
	added := s.list[s.written:]
	v := checkpoint.Visitor{To: e}
	checkpoint.List(v, &added, func(site *trace.Site) { visit(v, site) })
	s.written = len(s.list)
}

// Decode adds the sites that Encode wrote.
func (s *Table) Decode(d *checkpoint.Decoder) {
	var added []trace.Site
	v := checkpoint.Visitor{From: d}
	checkpoint.List(v, &added, func(site *trace.Site) { visit(v, site) })
	for _, site := range added {
		s.intern(site)
	}
}

func visit(v checkpoint.Visitor, s *trace.Site) {
	v.Text(&s.BuildID)
	v.Text(&s.Module)
	checkpoint.Uint(v, &s.Offset)
	checkpoint.Uint(v, &s.Caller)
	v.Text(&s.Function) // of a line; other functions are resolved later
	v.Text(&s.File)
	checkpoint.Uint(v, &s.Line)
}

// Memory estimates the memory of the table in bytes.
func (s *Table) Memory() int {
	const site = 120 // trace.Site, whose texts are shared
	return len(s.byAddress)*identity.WordBytes + len(s.list)*(site+2*site)
}
