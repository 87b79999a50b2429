package traffic

import (
	"math"

	"github.com/cairn-mpi/cairn/trace"
)

// Estimate distributes the traffic of each cluster evenly over the possible pairs of ranks. The
// result is an estimate of the communication matrix whose sums by cluster, and therefore in total,
// are exact; the communicators are −1. It returns nil and false if there are more than limit such
// pairs.
func Estimate(h *trace.Histograms, limit int) ([]Pair, bool) {
	size, sum := int64(h.Meta.WorldSize), pairs{}
	count := 0
	for i := range h.Clusters {
		ranks := h.Clusters[i].Ranks.Ranks()
		for _, bin := range h.Clusters[i].Traffic {
			span := min(uint64(bin.High)-uint64(bin.Low), math.MaxInt32) + 1
			if span*uint64(len(ranks)) > uint64(limit-count) {
				return nil, false
			}
			between := ranksOf(&bin, ranks, size)
			count += len(between)
			n := uint64(len(between))
			for k, pair := range between {
				sum.add(-1, pair[0], pair[1], portion(bin.Messages, uint64(k), n), portion(bin.Bytes, uint64(k), n), portion(bin.Unsized, uint64(k), n))
			}
		}
	}
	return sum.list(), true
}

// ranksOf returns the possible pairs of ranks of a bin. A rank sends to itself only if nothing else
// is possible.
func ranksOf(b *trace.TrafficBin, ranks []int, size int64) (list [][2]int) {
	if b.Fixed && b.Low < 0 {
		for _, r := range ranks {
			list = append(list, [2]int{r, -1})
		}
		return list
	}
	for _, r := range ranks {
		low, high := b.Low, b.High
		if !b.Fixed {
			low, high = max(low, -size)+int64(r), min(high, size)+int64(r)
		}
		for to := max(low, 0); to <= min(high, size-1); to++ {
			if int(to) != r || b.Low == b.High {
				list = append(list, [2]int{r, int(to)})
			}
		}
	}
	if len(list) == 0 { // corrupt trace, or ranks beyond the world
		list = append(list, [2]int{ranks[0], -1})
	}
	return list
}

// portion returns the k-th of n equal parts of whole. The parts add up to it.
func portion(whole, k, n uint64) uint64 {
	at := func(k uint64) uint64 {
		return whole/n*k + whole%n*k/n
	}
	return at(k+1) - at(k)
}
