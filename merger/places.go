package merger

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// Targets of references in signatures and evidence: call sites with their call paths, and the
// allocations that pointers lead to.

func (p *internTable) addAllocation(s trace.Allocation) int32 {
	if id, ok := p.allocationIDs[s]; ok {
		return id
	}
	if p.allocationIDs == nil {
		p.allocationIDs = map[trace.Allocation]int32{}
	}
	id := int32(len(p.allocations))
	p.allocations = append(p.allocations, s)
	p.allocationIDs[s] = id
	return id
}

// withAllocations returns the signature with the allocations of its pointers replaced. numbers has
// the new number of each allocation.
func withAllocations(s trace.Signature, numbers []int32) trace.Signature {
	if len(numbers) == 0 {
		return s
	}
	s.In, s.Out = replaceAllocations(s.In, numbers), replaceAllocations(s.Out, numbers)
	return s
}

func replaceAllocations(values []trace.Value, numbers []int32) []trace.Value {
	values = slices.Clone(values)
	for i := range values {
		v := &values[i]
		if v.Form == trace.Pointer && v.Int > 0 {
			v.Int = int64(numbers[v.Int-1]) + 1
		}
		if len(v.List) > 0 {
			v.List = replaceAllocations(v.List, numbers)
		}
	}
	return values
}

// allocationsOf lists the allocations that a signature's pointers lead to, in order.
func allocationsOf(s *trace.Signature) []int32 {
	var ids []int32
	var walk func(values []trace.Value)
	walk = func(values []trace.Value) {
		for i := range values {
			if v := &values[i]; v.Form == trace.Pointer && v.Int > 0 {
				ids = append(ids, int32(v.Int-1))
			}
			walk(values[i].List)
		}
	}
	walk(s.In)
	walk(s.Out)
	return ids
}

// siteIdentity encodes a site, given as 1 + its number, with its path, independent of intern table
// numbers. The outermost caller comes first, so that a caller sorts before its callees.
func (p *internTable) siteIdentity(site uint32) []byte {
	var path []*trace.Site
	for s := site; s > 0; s = p.sites[s-1].Caller {
		path = append(path, &p.sites[s-1])
	}
	var b []byte
	for _, s := range slices.Backward(path) {
		b = append(append(b, s.BuildID...), 0)
		b = append(append(b, s.Module...), 0)
		b = binary.BigEndian.AppendUint64(b, s.Offset)
	}
	return b
}

func (p *internTable) allocationIdentity(allocation int32) []byte {
	s := &p.allocations[allocation]
	b := []byte{byte(s.Kind)}
	b = binary.BigEndian.AppendUint32(b, uint32(s.Number))
	b = binary.BigEndian.AppendUint64(b, s.Size)
	b = binary.BigEndian.AppendUint32(b, uint32(s.Ordinal))
	return append(b, p.siteIdentity(s.Site)...)
}

// A sourceSites gives each site, as 1 + its number, the one that stands for it in a trace.
//
// In a finished trace, calls from one place in the source have one site. Inlining, loop unrolling,
// jump threading and templates make several addresses of one call of the source, and so does one
// source in several binaries. Two sites are one if function, file and line are equal, and their
// callers are one. The function counts without template arguments, since all instances of a
// template have one text. A column or a binary does not count: calls on one line are one site.
// Without a line nothing is known of the source, and each address is a site of its own. Functions
// that are arguments, and the origins of allocations, remain apart: they are identities of the
// program.
//
// If call paths were not asked for, callers were recorded only where the function of the call may
// be a wrapper. Then a call has the site that wrappers.go chooses, without callers.
//
// This is the only place where sites become one: all readers identify the location of a call by
// Signature.Site.
type sourceSites struct {
	ofCall   []uint32 // nil: each site stands for itself
	ofCaller []uint32 // on the path of another site; nil, too
}

func (s *sourceSites) of(site uint32) uint32 { return standsFor(s.ofCall, site) }

