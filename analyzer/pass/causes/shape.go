package causes

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// shapeOf returns the pattern of the ranks' computation.
func shapeOf(e *evidence, workers []outliers.Worker) (shape verdict.Shape, width int) {
	if len(workers) < outliers.MinRole {
		return verdict.Irregular, 0
	}
	least := minCorrelation
	if len(workers) < fewToCorrelate {
		least = minCorrelationFew
	}
	if math.Abs(correlation(workers)) >= least {
		return verdict.ByRank, 0
	}
	if explained(workers, func(w outliers.Worker) string { return accounts.NodeOf(&e.Ranks[w.Row]) }) {
		return verdict.ByNode, 0
	}
	n := len(e.Ranks)
	for groups := 2; groups <= n/2; groups++ {
		width := n / groups
		switch {
		case n%groups != 0:
		case explained(workers, func(w outliers.Worker) int { return e.Ranks[w.Row].Rank / width }):
			return verdict.ByRow, width
		case explained(workers, func(w outliers.Worker) int { return e.Ranks[w.Row].Rank % groups }):
			return verdict.ByColumn, groups
		}
	}
	return verdict.Irregular, 0
}

// correlation returns the correlation of computation with the rank number (Pearson), NaN if all
// compute equally long.
func correlation(workers []outliers.Worker) float64 {
	ranks, useful := make([]float64, len(workers)), make([]float64, len(workers))
	for i, w := range workers {
		ranks[i], useful[i] = float64(w.Row), w.Useful
	}
	return stat.Correlation(ranks, useful, nil)
}

// explained reports whether nearly all of the variance of computation is between groups, of which
// there are at most half as many as ranks (adjusted R²).
func explained[G comparable](workers []outliers.Worker, group func(outliers.Worker) G) bool {
	sums, sizes := map[G]float64{}, map[G]float64{}
	for _, w := range workers {
		sums[group(w)] += w.Useful
		sizes[group(w)]++
	}
	n, groups := float64(len(workers)), float64(len(sums))
	if groups < 2 || 2*groups > n {
		return false
	}
	mean := outliers.MeanUseful(workers)
	within, all := 0.0, 0.0
	for _, w := range workers {
		g := group(w)
		within += square(w.Useful - sums[g]/sizes[g])
		all += square(w.Useful - mean)
	}
	return all > 0 && 1-(within/(n-groups))/(all/(n-1)) >= minExplained
}

func square(x float64) float64 { return x * x }

// classesOf reports whether ranks, busiest first, fall into two classes, and returns the busier
// class. Otherwise a few of them may have heavy work, or no particular rank has.
func classesOf(workers []outliers.Worker) (verdict.Form, []outliers.Worker) {
	mean := outliers.MeanUseful(workers)
	all, best, at := 0.0, 0.0, 0
	for _, w := range workers {
		all += square(w.Useful - mean)
	}
	sum := 0.0
	for g := 1; g < len(workers); g++ {
		sum += workers[g-1].Useful
		upper := sum / float64(g)
		lower := (mean*float64(len(workers)) - sum) / float64(len(workers)-g)
		if between := float64(g)*square(upper-mean) + float64(len(workers)-g)*square(lower-mean); between > best {
			best, at = between, g
		}
	}
	few := at <= max(1, int(outliers.FewRanks*float64(len(workers))))
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
