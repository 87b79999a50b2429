package clusters

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A lead's times are those of the ranks that it stands for, so it has to compute for as long as they do. How long ranks
// wait need not be alike: on another network, or beside a faster rank, they wait for other times.
//
// computationTolerance is by how much a rank's computation may differ from its lead's, as a part of the longest computation
// of any rank: a run time that follows from the leads' computation is off by no more.
const computationTolerance = 0.025

// Computation is for how many seconds each rank's main thread computed. No call is read.
func Computation(t timeline.Trace) map[int]float64 {
	all := map[int]float64{}
	for rank, s := range spans(t) {
		all[rank] = s.computation
	}
	return all
}

// alike divides ranks, the lead first, into those that compute for about as long: each group with its lead first.
func alike(ranks []int, computation map[int]float64, tolerance float64) [][]int {
	sorted := slices.SortedFunc(slices.Values(ranks), func(a, b int) int {
		return cmp.Or(cmp.Compare(computation[a], computation[b]), cmp.Compare(a, b))
	})
	if width(sorted, computation) <= tolerance {
		return [][]int{ranks} // with the lead that they have
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

// width is by how much the ranks, in order of their computation, differ.
func width(sorted []int, computation map[int]float64) float64 {
	return computation[sorted[len(sorted)-1]] - computation[sorted[0]]
}

// ledFromTheMiddle puts first the rank whose computation is nearest to the mean, and the others in order.
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
