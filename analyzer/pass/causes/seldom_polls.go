package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// seldomPolls is ranks that are idle between polls, and find what has come only with the next one.
type seldomPolls struct{}

// suggest assumes that polls at the call site with the longest such time find at once what has
// come.
func (seldomPolls) suggest(e *evidence) []Hypothesis {
	where, set := latestPolls(e)
	if len(set) == 0 || !e.isWorthIt(int64(set[0].Useful*1e9)) {
		return nil
	}
	named := set
	if float64(len(set)) > maxRanks*float64(len(e.Ranks)) {
		named = nil
	}
	h := Hypothesis{width: ofMessages, Cause: e.causeOf(verdict.LateReceiver, named, where)}
	h.Cause.Form = verdict.Seldom
	idle, gaps := int64(0), uint64(0)
	for _, w := range set {
		t := e.TallyOf(w, where)
		idle, gaps = idle+t.Idle, gaps+t.Gaps
	}
	h.Cause.EachSeconds = accounts.Seconds(idle) / float64(max(1, gaps))
	t := e.Total[where]
	left := float64(t.Own()) / float64(max(1, t.Ns-t.Waited))
	h.change = change{keeps: func(function uint16, site uint32) float64 {
		if function == where.Function && site == where.Site {
			return left
		}
		return 1
	}}
	h.What = "polls in " + h.Cause.Before.At() + " found at once what had come"
	h.Assumes = "These calls take as long as they are inside MPI, and end as soon as what they ask for is there."
	return []Hypothesis{h}
}

// latestPolls returns the call site of polls between which ranks are idle longest although what
// they ask for has come, and the ranks that are at least half as long as the first of them, longest
// first.
func latestPolls(e *evidence) (where accounts.Activity, set []outliers.Worker) {
	most := int64(0)
	for what, t := range e.Total {
		if late := t.Late(); late > most || late == most && late > 0 && what.Less(where) {
			where, most = what, late
		}
	}
	if most == 0 {
		return where, nil
	}
	for row, i := range e.MainOf {
		if i >= 0 && e.Each[i].Tallies[where] != nil {
			set = append(set, outliers.Worker{Row: row, Useful: accounts.Seconds(e.Each[i].Tallies[where].Late())})
		}
	}
	return where, atLeastHalf(set)
}
