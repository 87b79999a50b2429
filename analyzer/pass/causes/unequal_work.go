package causes

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// unequalWork is work that is divided unequally. If no rank stands out, work may still be divided
// unequally: each rank has somewhat more than the one before, or in each iteration another one has
// most. Two conditions must hold for the verdict to report it:
//
//   - Equal work shortens the run in the replay: in each region every rank computes the mean of
//     all, in total or in each iteration.
//   - It is not noise: the ranks' totals differ by more than their own variation explains, or the
//     iterations of different ranks are more unequal than noise makes them.
type unequalWork struct{}

// unequalRanks returns the ranks among which work is divided unequally, nil if it is not. If ranks
// shared CPUs and single computations were not measured, only undisturbed time counts.
func unequalRanks(e *evidence, shared bool) []outliers.Worker {
	measures := e.Measures()
	if shared {
		measures = measures[:1]
	}
	for _, m := range measures {
		groups := e.Roles(e.Workers(m, nil))
		for _, group := range groups {
			if differ(e, group, m, outliers.Doubtful/float64(len(groups)*len(measures))) {
				return group
			}
		}
	}
	return nil
}

// differ reports whether the computation of ranks differs by more than their own variation explains
// (χ² test) and by enough to matter.
func differ(e *evidence, workers []outliers.Worker, m outliers.Measure, alpha float64) bool {
	if len(workers) < 2 {
		return false
	}
	mean := outliers.MeanUseful(workers)
	busiest := slices.MaxFunc(workers, func(x, y outliers.Worker) int { return cmp.Compare(x.Useful, y.Useful) })
	if mean <= 0 || busiest.Useful < m.Ratio*mean || busiest.Useful-mean < minExcess*accounts.Seconds(e.Run()) {
		return false
	}
	sum := 0.0
	for _, w := range workers {
		deviation := w.Useful - mean
		sum += deviation * deviation / (w.Variance + outliers.MinSpread*outliers.MinSpread*mean*mean)
	}
	if sum < (distuv.ChiSquared{K: float64(len(workers) - 1)}).Quantile(1-alpha) {
		return false
	}
	if !m.Doubted {
		return true
	}
	upper := upperQuarter(workers)
	if e.Sums {
		return e.BeyondDisturbance(upper, mean)
	}
	return e.Lasting(upper, workers, nil)
}

// upperQuarter returns the busiest quarter of ranks: at least one, and only ranks that compute
// longer than the mean.
func upperQuarter(workers []outliers.Worker) []outliers.Worker {
	sorted := slices.Clone(workers)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Useful > sorted[j].Useful })
	mean := outliers.MeanUseful(sorted)
	n := max(1, len(sorted)/4)
	for n > 1 && sorted[n-1].Useful <= mean {
		n--
	}
	return sorted[:n]
}

// mostUnequal returns the region in which ranks differ most, by the sum of their times beyond the
// mean.
func mostUnequal(e *evidence, workers []outliers.Worker) (region accounts.Activity) {
	most := -1.0
	for what := range e.Total {
		if !what.Computes() {
			continue
		}
		mean, beyond := 0.0, 0.0
		times := make([]float64, len(workers))
		for i, w := range workers {
			if t := e.TallyOf(w, what); t != nil {
				times[i] = accounts.Seconds(t.Ns)
				mean += times[i] / float64(len(workers))
			}
		}
		for _, seconds := range times {
			beyond += max(0, seconds-mean)
		}
		if beyond > most || beyond == most && what.Less(region) {
			most, region = beyond, what
		}
	}
	return region
}

// equalWork and equalEachTime name the hypotheses.
const (
	equalWork     = "all ranks had equal work"
	equalEachTime = "all ranks had equal work each time"
)

// equalMeans describes the assumptions of equal work.
const equalMeans = "In each computation between two calls every rank that works there spends the mean of these, %s; calls keep their own cost, waiting follows. Serial work and a master's stay where they are."

