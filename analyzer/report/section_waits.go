package report

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
)

// waitsView is the wait states, what all the waiting is put down to, and where ranks waited.
type waitsView struct {
	States []waits.WaitTime
	Causes *rootcauses.RootCauses
	Delays table[rootcauses.Delay]
	Sites  table[waits.SiteWait]
	Pairs  table[waits.PairWait]
}

// waitRows bounds the tables of what was waited for and where.
const waitRows = 12

func viewWaits(r *Report) any {
	if r.Waits == nil || r.RootCauses == nil {
		return nil
	}
	delays := r.rootCauses()
	return waitsView{
		States: r.certainWaits(), Causes: r.RootCauses,
		Delays: table[rootcauses.Delay]{first(delays, waitRows), len(r.RootCauses.Delays) + r.RootCauses.DelaysOmitted - len(first(delays, waitRows))},
		Sites:  table[waits.SiteWait]{first(r.Waits.ByCallSite, waitRows), len(r.Waits.ByCallSite) + r.Waits.CallSitesOmitted - len(first(r.Waits.ByCallSite, waitRows))},
		Pairs:  table[waits.PairWait]{first(r.Waits.ByPair, waitRows), len(r.Waits.ByPair) + r.Waits.PairsOmitted - len(first(r.Waits.ByPair, waitRows))},
	}
}

// certainWaits are the wait states that rounded times alone do not explain.
func (r *Report) certainWaits() []waits.WaitTime {
	return slices.DeleteFunc(slices.Clone(r.WaitStates), func(w waits.WaitTime) bool { return w.Uncertain() })
}

// rootCauses are the delays that caused at least one per cent of all the waiting, costliest first.
func (r *Report) rootCauses() []rootcauses.Delay {
	if r.RootCauses == nil {
		return nil
	}
	const minShare = 0.01
	var list []rootcauses.Delay
	for _, d := range r.RootCauses.Delays {
		if d.ShortTerm+d.LongTerm >= minShare*r.RootCauses.WaitingSeconds && d.ShortTerm+d.LongTerm > 0 {
			list = append(list, d)
		}
	}
	return list
}

// explain says what happens in a wait state.
func explain(kind string) string {
	return map[string]string{
		"late sender":                                 "a receive was there before the message was sent",
		"late sender, wrong order, same source":       "of these, those who received next what the same sender had sent earlier",
		"late sender, wrong order, different sources": "of these, those who received next what another rank had sent earlier",
		"wait at fence":                               "ranks waited in MPI_Win_fence for the last one to enter",
		"wait at window":                              "ranks waited for the last one to create or free a window",
		"wait at collective file access":              "ranks waited for the last one to take part in opening, closing or accessing a file together",
		"wait at neighborhood collective":             "ranks waited for the last of their neighbors to enter",
		"late post":                                   "one-sided access began before its target had exposed its window",
		"early wait":                                  "a target waited for the end of the accesses to its window",
		"lock contention":                             "a rank waited for a window that another had locked",
		"late receiver":                               "a send was there before its receive, and waited for it",
		"late progress":                               "a message was held up until the partner, busy computing, entered MPI again",
		"wait at NxN":                                 "a collective of all with all waited for the last to enter",
		"wait at barrier":                             "a barrier waited for the last to enter",
		"late broadcast":                              "a broadcast or scatter waited for its root, or for a rank that passes the data on",
		"early reduce":                                "the root of a reduction or gather, or a rank that passes the data on, waited for the last of the others",
		"early scan":                                  "a prefix reduction waited for another rank that it needs",
		"wait at init":                                "MPI_Init waited for the last rank to be launched",
		"wait at finalize":                            "MPI_Finalize waited for the last rank to arrive",
	}[kind]
}
