package callsite

import (
	"path/filepath"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Table is the call sites in the process's records, filled at first sight.
type Table struct {
	Dictionary record.Dictionary // the caller must give it its file
	Closed     bool              // no call site is added any more
	Missed     bool              // Closed kept a record from getting a site; the caller resets it

	process     *record.Process
	known       int              // number of the dictionary's modules when byAddress was last valid
	moves       int              // see Moves
	byAddress   map[uint64]int32 // return address or path -> 1 + index into list; 0: unknown
	bySite      map[trace.Site]int32
	list        []trace.Site
	allocations []trace.Allocation // those of the dictionary, with their sites
	written     int                // length of list when it was last written
}

// New returns a table without call sites.
func New(p *record.Process) *Table {
	return &Table{process: p, byAddress: map[uint64]int32{}, bySite: map[trace.Site]int32{}}
}

// List returns all call sites. The site with number n is List()[n-1].
func (s *Table) List() []trace.Site { return s.list }

// Moves counts the times at which addresses may have come to refer to other code than before.
func (s *Table) Moves() int { return s.moves }

// Refresh reads new entries of the dictionary. A new module may be at the address of
// an unloaded one.
func (s *Table) Refresh() {
	s.Dictionary.Refresh()
	if len(s.Dictionary.Modules) > s.known {
		s.known = len(s.Dictionary.Modules)
		s.byAddress = map[uint64]int32{}
		s.moves++
	}
}

// Of returns 1 + the index of the site of a record, given by its return address or call path; 0 if
// the address is in no known module.
func (s *Table) Of(word uint64) int32 {
	if word == 0 {
		return 0
	}
	if v, ok := s.byAddress[word]; ok {
		return v
	}
	if s.Closed {
		s.Missed = true
		return 0
	}
	var v int32
	if record.IsEntry(word) && word&record.LineTag != 0 {
		v = s.line(word &^ (rawlayout.EntryTag<<rawlayout.EntryShift | record.LineTag))
	} else if record.IsEntry(word) {
		v = s.path(word &^ (rawlayout.EntryTag << rawlayout.EntryShift))
	} else if v = s.at(word, 0); v == 0 {
		s.Refresh()
		v = s.at(word, 0)
	}
	s.byAddress[word] = v
	return v
}

// path returns the innermost site of a call path. The path ends at the first address that
// is in no module.
func (s *Table) path(number uint64) int32 {
	if number >= uint64(len(s.Dictionary.Paths)) {
		s.Refresh()
		if number >= uint64(len(s.Dictionary.Paths)) {
			return 0
		}
	}
	addresses := s.Dictionary.Paths[number]
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
func (s *Table) line(number uint64) int32 {
	if number >= uint64(len(s.Dictionary.Lines)) {
		s.Refresh()
	}
	if number >= uint64(len(s.Dictionary.Lines)) || s.Dictionary.Lines[number].File == "" {
		return 0
	}
	return s.intern(s.Dictionary.Lines[number])
}

// Allocation returns the allocation of a located pointer, nil if it is not in the dictionary.
func (s *Table) Allocation(number uint64) *trace.Allocation {
	if number >= uint64(len(s.allocations)) {
		s.Refresh()
		if number >= uint64(len(s.Allocations())) {
			return nil
		}
	}
	return &s.allocations[number]
}

// Allocations returns the allocations of the dictionary that are known so far, with their sites.
func (s *Table) Allocations() []trace.Allocation {
	for i := len(s.allocations); i < len(s.Dictionary.Allocations); i++ {
		a := s.Dictionary.Allocations[i]
		a.Site = uint32(s.at(s.Dictionary.Origins[i], 0))
		s.allocations = append(s.allocations, a)
	}
	return s.allocations
}

func (s *Table) module(address uint64) *record.Module {
	if m := s.Dictionary.Module(address); m != nil {
		return m
	}
	return s.process.Module(address)
}

// at returns 1 + the index of the site at an address, called from caller; 0 if the address
// is in no module.
func (s *Table) at(address uint64, caller int32) int32 {
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

func (s *Table) intern(site trace.Site) int32 {
	v, ok := s.bySite[site]
	if !ok {
		s.list = append(s.list, site)
		v = int32(len(s.list))
		s.bySite[site] = v
	}
	return v
}
