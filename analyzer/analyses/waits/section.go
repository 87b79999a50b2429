package waits

import (
	"embed"
	"html/template"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed waits.html.tmpl
var files embed.FS

// Sections are wait states, their root causes, and where ranks waited.
var Sections = []section.Section{{Name: "waits", Title: "Wait states", Files: files, View: view, Functions: template.FuncMap{"explain": Explain}}}

// waitsView is the view of wait states, their root causes, and where ranks waited.
type waitsView struct {
	States []WaitTime
	Causes *rootcauses.RootCauses // nil: not analyzed
	Delays section.Table[rootcauses.Delay]
	Sites  section.Table[SiteWait]
	Pairs  section.Table[PairWait]
}

// waitRows is the maximum number of rows of the tables of causes and call sites.
const waitRows = 12

func view(r *section.Run) any {
	f, causes := section.Of[Findings](r), section.Of[rootcauses.Findings](r)
	if f.Waits == nil {
		return nil
	}
	v := waitsView{
		States: f.Certain(), Causes: causes.RootCauses,
		Sites: section.Table[SiteWait]{Rows: section.First(f.Waits.ByCallSite, waitRows), More: len(f.Waits.ByCallSite) + f.Waits.CallSitesOmitted - len(section.First(f.Waits.ByCallSite, waitRows))},
		Pairs: section.Table[PairWait]{Rows: section.First(f.Waits.ByPair, waitRows), More: len(f.Waits.ByPair) + f.Waits.PairsOmitted - len(section.First(f.Waits.ByPair, waitRows))},
	}
	if causes.RootCauses != nil {
		rows := section.First(causes.Costly(), waitRows)
		v.Delays = section.Table[rootcauses.Delay]{Rows: rows, More: len(causes.RootCauses.Delays) + causes.RootCauses.DelaysOmitted - len(rows)}
	}
	return v
}

// Certain returns the wait states that rounded times alone do not explain.
func (f Findings) Certain() []WaitTime {
	return slices.DeleteFunc(slices.Clone(f.WaitStates), func(w WaitTime) bool { return w.Uncertain() })
}

// Explain describes a wait state.
func Explain(kind string) string {
	return map[string]string{
		"late sender":                                 "a receive was posted before the message was sent",
		"late sender, wrong order, same source":       "of these, waits of ranks that next received a message that the same sender had sent earlier",
		"late sender, wrong order, different sources": "of these, waits of ranks that next received a message that another rank had sent earlier",
		"wait at fence":                               "ranks waited in MPI_Win_fence for the last one to enter",
		"wait at window":                              "ranks waited for the last one to create or free a window",
		"wait at collective file access":              "ranks waited for the last one to join a collective open, close or access of a file",
		"wait at neighborhood collective":             "ranks waited for the last of their neighbors to enter",
		"late post":                                   "a one-sided access began before its target had exposed the window",
		"early wait":                                  "a target waited for the accesses to its window to end",
		"lock contention":                             "a rank waited for a window that another had locked",
		"late receiver":                               "a send began before its receive was posted, and waited for it",
		"late progress":                               "a message was delayed until its partner, which was computing, entered MPI again",
		"wait at NxN":                                 "an all-to-all collective waited for the last rank to enter",
		"wait at barrier":                             "a barrier waited for the last rank to enter",
		"late broadcast":                              "a broadcast or scatter waited for its root, or for a rank that forwards the data",
		"early reduce":                                "the root of a reduction or gather, or a rank that forwards the data, waited for the last of the other ranks",
		"early scan":                                  "a prefix reduction waited for a rank whose data it needs",
		"wait at init":                                "MPI_Init waited for the last rank to be launched",
		"wait at finalize":                            "MPI_Finalize waited for the last rank to arrive",
	}[kind]
}