// suggest assumes that all ranks have equal work, in total.
func (unequalWork) suggest(e *evidence) []Hypothesis {
	inTotal, _ := e.evenly()
	h := Hypothesis{width: allRanks, change: inTotal, Cause: verdict.Cause{Kind: verdict.Imbalance}}
	h.What, h.Assumes = equalWork, fmt.Sprintf(equalMeans, "in total")
	if e.OfLeads {
		h.estimated = unevenOnPath(e)
	}
	workers := unequalRanks(e, e.shared && !e.HasEvidence())
	if workers == nil {
		h.doubt = func(*Hypothesis, *played) bool { return true }
		return []Hypothesis{h}
	}
	cause := imbalance(e, workers, mostUnequal(e, workers), nil)
	if cause.BlockedSeconds > 0 && cause.Ranks != "" {
		h.doubt = func(*Hypothesis, *played) bool { return true } // no work that could be divided
		return []Hypothesis{h, blockedLonger(e, cause, workers)}
	}
	h.Cause, h.chance = cause, cause.BlockedSeconds == 0 && byChance(e, workers, nil)
	return []Hypothesis{h}
}

// blockedLonger assumes that the ranks of a cause, which are blocked in the kernel longer than the
// rest of workers, take as long as these.
func blockedLonger(e *evidence, cause verdict.Cause, workers []outliers.Worker) Hypothesis {
	set := slices.DeleteFunc(slices.Clone(workers), func(w outliers.Worker) bool { return !slices.Contains(cause.List(), e.Ranks[w.Row].Rank) })
	h := Hypothesis{width: allRanks, Cause: cause, change: likeTheOthers(e, set, outliers.Except(workers, set), nil, false)}
	h.What = cause.Who() + " took as long as the others"
	h.Assumes = "Their computation, and the time that they are blocked in the kernel, take as long as on the other ranks on average; calls keep their own cost, waiting follows."
	return h
}

// imbalance returns the cause that work is divided unequally: in total, or if moving is not nil in
// each instance of these regions.
func imbalance(e *evidence, workers []outliers.Worker, region accounts.Activity, moving outliers.Scope) verdict.Cause {
	all := e.Workers(outliers.Spent, moving)
	rows := outliers.RowsOf(workers)
	workers = slices.DeleteFunc(all, func(w outliers.Worker) bool { return !rows[w.Row] })
	sort.SliceStable(workers, func(i, j int) bool { return workers[i].Useful > workers[j].Useful })
	mean := outliers.MeanUseful(workers)
	busiest, least := workers[0], workers[len(workers)-1]
	s := verdict.Spread{Ranks: e.Listed(workers), Least: least.Useful, Mean: mean, Most: busiest.Useful, MaxRank: e.Ranks[busiest.Row].Rank, Shape: verdict.ByIteration}
	form, set := verdict.Moving, []outliers.Worker(nil)
	if moving == nil {
		inOrder := slices.Clone(workers)
		slices.SortFunc(inOrder, func(x, y outliers.Worker) int { return cmp.Compare(x.Row, y.Row) })
		s.Shape, s.Width = shapeOf(e, inOrder)
		s.Grows = correlation(inOrder) > 0
		if form = verdict.Gradient; s.Shape != verdict.ByRank {
			form, set = classesOf(workers)
		}
	}
	c := e.causeOf(verdict.Imbalance, set, region)
	c.Form, c.Spread = form, &s
	if e.HasEvidence() {
		c.BlockedSeconds = blockedMost(e, workers, moving)
	}
	return c
}

// blockedMost returns how long, in seconds, the busiest of workers (of moving work: one of them on
// average) is blocked in the kernel, if that explains most of the difference between the ranks;
// otherwise 0.
func blockedMost(e *evidence, workers []outliers.Worker, in outliers.Scope) float64 {
	blocked := slices.Clone(workers)
	for i, w := range workers {
		blocked[i].Useful = 0
		for what, o := range e.Each[e.MainOf[w.Row]].OffCPU {
			if in.Has(what) {
				blocked[i].Useful += accounts.Seconds(o.Blocked)
			}
		}
	}
	mean, usual, longer, more := outliers.MeanUseful(workers), outliers.MeanUseful(blocked), 0.0, 0.0
	for i, w := range workers {
		if w.Useful > mean {
			longer, more = longer+w.Useful-mean, more+blocked[i].Useful-usual
		}
	}
	if longer <= 0 || more < explains*longer {
		return 0
	}
	if in != nil {
		return usual
	}
	return blocked[0].Useful
}
