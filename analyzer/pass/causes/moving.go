package causes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// movingWork is work that moves from rank to rank: in total the ranks have equal work, but not in
// each iteration.
type movingWork struct{}

// A mover is a region, or the step from one collective to the next, in which work moves.
type mover struct {
	what    accounts.Activity
	ranks   []outliers.Worker
	regions map[accounts.Activity]bool // that it consists of
	lost    float64                    // seconds, by the busiest rank of each instance
	doubted bool                       // only the spread of iterations excludes noise
	// rows of the busiest rank at first, and in the end, if these are two
	first, last int
	trend       bool
	inQueue     float64 // see inQueue
}

// suggest assumes that ranks have equal work in each instance of the regions in which it moves. In
// addition the table of what-ifs has equal work everywhere.
func (movingWork) suggest(e *evidence) []Hypothesis {
	_, eachTime := e.evenly()
	all := Hypothesis{width: allRanks, change: eachTime, Cause: verdict.Cause{Kind: verdict.Imbalance}}
	all.What, all.Assumes = equalEachTime, fmt.Sprintf(equalMeans, "each time the same")
	all.doubt = func(*Hypothesis, *played) bool { return true } // no sentence is about all regions
	list := movers(e)
	if len(list) == 0 {
		return []Hypothesis{all}
	}
	m := list[0]
	doubted := m.doubted
	for _, other := range list[1:] {
		maps.Copy(m.regions, other.regions)
		doubted = doubted && other.doubted
	}
	h := Hypothesis{width: allRanks, Cause: imbalance(e, m.ranks, m.what, func(what accounts.Activity) bool { return m.regions[what] })}
	if len(list) > 1 {
		h.Cause.Regions = len(list)
	}
	if s := h.Cause.Spread; m.trend {
		s.Shape, s.FirstRank, s.LastRank = verdict.ByTime, new(e.Ranks[m.first].Rank), new(e.Ranks[m.last].Rank)
	}
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if m.regions[activityOf(r)] {
			return eachTime.takes(location, r, ns)
		}
		return ns
	}}
	h.What = equalEachTime + " " + verdict.Between(h.Cause.After, h.Cause.Before)
	if n := len(list) - 1; n > 0 {
		h.What += " and in " + wording.Count(n, "other region", "other regions")
	}
	h.Assumes = fmt.Sprintf(equalMeans, "each time the same")
	if doubted {
		h.doubt = func(h *Hypothesis, _ *played) bool { return e.Share(e.Run()-h.length) < minScatterGain }
	}
	if lock := asForALock(e, &h, list); lock != nil {
		h = *lock
	}
	return []Hypothesis{all, h}
}

// movers returns the regions in which work moves from iteration to iteration, most lost time first.
// Noise of different ranks is independent, so the variance of their sum is the sum of their
// variances; if work moves from one rank to another, the sum hardly varies. Alternatively the
// middle half of the iterations of most ranks varies more than disturbances explain, unless the
// ranks share CPUs.
//
// A region is none if most of what is lost there is due to the same rank in all iterations.
//
// If there are none, it tests the steps from one collective to the next, where all ranks are in
// step, whichever calls they make.
func movers(e *evidence) []mover {
	if e.cpus.AreLimited() { // pauses have the same effect
		return nil
	}
	regions, steps := computations(e)
	alpha := conservedAlpha / float64(len(regions)+len(steps))
	var list []mover
	test := func(what accounts.Activity, of map[accounts.Activity]bool, scatters bool, tally func(*accounts.Account) *accounts.Tally) {
		tallies := make(map[int]*accounts.Tally, len(e.Ranks))
		for row, i := range e.MainOf {
			if i >= 0 {
				tallies[row] = tally(&e.Each[i])
			}
		}
		group := equallyOftenThere(e.everyone(), tallies)
		if len(group) < 2 {
			return
		}
		lost := lostInSteps(group, tallies)
		conserved := isConserved(group, tallies, alpha) && !(e.shared && takeTurns(e, group, tallies, lost))
		if (conserved || scatters && scatter(group, tallies)) && lostInTotal(group, tallies) < explains*lost {
			m := mover{what: what, ranks: group, regions: of, lost: lost, doubted: !conserved}
			m.first, m.last, m.trend = trend(group, tallies)
			m.inQueue = inQueue(group, tallies)
			list = append(list, m)
		}
	}
	for _, what := range regions {
		test(what, map[accounts.Activity]bool{what: true}, !e.shared, func(a *accounts.Account) *accounts.Tally { return a.Tallies[what] })
	}
	if len(list) == 0 { // a step sums many computations with all their disturbances
		for _, what := range steps {
			test(what, regionsOfStep(e, what), false, func(a *accounts.Account) *accounts.Tally {
				if s := a.Between[what]; s != nil {
					return &s.Tally
				}
				return nil
			})
		}
	}
	slices.SortStableFunc(list, func(x, y mover) int { return cmp.Compare(y.lost, x.lost) })
	return slices.DeleteFunc(list, func(m mover) bool { return m.lost < minOfMost*list[0].lost })
}

