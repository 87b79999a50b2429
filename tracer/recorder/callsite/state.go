package callsite

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// Encode writes the sites since its last call, or all of them.
func (s *Table) Encode(e *checkpoint.Encoder, everything bool) {
	if everything {
		s.written = 0
	}
	e.Uint(uint64(len(s.list) - s.written))
	for _, site := range s.list[s.written:] {
		e.Text(site.BuildID)
		e.Text(site.Module)
		e.Uint(site.Offset)
		e.Uint(uint64(site.Caller))
		e.Text(site.Function) // of a line; other functions are resolved later
		e.Text(site.File)
		e.Uint(uint64(site.Line))
	}
	s.written = len(s.list)
}

// Decode adds the sites that Encode wrote.
func (s *Table) Decode(d *checkpoint.Decoder) {
	for range d.Count() {
		s.intern(trace.Site{BuildID: d.Text(), Module: d.Text(), Offset: d.Uint(), Caller: uint32(d.Uint()),
			Function: d.Text(), File: d.Text(), Line: int(d.Uint())})
	}
}

// Memory estimates the memory of the table in bytes.
func (s *Table) Memory() int {
	const site = 120 // trace.Site, whose texts are shared
	return s.byAddress.Memory() + len(s.list)*(site+2*site)
}
