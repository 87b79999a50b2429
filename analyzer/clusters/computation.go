package clusters

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A lead's times are used for all ranks of its group, so it has to compute for as long as they do.
// Their waiting times need not be alike: on another network, or beside a faster rank, they wait for
// other times.
//
// computationTolerance is the maximum difference of a rank's computation from its lead's, as a
// share of the longest computation of any rank. The error of a run time that is derived from the
// leads' computation is not larger.
const computationTolerance = 0.025

// Computation returns the computation time of each rank's main thread in seconds. It reads no
// calls.
func Computation(t timeline.Trace) map[int]float64 {
	all := map[int]float64{}
	for rank, s := range spans(t) {
		all[rank] = s.computation
	}
	return all
}

// alike divides ranks, the lead first, into groups that compute for about as long, each with its
// lead first.
func alike(ranks []int, computation map[int]float64, tolerance float64) [][]int {
	sorted := slices.SortedFunc(slices.Values(ranks), func(a, b int) int {
		return cmp.Or(cmp.Compare(computation[a], computation[b]), cmp.Compare(a, b))
	})
	if width(sorted, computation) <= tolerance {
		return [][]int{ranks} // keep their lead
	}
	var groups [][]int
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && computation[sorted[n]] <= computation[sorted[0]]+2*tolerance {
			n++
		}
		groups = append(groups, ledFromTheMiddle(sorted[:n], computation))
		sorted = sorted[n:]
	}
	return groups
}

// width returns the range of the computation of ranks that are sorted by it.
func width(sorted []int, computation map[int]float64) float64 {
	return computation[sorted[len(sorted)-1]] - computation[sorted[0]]
}

// ledFromTheMiddle returns the rank whose computation is nearest to the mean, followed by the
// others in order.
func ledFromTheMiddle(ranks []int, computation map[int]float64) []int {
	mean := 0.0
	for _, rank := range ranks {
		mean += computation[rank] / float64(len(ranks))
	}
	group := slices.Sorted(slices.Values(ranks))
	lead := slices.MinFunc(group, func(a, b int) int {
		return cmp.Compare(math.Abs(computation[a]-mean), math.Abs(computation[b]-mean))
	})
	i := slices.Index(group, lead)
	copy(group[1:i+1], group[:i])
	group[0] = lead
	return group
}

func longest(computation map[int]float64) float64 {
	most := 0.0
	for _, c := range computation {
		most = max(most, c)
	}
	return most
}