func (s *sourceSites) caller(site uint32) uint32 { return standsFor(s.ofCaller, site) }

func standsFor(table []uint32, site uint32) uint32 {
	if table == nil {
		return site
	}
	return table[site]
}

// sources finds the sites that are one.
func (p *internTable) sources(callPaths bool) sourceSites {
	if callPaths {
		one := p.oneInSource()
		return sourceSites{one, one}
	}
	shown := p.withoutWrappers()
	one := p.oneInSource()
	for site := range shown {
		shown[site] = one[shown[site]]
	}
	return sourceSites{ofCall: shown}
}

// oneInSource returns for each site the one that stands for all that are one with it: the first one
// by identity, so that the result does not depend on the order of arrival.
func (p *internTable) oneInSource() []uint32 {
	type key struct {
		trace.Source
		caller uint32 // the first site in order of arrival that is one with the caller
	}
	first := map[key]uint32{}
	group := make([]uint32, len(p.sites)+1) // the first site in order of arrival
	stands := make([]uint32, len(p.sites)+1)
	for i := range p.sites { // callers come before their callees
		s, site := &p.sites[i], uint32(i)+1
		group[site], stands[site] = site, site
		source, known := s.Source()
		if !known {
			continue
		}
		at := key{source, group[s.Caller]}
		if before, known := first[at]; known {
			group[site] = before
			if bytes.Compare(p.siteIdentity(site), p.siteIdentity(stands[before])) < 0 {
				stands[before] = site
			}
		} else {
			first[at] = site
		}
	}
	for site, before := range group {
		stands[site] = stands[before]
	}
	return stands
}

// exportSites writes the sites and allocations that the signatures and the ranks of c use, with all
// callers, and replaces references to them in c by the written numbers.
func (p *internTable) exportSites(c *trace.Content, sources *sourceSites) {
	sites, allocations := map[uint32]bool{}, map[int32]bool{}
	use := func(site uint32) {
		for ; site > 0 && !sites[site]; site = sources.caller(p.sites[site-1].Caller) {
			sites[site] = true
		}
	}
	c.Ranks.ReplaceSites(sources.of)
	for i := range c.Signatures {
		c.Signatures[i].WithSites(func(site uint32) uint32 {
			use(site)
			return site
		})
		for _, id := range allocationsOf(&c.Signatures[i]) {
			if !allocations[id] {
				allocations[id] = true
				use(p.allocations[id].Site)
			}
		}
	}

	for call := range c.Ranks.EvidenceCalls() {
		use(call.Site)
	}

	siteNumber := map[uint32]uint32{0: 0}
	for i, site := range inOrder(sites, p.siteIdentity) {
		siteNumber[site] = uint32(i) + 1
		s := p.sites[site-1]
		s.Caller = siteNumber[sources.caller(s.Caller)] // callers sort before their callees
		c.Sites = append(c.Sites, s)
	}
	c.Ranks.ReplaceSites(func(site uint32) uint32 { return siteNumber[site] })
	allocationNumber := make([]int32, len(p.allocations))
	for i, id := range inOrder(allocations, p.allocationIdentity) {
		allocationNumber[id] = int32(i)
		s := p.allocations[id]
		s.Site = siteNumber[s.Site]
		c.Allocations = append(c.Allocations, s)
	}
	for i := range c.Signatures {
		s := c.Signatures[i].WithSites(func(site uint32) uint32 { return siteNumber[site] })
		if len(allocations) > 0 {
			s = withAllocations(s, allocationNumber)
		}
		c.Signatures[i] = s
	}
}

// inOrder sorts the members of a set by their identity.
func inOrder[T uint32 | int32](set map[T]bool, identity func(T) []byte) []T {
	type member struct {
		id       T
		identity []byte
	}
	members := make([]member, 0, len(set))
	for id := range set {
		members = append(members, member{id, identity(id)})
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.identity, b.identity) })
	ids := make([]T, len(members))
	for i := range members {
		ids[i] = members[i].id
	}
	return ids
}
