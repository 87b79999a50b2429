package clusters

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

const (
	// likeEnough is the minimum share of common calls, by function and call site, of two groups of
	// ranks that behave alike.
	likeEnough = 0.6
	// maxAlike is the maximum number of groups before they are divided by computation time.
	maxAlike = 4
	// muchLonger is the ratio of a rank's computation to the median of its group, or the inverse,
	// from which on they do not behave alike.
	muchLonger = 1.25
)

// Alike groups ranks that behave alike in an irregular program, where no two ranks make the same
// calls in the same order. Such ranks mostly call the same functions from the same call sites,
// whatever the order and number, and compute for about as long. There are at most 3·maxAlike
// groups, however many ranks. Ranks in a group ascend; groups are in the order of their lowest
// ranks.
func Alike(t timeline.Trace) [][]int {
	computation := Computation(t)
	var groups [][]int
	for _, ranks := range byCallSet(t) {
		groups = append(groups, byComputation(ranks, computation)...)
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

// byCallSet groups ranks by Chameleon's call path as a set. Sets of most ranks come first. Another
// set joins the most similar group if it is similar enough or there are enough groups.
func byCallSet(t timeline.Trace) [][]int {
	type set struct {
		calls map[uint64]bool
		ranks []int
	}
	paths := newPathFinder(t.Grammar(), newLikeness(t, 0).site)
	calls := map[int]map[uint64]bool{}
	for _, th := range t.Threads().All() {
		if calls[th.Rank] == nil {
			calls[th.Rank] = map[uint64]bool{}
		}
		for _, call := range paths.path(th.Root) {
			calls[th.Rank][call] = true
		}
	}
	bySet := map[hash]*set{}
	for _, rank := range slices.Sorted(maps.Keys(calls)) {
		key := empty
		for _, call := range slices.Sorted(maps.Keys(calls[rank])) {
			key = key.then(one(call))
		}
		if bySet[key] == nil {
			bySet[key] = &set{calls: calls[rank]}
		}
		bySet[key].ranks = append(bySet[key].ranks, rank)
	}
	sets := slices.SortedFunc(maps.Values(bySet), func(a, b *set) int {
		return cmp.Or(cmp.Compare(len(b.ranks), len(a.ranks)), cmp.Compare(a.ranks[0], b.ranks[0]))
	})
	var groups []*set
	for _, s := range sets {
		var nearest *set
		most := -1.0
		for _, g := range groups {
			if common := inCommon(s.calls, g.calls); common > most {
				nearest, most = g, common
			}
		}
		if nearest == nil || most < likeEnough && len(groups) < maxAlike {
			groups = append(groups, s)
			continue
		}
		nearest.ranks = append(nearest.ranks, s.ranks...)
	}
	list := make([][]int, len(groups))
	for i, g := range groups {
		list[i] = slices.Sorted(slices.Values(g.ranks))
	}
	return list
}

// inCommon returns the share of elements that two sets have in common.
func inCommon(a, b map[uint64]bool) float64 {
	both := 0
	for x := range a {
		if b[x] {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// byComputation divides ranks into those that compute for much shorter than the median, about as
// long, and much longer.
func byComputation(ranks []int, computation map[int]float64) [][]int {
	seconds := make([]float64, len(ranks))
	for i, rank := range ranks {
		seconds[i] = computation[rank]
	}
	between := middle(seconds)
	var parts [3][]int
	for _, rank := range ranks {
		part := 1
		switch c := computation[rank]; {
		case c > between*muchLonger:
			part = 2
		case c < between/muchLonger:
			part = 0
		}
		parts[part] = append(parts[part], rank)
	}
	return slices.DeleteFunc(parts[:], func(part []int) bool { return len(part) == 0 })
}
