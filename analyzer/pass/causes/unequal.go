package causes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// If no rank stands out, work may still be divided unequally: each rank has somewhat more than the
// one before, or in each iteration another one has most. Two conditions must hold for the verdict
// to report it:
//
//   - Equal work shortens the run in the replay: in each region every rank computes the mean of
//     all, in total or in each iteration.
//   - It is not noise: the ranks' totals differ by more than their own variation explains, or the
//     iterations of different ranks are more unequal than noise makes them.
const (
	minScatterGain = 0.15 // minimum gain if only the spread of iterations excludes noise, which costs up to a tenth
	minExcess      = 0.03 // of the run: minimum excess of the busiest rank over the mean
	// maximum variance of the sum of all ranks over the sum of their variances, if work
	// moves between ranks
	maxConserved      = 0.25
	conservedAlpha    = 0.001
	minIterations     = 8
	unequalMiddle     = 0.3 // interquartile range over median of iterations, above which they are not noise
	minCorrelation    = 0.9
	minCorrelationFew = 0.97 // for few ranks, which may be in order by chance
	fewToCorrelate    = 8
	minExplained      = 0.9 // of the variance, by groups of ranks
)

// unequal returns the ranks among which work is divided unequally, nil if it is not. If ranks
// shared CPUs and single computations were not measured, only undisturbed time counts.
func (a *search) unequal(shared bool) []worker {
	measures := a.measures()
	if shared {
		measures = measures[:1]
	}
	for _, m := range measures {
		groups := a.roles(a.workers(m, nil))
		for _, group := range groups {
			if a.differ(group, m, doubtful/float64(len(groups)*len(measures))) {
				return group
			}
		}
	}
	return nil
}

// differ reports whether the computation of ranks differs by more than their own variation explains
// (χ² test) and by enough to matter.
func (a *search) differ(workers []worker, m measure, alpha float64) bool {
	if len(workers) < 2 {
		return false
	}
	mean := meanUseful(workers)
	busiest := slices.MaxFunc(workers, func(x, y worker) int { return cmp.Compare(x.useful, y.useful) })
	if mean <= 0 || busiest.useful < m.ratio*mean || busiest.useful-mean < minExcess*accounts.Seconds(a.Run()) {
		return false
	}
	sum := 0.0
	for _, w := range workers {
		deviation := w.useful - mean
		sum += deviation * deviation / (w.variance + minSpread*minSpread*mean*mean)
	}
	if sum < (distuv.ChiSquared{K: float64(len(workers) - 1)}).Quantile(1-alpha) {
		return false
	}
	if !m.doubted {
		return true
	}
	upper := upperQuarter(workers)
	if a.Sums {
		return a.beyondDisturbance(upper, mean)
	}
	return a.lasting(upper, workers, nil)
}

// upperQuarter returns the busiest quarter of ranks: at least one, and only ranks that compute
// longer than the mean.
func upperQuarter(workers []worker) []worker {
	sorted := slices.Clone(workers)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].useful > sorted[j].useful })
	mean := meanUseful(sorted)
	n := max(1, len(sorted)/4)
	for n > 1 && sorted[n-1].useful <= mean {
		n--
	}
	return sorted[:n]
}

// moving returns the ranks among which work moves from iteration to iteration, and the region in
// which it does; nil: none. Noise of different ranks is independent, so the variance of their sum
// is the sum of their variances; if work moves from one rank to another, the sum hardly varies.
// Alternatively the middle half of the iterations of most ranks varies more than disturbances
// explain, unless the ranks share CPUs.
//
// In addition to regions it tests the steps from one collective to the next, where all ranks are in
// step, whichever calls they make.
func (a *search) moving(shared bool) (workers []worker, region accounts.Activity) {
	most := 0.0
	regions, steps := a.computations()
	ranks := a.workers(spent, nil) // computed once for all regions, of which there may be many
	look := func(all []accounts.Activity, scatters bool, in func(*accounts.Account) map[accounts.Activity]*accounts.Tally) {
		for _, what := range all {
			tallies := make(map[int]*accounts.Tally, len(a.Ranks))
			for row, i := range a.MainOf {
				if i >= 0 {
					tallies[row] = in(&a.Each[i])[what]
				}
			}
			group := equallyOftenThere(ranks, tallies)
			if len(group) < 2 || !a.moves(group, tallies, conservedAlpha/float64(len(regions)+len(steps)), scatters) {
				continue
			}
			if lost := lostInSteps(group, tallies); lost > most || lost == most && what.Less(region) {
				most, workers, region = lost, group, what
			}
		}
	}
	look(regions, !shared, func(a *accounts.Account) map[accounts.Activity]*accounts.Tally { return a.Tallies })
	if workers == nil { // a step sums many computations with all their disturbances
		look(steps, false, func(a *accounts.Account) map[accounts.Activity]*accounts.Tally { return a.Between })
	}
	return workers, region
}