// regionsOfStep returns the regions that ranks execute from one collective to the next.
func regionsOfStep(e *evidence, step accounts.Activity) map[accounts.Activity]bool {
	all := map[accounts.Activity]bool{}
	for _, i := range e.MainOf {
		if i < 0 {
			continue
		}
		if s := e.Each[i].Between[step]; s != nil {
			maps.Copy(all, s.Regions)
		}
	}
	return all
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
	usual := mostCommon(ranks)
	return slices.DeleteFunc(slices.Clone(all), func(w outliers.Worker) bool {
		t := tallies[w.Row]
		return t == nil || t.Count != usual || len(t.First) < minIterations
	})
}

// mostCommon returns the count that most ranks have; of several, the largest.
func mostCommon(ranks map[uint64]int) (usual uint64) {
	for count, n := range ranks {
		if n > ranks[usual] || n == ranks[usual] && count > usual {
			usual = count
		}
	}
	return usual
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

// lostInTotal returns the time, in seconds, by which the busiest rank of the run exceeds the mean.
// If it is most of what is lost in steps, the same rank is busiest in most of these.
func lostInTotal(workers []outliers.Worker, tallies map[int]*accounts.Tally) float64 {
	sum, most := 0.0, 0.0
	for _, w := range workers {
		seconds := accounts.Seconds(tallies[w.Row].Ns)
		sum, most = sum+seconds, max(most, seconds)
	}
	return most - sum/float64(len(workers))
}

// trend returns the row of the rank that computes longest in nearly all of the first quarter of the
// instances, and that in the last quarter. is reports whether these are two ranks.
func trend(workers []outliers.Worker, tallies map[int]*accounts.Tally) (first, last int, is bool) {
	courses, n := make([][]float64, len(workers)), math.MaxInt
	for i, w := range workers {
		courses[i] = tallies[w.Row].Series.Means()
		n = min(n, len(courses[i]))
	}
	quarter := n / 4
	if quarter < minQuarter {
		return 0, 0, false
	}
	// busiest returns the rank that is the busiest most often from a sample on, and whether it
	// nearly always is
	busiest := func(from int) (row int, is bool) {
		times := make([]int, len(workers))
		for k := from; k < from+quarter; k++ {
			most := 0
			for i := range courses {
				if courses[i][k] > courses[most][k] {
					most = i
				}
			}
			times[most]++
		}
		most := slices.Index(times, slices.Max(times))
		return workers[most].Row, float64(times[most]) >= nearlyAll*float64(quarter)
	}
	first, early := busiest(0)
	last, late := busiest(n - quarter)
	return first, last, early && late && first != last
}

// isConserved reports whether the sum of all ranks hardly varies from instance to instance: work
// moves from one rank to another.
func isConserved(workers []outliers.Worker, tallies map[int]*accounts.Tally, alpha float64) bool {
	n := instances(workers, tallies)
	sums, within := make([]float64, n), 0.0
	for _, w := range workers {
		own := make([]float64, n)
		for k := range own {
			own[k] = float64(tallies[w.Row].First[k])
			sums[k] += own[k]
		}
		within += stat.Variance(own, nil)
	}
	least := distuv.ChiSquared{K: float64(n - 1)}.Quantile(alpha) / float64(n-1)
	return within > 0 && stat.Variance(sums, nil)/within < min(maxConserved, least)
}

// takeTurns reports whether waits for a CPU explain what the busiest rank of each instance exceeds
// the others by, in seconds. Ranks that share CPUs take turns on them: if one waits the others need
// not, so that the sum of all hardly varies. Their waits are taken as evenly spread over the run.
func takeTurns(e *evidence, workers []outliers.Worker, tallies map[int]*accounts.Tally, lost float64) bool {
	waits := 0.0
	for _, w := range workers {
		samples := e.Ranks[w.Row].Context
		if len(samples) < 2 {
			continue
		}
		first, last := samples[0], samples[len(samples)-1]
		part := float64(last.RunDelayNS-first.RunDelayNS) / float64(max(1, last.MonotonicNS-first.MonotonicNS))
		waits += part * accounts.Seconds(tallies[w.Row].Ns)
	}
	n := float64(len(workers))
	return waits*(n-1)/n >= explains*lost
}

// scatter reports whether the instances of most ranks vary more than noise explains.
func scatter(workers []outliers.Worker, tallies map[int]*accounts.Tally) bool {
	unequal := 0
	for _, w := range workers {
		t := tallies[w.Row]
		if t.Spread.Quantile(0.75)-t.Spread.Quantile(0.25) >= unequalMiddle*t.Spread.Quantile(0.5) {
			unequal++
		}
	}
	return 2*unequal > len(workers)
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
