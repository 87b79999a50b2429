package recorder

import (
	"path/filepath"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// sites is the table of the call sites in the process's records, filled at first sight.
type sites struct {
	process     *record.Process
	dictionary  record.Dictionary
	known       int             // number of the dictionary's modules when byAddress was last valid
	byAddress   *identity.Table // return address or path -> 1 + index into list; 0: unknown
	bySite      map[trace.Site]int32
	list        []trace.Site
	allocations []trace.Allocation // those of the dictionary, with their sites
	closed      bool               // no call site is added any more
	missed      bool               // closed kept the current record from getting a site
	moved       func()             // called when addresses may refer to other code than before
}

func newSites(p *record.Process) *sites {
	return &sites{process: p, byAddress: identity.NewTable(), bySite: map[trace.Site]int32{}, moved: func() {}}
}

// refresh reads new entries of the dictionary. A new module may be at the address of
// an unloaded one.
func (s *sites) refresh() {
	s.dictionary.Refresh()
	if len(s.dictionary.Modules) > s.known {
		s.known = len(s.dictionary.Modules)
		s.byAddress = identity.NewTable()
		s.moved()
	}
}

// of returns 1 + the index of the site of a record, given by its return address or call path; 0 if
// the address is in no known module.
func (s *sites) of(word uint64) int32 {
	if word == 0 {
		return 0
	}
	if v, ok := s.byAddress.Get(word); ok {
		return v
	}
	if s.closed {
		s.missed = true
		return 0
	}
	var v int32
	if record.IsEntry(word) && word&record.LineTag != 0 {
		v = s.line(word &^ (record.EntryTag<<record.EntryShift | record.LineTag))
	} else if record.IsEntry(word) {
		v = s.path(word &^ (record.EntryTag << record.EntryShift))
	} else if v = s.at(word, 0); v == 0 {
		s.refresh()
		v = s.at(word, 0)
	}
	s.byAddress.Put(word, v)
	return v
}

// path returns the innermost site of a call path. The path ends at the first address that
// is in no module.
func (s *sites) path(number uint64) int32 {
	if number >= uint64(len(s.dictionary.Paths)) {
		s.refresh()
		if number >= uint64(len(s.dictionary.Paths)) {
			return 0
		}
	}
	addresses := s.dictionary.Paths[number]
	outermost := 0
	for outermost < len(addresses) && s.module(addresses[outermost]) != nil {
		outermost++
	}
	var v int32
	for i := outermost - 1; i >= 0; i-- {
		v = s.at(addresses[i], v)
	}
	return v
}

// line returns the site of a line of an interpreter's source file.
func (s *sites) line(number uint64) int32 {
	if number >= uint64(len(s.dictionary.Lines)) {
		s.refresh()
	}
	if number >= uint64(len(s.dictionary.Lines)) || s.dictionary.Lines[number].File == "" {
		return 0
	}
	return s.intern(s.dictionary.Lines[number])
}

// allocation returns the allocation of a located pointer, nil if it is not in the dictionary.
func (s *sites) allocation(number uint64) *trace.Allocation {
	if number >= uint64(len(s.allocations)) {
		s.refresh()
		s.loadAllocations()
		if number >= uint64(len(s.allocations)) {
			return nil
		}
	}
	return &s.allocations[number]
}

// loadAllocations resolves the sites of the dictionary's allocations.
func (s *sites) loadAllocations() {
	for i := len(s.allocations); i < len(s.dictionary.Allocations); i++ {
		a := s.dictionary.Allocations[i]
		a.Site = uint32(s.at(s.dictionary.Origins[i], 0))
		s.allocations = append(s.allocations, a)
	}
}

func (s *sites) module(address uint64) *record.Module {
	if m := s.dictionary.Module(address); m != nil {
		return m
	}
	return s.process.Module(address)
}

// at returns 1 + the index of the site at an address, called from caller; 0 if the address
// is in no module.
func (s *sites) at(address uint64, caller int32) int32 {
	m := s.module(address)
	if m == nil || address == 0 {
		return 0
	}
	site := trace.Site{BuildID: m.BuildID, Module: filepath.Base(m.Path), Offset: address - uint64(m.Base), Caller: uint32(caller)}
	if site.BuildID == "" {
		site.BuildID = m.Path
	}
	return s.intern(site)
}

func (s *sites) intern(site trace.Site) int32 {
	v, ok := s.bySite[site]
	if !ok {
		s.list = append(s.list, site)
		v = int32(len(s.list))
		s.bySite[site] = v
	}
	return v
}

// Dictionary returns the dictionary, to which the caller must give its file.
func (r *Recorder) Dictionary() *record.Dictionary { return &r.sites.dictionary }

// SiteOf returns 1 + the index of the call site of a record's address word, 0 if it is not known.
func (r *Recorder) SiteOf(word uint64) int32 { return r.sites.of(word) }
