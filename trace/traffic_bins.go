package trace

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace/histogram"
)

// JoinTraffic makes one of bins of traffic that are alike, in order. Where there are more than ExactValues distances (or fixed
// ranks), those of one bin of BinOf become one.
func JoinTraffic(list []TrafficBin) []TrafficBin {
	var all []TrafficBin
	for _, fixed := range []bool{false, true} {
		bins := slices.DeleteFunc(slices.Clone(list), func(b TrafficBin) bool { return b.Fixed != fixed })
		if bins = joinEqual(bins); len(bins) > histogram.ExactValues {
			for i := range bins {
				if !fixed || bins[i].Low >= 0 { // −1 is no rank
					bins[i].Low, _ = histogram.BinRange(histogram.BinOf(bins[i].Low))
					_, bins[i].High = histogram.BinRange(histogram.BinOf(bins[i].High))
				}
			}
			bins = joinEqual(bins)
		}
		all = append(all, bins...)
	}
	return all
}

func joinEqual(bins []TrafficBin) []TrafficBin {
	slices.SortStableFunc(bins, func(a, b TrafficBin) int { return cmp.Compare(a.Low, b.Low) })
	joined := bins[:0]
	for _, b := range bins {
		if n := len(joined); n > 0 && joined[n-1].Low == b.Low && joined[n-1].High == b.High {
			joined[n-1].Messages += b.Messages
			joined[n-1].Bytes += b.Bytes
			joined[n-1].Unsized += b.Unsized
			continue
		}
		joined = append(joined, b)
	}
	return joined
}
