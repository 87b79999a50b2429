package accounts

import "math/bits"

// A Histogram counts durations in buckets of 1/16 octave (at most 6 % wide). Only non-empty buckets
// take memory: a repeated computation fills about ten. It provides the median, which, unlike the
// mean, is not moved by preemptions.
type Histogram []bucket

type bucket struct {
	index uint16
	count uint32
}

const subBuckets = 16

// bucketOf returns the bucket of a duration in nanoseconds.
func bucketOf(ns int64) uint16 {
	if ns < subBuckets {
		return uint16(max(0, ns))
	}
	octave := bits.Len64(uint64(ns)) - 5 // ns>>octave is in 16 … 31
	return uint16(subBuckets*octave) + uint16(ns>>octave)
}

// lower returns the lower bound of a bucket.
func lower(index uint16) float64 {
	if index < 2*subBuckets {
		return float64(index)
	}
	octave := index/subBuckets - 1
	return float64(uint64(index-subBuckets*octave) << octave)
}

func (h *Histogram) add(ns int64) {
	index := bucketOf(ns)
	s := *h
	low, high := 0, len(s)
	for low < high {
		if middle := (low + high) / 2; s[middle].index < index {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(s) && s[low].index == index {
		s[low].count++
		return
	}
	s = append(s, bucket{})
	copy(s[low+1:], s[low:])
	s[low] = bucket{index, 1}
	*h = s
}

// Quantile returns the duration in nanoseconds that a fraction q of all durations is below.
func (h Histogram) Quantile(q float64) float64 {
	total := 0.0
	for _, b := range h {
		total += float64(b.count)
	}
	rank := q * total
	for _, b := range h {
		if n := float64(b.count); rank > n {
			rank -= n
			continue
		}
		from, to := lower(b.index), lower(b.index+1)
		return from + (to-from)*rank/float64(b.count)
	}
	return 0
}

// Above returns the number of durations above limit, and their sum in nanoseconds, computed from
// the middles of their buckets.
func (h Histogram) Above(limit float64) (count int, ns float64) {
	for _, b := range h {
		if middle := (lower(b.index) + lower(b.index+1)) / 2; middle > limit {
			count += int(b.count)
			ns += middle * float64(b.count)
		}
	}
	return count, ns
}
