package matching

import (
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// Wait states by where they were and by who waited for whom. Each location has tables of its own, small enough to be
// kept: kinds times call sites, kinds times partners.

type waitPlace struct {
	Kind     waitstate.Kind
	Function uint16
	Site     uint32
}

// A WaitPartner is a kind of wait state and the location that was waited for.
type WaitPartner struct {
	Kind  waitstate.Kind
	Cause int32 // location
}

// A WaitTally is a number of wait states and how long they were.
type WaitTally struct {
	Count   int
	Ns      int64
	Longest int64 // ns, of one
}

func (t *WaitTally) add(ns int64) {
	t.Count++
	t.Ns += ns
	t.Longest = max(t.Longest, ns)
}

// WaitTables are the wait states of a location by what they are, where, and for whom.
type WaitTables struct {
	Places   map[waitPlace]*WaitTally
	Partners map[WaitPartner]*WaitTally
	// the latest ones: programs repeat themselves
	place       waitPlace
	partner     WaitPartner
	atPlace     *WaitTally
	withPartner *WaitTally
}

func (t *WaitTables) add(s *waitstate.State) {
	place := waitPlace{s.Kind, s.Call.Function, s.Call.Site}
	if t.atPlace == nil || t.place != place {
		if t.Places == nil {
			t.Places, t.Partners = map[waitPlace]*WaitTally{}, map[WaitPartner]*WaitTally{}
		}
		t.place, t.atPlace = place, TallyAt(t.Places, place)
	}
	t.atPlace.add(s.Waited())
	partner := WaitPartner{s.Kind, int32(s.Cause)}
	if t.withPartner == nil || t.partner != partner {
		t.partner, t.withPartner = partner, TallyAt(t.Partners, partner)
	}
	t.withPartner.add(s.Waited())
}

// TallyAt is the tally of a key, which is made if there is none.
func TallyAt[K comparable](m map[K]*WaitTally, k K) *WaitTally {
	if m[k] == nil {
		m[k] = new(WaitTally)
	}
	return m[k]
}
