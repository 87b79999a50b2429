package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// Wait states by where they were and by who waited for whom. Each location has tables of its own, small enough to be
// kept: kinds times call sites, kinds times partners.

type waitPlace struct {
	kind     waitstate.Kind
	function uint16
	site     uint32
}

type waitPartner struct {
	kind  waitstate.Kind
	cause int32 // location
}

type waitTally struct {
	count   int
	ns      int64
	longest int64 // ns, of one
}

func (t *waitTally) add(ns int64) {
	t.count++
	t.ns += ns
	t.longest = max(t.longest, ns)
}

type waitTables struct {
	places   map[waitPlace]*waitTally
	partners map[waitPartner]*waitTally
	// the latest ones: programs repeat themselves
	place       waitPlace
	partner     waitPartner
	atPlace     *waitTally
	withPartner *waitTally
}

func (t *waitTables) add(s *waitstate.State) {
	place := waitPlace{s.Kind, s.Call.Function, s.Call.Site}
	if t.atPlace == nil || t.place != place {
		if t.places == nil {
			t.places, t.partners = map[waitPlace]*waitTally{}, map[waitPartner]*waitTally{}
		}
		t.place, t.atPlace = place, tallyAt(t.places, place)
	}
	t.atPlace.add(s.Waited())
	partner := waitPartner{s.Kind, int32(s.Cause)}
	if t.withPartner == nil || t.partner != partner {
		t.partner, t.withPartner = partner, tallyAt(t.partners, partner)
	}
	t.withPartner.add(s.Waited())
}

func tallyAt[K comparable](m map[K]*waitTally, k K) *waitTally {
	if m[k] == nil {
		m[k] = new(waitTally)
	}
	return m[k]
}
