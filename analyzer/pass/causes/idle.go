package causes

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// idleRanks is ranks that get no work: they compute hardly at all, make few calls and wait, while
// others compute. A master makes many calls.
type idleRanks struct{}

// suggest assumes that the idle ranks do their share of the others' work.
func (idleRanks) suggest(e *evidence) []Hypothesis {
	idle, busy := e.idle()
	if len(idle) == 0 || len(busy) < 2 {
		return nil
	}
	factors := map[int]float64{}
	for _, w := range busy {
		factors[e.MainOf[w.Row]] = float64(len(busy)) / float64(len(busy)+len(idle))
	}
	account := &e.Each[e.MainOf[idle[0].Row]]
	where, most := accounts.Activity{}, int64(-1)
	for _, what := range account.Activities() {
		if t := account.Tallies[what]; !what.Computes() && t.Waited > most {
			where, most = what, t.Waited
		}
	}
	h := Hypothesis{width: allRanks, Cause: e.causeOf(verdict.Imbalance, idle, where), change: scaled(factors, nil)}
	s := verdict.Spread{Ranks: e.Listed(busy), Least: busy[0].Useful, Mean: outliers.MeanUseful(busy), MaxRank: e.Ranks[busy[0].Row].Rank}
	for _, w := range busy {
		if s.Least = min(s.Least, w.Useful); w.Useful > s.Most {
			s.Most, s.MaxRank = w.Useful, e.Ranks[w.Row].Rank
		}
	}
	h.Cause.Form, h.Cause.Spread, h.Cause.EachSeconds = verdict.Idle, &s, accounts.Seconds(most)
	h.What = fmt.Sprintf("%s shared the work of the others", h.Cause.Who())
	h.Assumes = "The computations of the other ranks become shorter by that share; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}

// idle returns the ranks without work, and those with work.
func (e *evidence) idle() (idle, busy []outliers.Worker) {
	all := e.everyone()
	most, calls, n := 0.0, 0.0, 0.0
	for _, w := range all {
		most = max(most, w.Useful)
	}
	for _, w := range all {
		if w.Useful >= serialShare*most {
			busy = append(busy, w)
			calls += float64(e.Each[e.MainOf[w.Row]].Calls)
			n++
		}
	}
	for _, w := range all {
		a := &e.Each[e.MainOf[w.Row]]
		if w.Useful < serialShare*most && float64(a.Calls) < fewCalls*calls/n && e.Share(a.Waited) >= explains {
			idle = append(idle, w)
		}
	}
	return idle, busy
}