// computations returns all regions, and all steps between collectives.
func (a *search) computations() (regions, steps []accounts.Activity) {
	for what := range a.Total {
		if what.Computes() {
			regions = append(regions, what)
		}
	}
	seen := map[accounts.Activity]bool{}
	for _, i := range a.MainOf {
		if i < 0 {
			continue
		}
		for what := range a.Each[i].Between {
			if !seen[what] {
				seen[what] = true
				steps = append(steps, what)
			}
		}
	}
	slices.SortFunc(regions, accounts.CompareActivities)
	slices.SortFunc(steps, accounts.CompareActivities)
	return regions, steps
}

// equallyOftenThere returns the ranks that execute an activity equally often: as often as most
// ranks that execute it.
func equallyOftenThere(all []worker, tallies map[int]*accounts.Tally) []worker {
	ranks := map[uint64]int{}
	for _, w := range all {
		if t := tallies[w.row]; t != nil {
			ranks[t.Count]++
		}
	}
	usual := uint64(0)
	for count, n := range ranks {
		if n > ranks[usual] || n == ranks[usual] && count > usual {
			usual = count
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(w worker) bool {
		t := tallies[w.row]
		return t == nil || t.Count != usual || len(t.First) < minIterations
	})
}

func (a *search) tallyOf(w worker, what accounts.Activity) *accounts.Tally {
	return a.Each[a.MainOf[w.row]].Tallies[what]
}

// instances returns the number of instances that are known of all ranks.
func instances(workers []worker, tallies map[int]*accounts.Tally) int {
	n := math.MaxInt
	for _, w := range workers {
		n = min(n, len(tallies[w.row].First))
	}
	return n
}

// lostInSteps returns the time, in seconds, by which the busiest rank of each instance exceeds the
// mean, summed over all instances.
func lostInSteps(workers []worker, tallies map[int]*accounts.Tally) float64 {
	n, lost := instances(workers, tallies), 0.0
	for k := range n {
		sum, longest := 0.0, 0.0
		for _, w := range workers {
			seconds := float64(tallies[w.row].First[k])
			sum += seconds
			longest = max(longest, seconds)
		}
		lost += longest - sum/float64(len(workers))
	}
	return lost * float64(tallies[workers[0].row].Count) / float64(n)
}

// moves reports whether the work of a region moves from one rank to another over time or, if
// scatters, varies more than noise explains.
func (a *search) moves(workers []worker, tallies map[int]*accounts.Tally, alpha float64, scatters bool) bool {
	n := instances(workers, tallies)
	sums, within, unequal := make([]float64, n), 0.0, 0
	for _, w := range workers {
		t := tallies[w.row]
		own := make([]float64, n)
		for k := range own {
			own[k] = float64(t.First[k])
			sums[k] += own[k]
		}
		within += stat.Variance(own, nil)
		if t.Spread.Quantile(0.75)-t.Spread.Quantile(0.25) >= unequalMiddle*t.Spread.Quantile(0.5) {
			unequal++
		}
	}
	if scatters && 2*unequal > len(workers) && a.scatterGain >= minScatterGain {
		return true
	}
	conserved := distuv.ChiSquared{K: float64(n - 1)}.Quantile(alpha) / float64(n-1)
	return within > 0 && stat.Variance(sums, nil)/within < min(maxConserved, conserved)
}

// shapeOf returns the pattern of the ranks' computation.
func (a *search) shapeOf(workers []worker) (shape verdict.Shape, width int) {
	if len(workers) < minRole {
		return verdict.Irregular, 0
	}
	least := minCorrelation
	if len(workers) < fewToCorrelate {
		least = minCorrelationFew
	}
	if math.Abs(correlation(workers)) >= least {
		return verdict.ByRank, 0
	}
	if explained(workers, func(w worker) string { return accounts.NodeOf(&a.Ranks[w.row]) }) {
		return verdict.ByNode, 0
	}
	n := len(a.Ranks)
	for groups := 2; groups <= n/2; groups++ {
		width := n / groups
		switch {
		case n%groups != 0:
		case explained(workers, func(w worker) int { return a.Ranks[w.row].Rank / width }):
			return verdict.ByRow, width
		case explained(workers, func(w worker) int { return a.Ranks[w.row].Rank % groups }):
			return verdict.ByColumn, groups
		}
	}
	return verdict.Irregular, 0
}

// correlation returns the correlation of computation with the rank number (Pearson), NaN if all
// compute equally long.
func correlation(workers []worker) float64 {
	ranks, useful := make([]float64, len(workers)), make([]float64, len(workers))
	for i, w := range workers {
		ranks[i], useful[i] = float64(w.row), w.useful
	}
	return stat.Correlation(ranks, useful, nil)
}

// explained reports whether nearly all of the variance of computation is between groups, of which
// there are at most half as many as ranks (adjusted R²).
func explained[G comparable](workers []worker, group func(worker) G) bool {
	sums, sizes := map[G]float64{}, map[G]float64{}
	for _, w := range workers {
		sums[group(w)] += w.useful
		sizes[group(w)]++
	}
	n, groups := float64(len(workers)), float64(len(sums))
	if groups < 2 || 2*groups > n {
		return false
	}
	mean := meanUseful(workers)
	within, all := 0.0, 0.0
	for _, w := range workers {
		g := group(w)
		within += square(w.useful - sums[g]/sizes[g])
		all += square(w.useful - mean)
	}
	return all > 0 && 1-(within/(n-groups))/(all/(n-1)) >= minExplained
}

func square(x float64) float64 { return x * x }

func (a *search) listed(workers []worker) string {
	list := make([]int, len(workers))
	for i, w := range workers {
		list[i] = a.Ranks[w.row].Rank
	}
	slices.Sort(list)
	return trace.NewRankList(list).String()
}

// mostUnequal returns the region in which ranks differ most, by the sum of their times beyond the
// mean.
func (a *search) mostUnequal(workers []worker) (region accounts.Activity) {
	most := -1.0
	for what := range a.Total {
		if !what.Computes() {
			continue
		}
		mean, beyond := 0.0, 0.0
		times := make([]float64, len(workers))
		for i, w := range workers {
			if t := a.tallyOf(w, what); t != nil {
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

// balanceHypotheses returns the hypotheses that all ranks have equal work, in total or in each
// iteration.
func (a *search) balanceHypotheses(inTotal, eachTime change) []Hypothesis {
	const meaning = "In each computation between two calls every rank that works there spends the mean of these, %s; calls keep their own cost, waiting follows. Serial work and a master's stay where they are."
	total := Hypothesis{width: allRanks, change: inTotal, What: "all ranks had equal work", Assumes: fmt.Sprintf(meaning, "in total"), Cause: verdict.Cause{Kind: verdict.Imbalance}}
	total.doubt = func(h *Hypothesis, _ *played) bool {
		workers := a.unequal(a.shared && !a.HasEvidence())
		if workers == nil {
			return true
		}
		h.Cause = a.imbalance(workers, a.mostUnequal(workers), false)
		return false
	}
	each := Hypothesis{width: allRanks, change: eachTime, What: "all ranks had equal work each time", Assumes: fmt.Sprintf(meaning, "each time the same"), Cause: verdict.Cause{Kind: verdict.Imbalance}}
	each.doubt = func(h *Hypothesis, _ *played) bool {
		a.scatterGain = a.Share(a.Run() - h.length)
		workers, region := a.moving(a.shared)
		if workers == nil || a.cpus.AreLimited() { // pauses have the same effect
			return true
		}
		h.Cause = a.imbalance(workers, region, true)
		return false
	}
	if a.OfLeads {
		total.estimated = a.unevenOnPath()
	}
	return []Hypothesis{total, each}
}

// imbalance returns the cause that work is divided unequally.
func (a *search) imbalance(workers []worker, region accounts.Activity, moving bool) verdict.Cause {
	all := a.workers(spent, nil)
	rows := rowsOf(workers)
	workers = slices.DeleteFunc(all, func(w worker) bool { return !rows[w.row] })
	sort.SliceStable(workers, func(i, j int) bool { return workers[i].useful > workers[j].useful })
	mean := meanUseful(workers)
	busiest, least := workers[0], workers[len(workers)-1]
	s := verdict.Spread{Ranks: a.listed(workers), Least: least.useful, Mean: mean, Most: busiest.useful, MaxRank: a.Ranks[busiest.row].Rank, Shape: verdict.ByIteration}
	form, set := verdict.Moving, []worker(nil)
	if !moving {
		inOrder := slices.Clone(workers)
		slices.SortFunc(inOrder, func(x, y worker) int { return cmp.Compare(x.row, y.row) })
		s.Shape, s.Width = a.shapeOf(inOrder)
		s.Grows = correlation(inOrder) > 0
		if form = verdict.Gradient; s.Shape != verdict.ByRank {
			form, set = classesOf(workers)
		}
	}
	c := a.causeOf(verdict.Imbalance, set, region)
	c.Form, c.Spread = form, &s
	return c
}

// classesOf reports whether ranks, busiest first, fall into two classes, and returns the busier
// class. Otherwise a few of them may have heavy work, or no particular rank has.
func classesOf(workers []worker) (verdict.Form, []worker) {
	mean := meanUseful(workers)
	all, best, at := 0.0, 0.0, 0
	for _, w := range workers {
		all += square(w.useful - mean)
	}
	sum := 0.0
	for g := 1; g < len(workers); g++ {
		sum += workers[g-1].useful
		upper := sum / float64(g)
		lower := (mean*float64(len(workers)) - sum) / float64(len(workers)-g)
		if between := float64(g)*square(upper-mean) + float64(len(workers)-g)*square(lower-mean); between > best {
			best, at = between, g
		}
	}
	few := at <= max(1, int(fewRanks*float64(len(workers))))
	switch {
	case all <= 0:
		return verdict.NoForm, nil
	case few:
		return verdict.Heavy, workers[:at]
	case best >= minExplained*all:
		return verdict.Classes, workers[:at]
	}
	return verdict.Heavy, nil
}
