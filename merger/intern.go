package merger

import (
	"encoding/binary"
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cespare/xxhash/v2"
)

// An internTable stores every distinct value once and identifies it by a number. Two values have
// the same number if and only if they are equal. The numbers depend on the order of arrival and
// never get into a trace (see export).
//
// In an interned template, Site is 1 + an interned site, and pointers lead to interned allocations.
// In an interned site, Caller is 1 + an interned site.
type internTable struct {
	functions map[uint16]*trace.Function

	sites   []trace.Site
	siteIDs map[siteKey]int32

	allocations   []trace.Allocation // Site is 1 + an interned site
	allocationIDs map[trace.Allocation]int32

	communicators   []trace.Communicator
	communicatorIDs map[string]int32

	templates   []*template // they are large: growing copies pointers
	templateIDs map[string]int32
	names       []string // of special numbers
	nameIDs     map[string]int32
	shapes      []shape
	shapeIDs    map[string]int32

	sequences codec.SequenceTable
}

// siteKey identifies a site: the same offset in the same binary, reached by the same call path if
// paths were recorded. A module without a build id is identified by its name.
type siteKey struct {
	module string
	offset uint64
	caller uint32
}

func (p *internTable) addFunction(f *trace.Function) error {
	if p.functions == nil {
		p.functions = map[uint16]*trace.Function{}
	}
	have := p.functions[f.ID]
	if have == nil {
		p.functions[f.ID] = f
		return nil
	}
	if have.Name != f.Name || len(have.Parameters) != len(f.Parameters) {
		return fmt.Errorf("function %d is %s here and %s in another trace", f.ID, f.Name, have.Name)
	}
	return nil
}

func (p *internTable) addSite(s trace.Site) int32 {
	key := siteKey{s.BuildID, s.Offset, s.Caller}
	if s.BuildID == "" {
		key.module = s.Module
	}
	if id, ok := p.siteIDs[key]; ok {
		p.sites[id] = betterSite(p.sites[id], s)
		return id
	}
	if p.siteIDs == nil {
		p.siteIDs = map[siteKey]int32{}
	}
	id := int32(len(p.sites))
	p.sites = append(p.sites, s)
	p.siteIDs[key] = id
	return id
}

// betterSite chooses between two descriptions of one site: the one with a function, else with a
// file, else the one that sorts first.
func betterSite(a, b trace.Site) trace.Site {
	rank := func(s trace.Site) int {
		switch {
		case s.Function != "" && s.File != "":
			return 0
		case s.Function != "":
			return 1
		case s.File != "":
			return 2
		}
		return 3
	}
	if ra, rb := rank(a), rank(b); ra != rb {
		if ra < rb {
			return a
		}
		return b
	}
	if compareSites(a, b) <= 0 {
		return a
	}
	return b
}

func (p *internTable) addCommunicator(c trace.Communicator) int32 {
	key := string(communicatorKey(&c))
	if id, ok := p.communicatorIDs[key]; ok {
		have := &p.communicators[id]
		// ranks may label it differently; any rule works that is independent of the order
		if have.Label == "" || c.Label != "" && c.Label < have.Label {
			have.Label = c.Label
		}
		return id
	}
	if p.communicatorIDs == nil {
		p.communicatorIDs = map[string]int32{}
	}
	id := int32(len(p.communicators))
	p.communicators = append(p.communicators, c)
	p.communicatorIDs[key] = id
	return id
}

func hashValues(values []int64) uint64 {
	var d xxhash.Digest
	d.Reset()
	var buffer [512]byte
	for len(values) > 0 {
		n := min(len(values), len(buffer)/8)
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint64(buffer[8*i:], uint64(v))
		}
		_, _ = d.Write(buffer[:8*n]) // Write of a hash never fails
		values = values[n:]
	}
	return d.Sum64()
}

// polls reports whether any rank tests for completion without waiting.
func (p *internTable) polls() bool {
	for _, f := range p.functions {
		if f.Semantics().Polls {
			return true
		}
	}
	return false
}
