package causes

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// slowWorkers is a worker that takes longer for a task than the others.
type slowWorkers struct{}

func (slowWorkers) suggest(e *evidence) (list []Hypothesis) {
	regions := e.unevenRegions()
	for _, what := range regions {
		if h := slowWorker(e, what, len(regions)+1); h != nil {
			list = append(list, *h)
		}
	}
	return list
}

// slowWorker returns the hypothesis about a rank that takes longer per task and gets fewer tasks,
// because a master gives tasks to whichever rank is ready. The replay keeps the assignment of
// tasks. A faster rank would mainly get more of them; that gain is estimated from the tasks per
// second of all ranks.
func slowWorker(e *evidence, what accounts.Activity, questions int) *Hypothesis {
	all := e.Workers(outliers.Spent, outliers.Only(what))
	each := make([]outliers.Worker, 0, len(all))
	counts, totals := map[int]float64{}, map[int]float64{}
	for _, w := range all {
		t := e.TallyOf(w, what)
		ns, _ := e.Each[e.MainOf[w.Row]].Undelayed(what)
		n := float64(t.Count)
		counts[w.Row], totals[w.Row] = n, w.Useful
		each = append(each, outliers.Worker{Row: w.Row, Useful: float64(ns) / n / 1e9, Variance: t.Variance() / n})
	}
	set, mean := e.Outliers(each, outliers.Doubtful/float64(questions), longer)
	if len(set) != 1 {
		return nil
	}
	slow := set[0]
	others, tasks, total := 0.0, 0.0, 0.0
	for _, w := range each {
		if w.Row != slow.Row {
			others++
			tasks += counts[w.Row]
			total += totals[w.Row]
		}
	}
	if others < 1 || counts[slow.Row] > 0.8*tasks/others {
		return nil // it has as many tasks as the others
	}
	h := Hypothesis{width: oneRegion, promise: (slow.Useful - mean) * counts[slow.Row], Cause: e.causeOf(verdict.Excess, set, what)}
	h.Cause.Form = verdict.Always
	compareEach(e, &h.Cause, slow, outliers.Except(all, set), what)
	setReason(e, &h.Cause, set, outliers.Except(all, set), what, true)
	h.change = scaled(map[int]float64{e.MainOf[slow.Row]: mean / slow.Useful}, &what)
	now, then, longest := 0.0, 0.0, 0.0
	for _, w := range each {
		now += 1 / w.Useful
		then += 1 / min(w.Useful, mean)
		longest = max(longest, totals[w.Row])
	}
	workers := others + 1
	busy := (total + totals[slow.Row]) / workers
	// computation of each rank if tasks were divided evenly
	equal := (total + counts[slow.Row]*mean) / workers
	h.estimated = int64(max(busy*(1-now/then), longest-equal) * 1e9)
	h.What = fmt.Sprintf("%s took as long for a task as the others", h.Cause.Who())
	h.Assumes = "Its tasks take as long as those of the others. Tasks go to whoever is ready, so all together are done faster by what this rank is faster, at least."
	return &h
}
