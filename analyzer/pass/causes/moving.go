package causes

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// movingWork is work that moves from rank to rank: in total the ranks have equal work, but not in
// each iteration.
type movingWork struct{}

// suggest assumes that all ranks have equal work in each iteration.
func (movingWork) suggest(e *evidence) []Hypothesis {
	_, eachTime := e.evenly()
	h := Hypothesis{width: allRanks, change: eachTime, Cause: verdict.Cause{Kind: verdict.Imbalance}}
	h.What, h.Assumes = "all ranks had equal work each time", fmt.Sprintf(equalMeans, "each time the same")
	h.doubt = func(h *Hypothesis, _ *played) bool {
		workers, region := movingRanks(e, e.Share(e.Run()-h.length))
		if workers == nil || e.cpus.AreLimited() { // pauses have the same effect
			return true
		}
		h.Cause = imbalance(e, workers, region, true)
		return false
	}
	return []Hypothesis{h}
}

// movingRanks returns the ranks among which work moves from iteration to iteration, and the region in
// which it does; nil: none. Noise of different ranks is independent, so the variance of their sum
// is the sum of their variances; if work moves from one rank to another, the sum hardly varies.
// Alternatively the middle half of the iterations of most ranks varies more than disturbances
// explain, unless the ranks share CPUs.
//
// In addition to regions it tests the steps from one collective to the next, where all ranks are in
// step, whichever calls they make.
func movingRanks(e *evidence, gain float64) (workers []outliers.Worker, region accounts.Activity) {
	most := 0.0
	regions, steps := computations(e)
	ranks := e.Workers(outliers.Spent, nil) // computed once for all regions, of which there may be many
	look := func(all []accounts.Activity, scatters bool, in func(*accounts.Account) map[accounts.Activity]*accounts.Tally) {
		for _, what := range all {
			tallies := make(map[int]*accounts.Tally, len(e.Ranks))
			for row, i := range e.MainOf {
				if i >= 0 {
					tallies[row] = in(&e.Each[i])[what]
				}
			}
			group := equallyOftenThere(ranks, tallies)
			if len(group) < 2 || !moves(group, tallies, conservedAlpha/float64(len(regions)+len(steps)), scatters) {
				continue
			}
			if lost := lostInSteps(group, tallies); lost > most || lost == most && what.Less(region) {
				most, workers, region = lost, group, what
			}
		}
	}
	look(regions, !e.shared && gain >= minScatterGain, func(a *accounts.Account) map[accounts.Activity]*accounts.Tally { return a.Tallies })
	if workers == nil { // a step sums many computations with all their disturbances
		look(steps, false, func(a *accounts.Account) map[accounts.Activity]*accounts.Tally { return a.Between })
	}
	return workers, region
}

// equallyOftenThere returns the ranks that execute an activity equally often: as often as most
// ranks that execute it.
func equallyOftenThere(all []outliers.Worker, tallies map[int]*accounts.Tally) []outliers.Worker {
	ranks := map[uint64]int{}
	for _, w := range all {
		if t := tallies[w.Row]; t != nil {
			ranks[t.Count]++
		}
	}
	usual := uint64(0)
	for count, n := range ranks {
		if n > ranks[usual] || n == ranks[usual] && count > usual {
			usual = count
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(w outliers.Worker) bool {
		t := tallies[w.Row]
		return t == nil || t.Count != usual || len(t.First) < minIterations
	})
}

// instances returns the number of instances that are known of all ranks.
func instances(workers []outliers.Worker, tallies map[int]*accounts.Tally) int {
	n := math.MaxInt
	for _, w := range workers {
		n = min(n, len(tallies[w.Row].First))
	}
	return n
}

// lostInSteps returns the time, in seconds, by which the busiest rank of each instance exceeds the
// mean, summed over all instances.
func lostInSteps(workers []outliers.Worker, tallies map[int]*accounts.Tally) float64 {
	n, lost := instances(workers, tallies), 0.0
	for k := range n {
		sum, longest := 0.0, 0.0
		for _, w := range workers {
			seconds := float64(tallies[w.Row].First[k])
			sum += seconds
			longest = max(longest, seconds)
		}
		lost += longest - sum/float64(len(workers))
	}
	return lost * float64(tallies[workers[0].Row].Count) / float64(n)
}

// moves reports whether the work of a region moves from one rank to another over time or, if
// scatters, varies more than noise explains.
func moves(workers []outliers.Worker, tallies map[int]*accounts.Tally, alpha float64, scatters bool) bool {
	n := instances(workers, tallies)
	sums, within, unequal := make([]float64, n), 0.0, 0
	for _, w := range workers {
		t := tallies[w.Row]
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
	if scatters && 2*unequal > len(workers) {
		return true
	}
	conserved := distuv.ChiSquared{K: float64(n - 1)}.Quantile(alpha) / float64(n-1)
	return within > 0 && stat.Variance(sums, nil)/within < min(maxConserved, conserved)
}

// computations returns all regions, and all steps between collectives.
func computations(e *evidence) (regions, steps []accounts.Activity) {
	for what := range e.Total {
		if what.Computes() {
			regions = append(regions, what)
		}
	}
	seen := map[accounts.Activity]bool{}
	for _, i := range e.MainOf {
		if i < 0 {
			continue
		}
		for what := range e.Each[i].Between {
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
