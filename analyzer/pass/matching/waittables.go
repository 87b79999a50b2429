package matching

import (
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// Sums of wait states by call site and by partner. Each location has its own tables. They are small
// enough to be kept in memory: kinds times call sites, kinds times partners.

type waitSite struct {
	Kind     waitstate.Kind
	Function uint16
	Site     uint32
}

// A WaitPartner is a kind of wait state with the location that was waited for.
type WaitPartner struct {
	Kind  waitstate.Kind
	Cause int32 // location
}

// A WaitTally is the number and duration of wait states.
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

// WaitTables are the wait states of a location by kind and call site, and by kind and partner.
type WaitTables struct {
	Sites    map[waitSite]*WaitTally
	Partners map[WaitPartner]*WaitTally
	// a cache of the latest entries, because programs repeat themselves
	site        waitSite
	partner     WaitPartner
	atSite      *WaitTally
	withPartner *WaitTally
}

func (t *WaitTables) add(s *waitstate.State) {
	site := waitSite{s.Kind, s.Call.Function, s.Call.Site}
	if t.atSite == nil || t.site != site {
		if t.Sites == nil {
			t.Sites, t.Partners = map[waitSite]*WaitTally{}, map[WaitPartner]*WaitTally{}
		}
		t.site, t.atSite = site, TallyAt(t.Sites, site)
	}
	t.atSite.add(s.Waited())
	partner := WaitPartner{s.Kind, int32(s.Cause)}
	if t.withPartner == nil || t.partner != partner {
		t.partner, t.withPartner = partner, TallyAt(t.Partners, partner)
	}
	t.withPartner.add(s.Waited())
}

// TallyAt returns the tally of a key and adds it if necessary.
func TallyAt[K comparable](m map[K]*WaitTally, k K) *WaitTally {
	if m[k] == nil {
		m[k] = new(WaitTally)
	}
	return m[k]
}
