package recorder

import (
	"path/filepath"

	"github.com/cairn-mpi/cairn/trace"
)

// sites is the table of call sites of the process, filled at first sight.
type sites struct {
	process   *Process
	byAddress *rawTable // return address -> 1 + index into list; 0: unknown
	byPlace   map[trace.Site]int32
	list      []trace.Site
}

func newSites(p *Process) *sites {
	return &sites{process: p, byAddress: newRawTable(), byPlace: map[trace.Site]int32{}}
}

// of is 1 + the index of the site of a return address; 0 when the address is in no module that we know.
func (s *sites) of(address uint64) int32 {
	if address == 0 {
		return 0
	}
	if v, ok := s.byAddress.get(address); ok {
		return v
	}
	var v int32
	if m := s.process.module(address); m != nil {
		place := trace.Site{BuildID: m.BuildID, Module: filepath.Base(m.Path), Offset: address - uint64(m.Base)}
		if place.BuildID == "" {
			place.BuildID = m.Path
		}
		v = s.place(place)
	}
	s.byAddress.put(address, v)
	return v
}

func (s *sites) place(place trace.Site) int32 {
	v, ok := s.byPlace[place]
	if !ok {
		s.list = append(s.list, place)
		v = int32(len(s.list))
		s.byPlace[place] = v
	}
	return v
}
