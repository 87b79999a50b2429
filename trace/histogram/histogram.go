package histogram

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/trace/timing"
)

const (
	// ExactValues is the largest number of different values that a histogram counts one by one.
	// With more it has bins.
	ExactValues = 32
	// TailShare bounds the first and the last bin: if one is wider than a bin of BinOf, it has at
	// most 1/TailShare of all numbers. Without such tails the rarest numbers would add bins with
	// every call.
	TailShare = 100
)

// A Histogram counts numbers. Count, Sum, Min and Max are exact. A bin is a single number, or a bin
// of BinOf (for a negative x that of −1 − x), in which numbers are within 25% of each other. The
// first bin has all of the lowest 1/TailShare of the numbers, and the last all of the highest. So a
// quantile from 1% to 99% is within 25%.
type Histogram struct {
	Count    uint64
	Sum      int64 // clamped to the range of int64
	Min, Max int64
	Binned   bool    // bins are ranges of BinOf; else each is one number
	Bins     []Range // in order, none empty, their counts add up to Count
}

// A Range counts the numbers from Low to High.
type Range struct {
	Low, High int64
	Count     uint64
}

// Mean returns the mean, 0 if there are no numbers.
func (h *Histogram) Mean() float64 {
	if h.Count == 0 {
		return 0
	}
	return float64(h.Sum) / float64(h.Count)
}

// Constant returns the number that all are equal to; false if they differ or there are none.
func (h *Histogram) Constant() (int64, bool) { return h.Min, h.Count > 0 && h.Min == h.Max }

// Quantile estimates the number that a fraction q of all numbers, 0 to 1, does not exceed. It finds
// the right bin and assumes that numbers are evenly spread within it. It returns 0 if there are no
// numbers.
func (h *Histogram) Quantile(q float64) int64 {
	if h.Count == 0 {
		return 0
	}
	rank := min(max(uint64(math.Ceil(q*float64(h.Count))), 1), h.Count)
	for _, b := range h.Bins {
		if rank > b.Count {
			rank -= b.Count
			continue
		}
		low, high := max(b.Low, h.Min), min(b.High, h.Max)
		if b.Count == 1 {
			return low + (high-low)/2
		}
		return low + int64(float64(rank-1)/float64(b.Count-1)*float64(high-low))
	}
	return h.Max
}

// A Builder counts numbers. The zero value counts up to ExactValues different ones exactly; with
// Coarse set it uses bins from the beginning.
type Builder struct {
	Coarse   bool
	h        Histogram
	exact    map[int64]uint64
	bins     map[int]uint64 // by signedBin, once there are too many numbers
	switched bool
}

// Add counts a number n times.
func (b *Builder) Add(x int64, n uint64) {
	if n == 0 {
		return
	}
	b.summarize(x, x, n, scaled(x, n))
	if !b.Coarse && !b.switched {
		if b.exact == nil {
			b.exact = map[int64]uint64{}
		}
		b.exact[x] += n
		if len(b.exact) > ExactValues {
			b.spread()
		}
		return
	}
	b.bin(BinOf(x), n)
}

// AddStatistics adds the intervals of s, each multiplied by stretch.
func (b *Builder) AddStatistics(s *timing.IntervalStatistics, stretch float64) {
	if s.Count == 0 {
		return
	}
	at := func(x int64) int64 { return int64(math.Round(float64(x) * stretch)) }
	b.spread()
	b.summarize(at(s.Min), at(s.Max), s.Count, at(s.Sum))
	for i, bin := range s.Histogram {
		left := bin.Count
		// of known value, since the bins must reach from the least to the greatest
		one := func(x int64) {
			if left > 0 {
				b.bin(BinOf(at(x)), 1)
				left--
			}
		}
		if i == 0 {
			one(s.Min)
		}
		if i == len(s.Histogram)-1 {
			one(s.Max)
		}
		if low, high := max(timing.BinStart(bin.Bin), s.Min), min(timing.BinStart(bin.Bin+1)-1, s.Max); left > 0 {
			b.bin(BinOf(at(low+(high-low)/2)), left)
		}
	}
}

// Count is the number of numbers.
func (b *Builder) Count() uint64 { return b.h.Count }

// Merge adds the numbers of o. Both must be Coarse.
func (b *Builder) Merge(o *Builder) {
	if o.h.Count == 0 {
		return
	}
	b.summarize(o.h.Min, o.h.Max, o.h.Count, o.h.Sum)
	for k, n := range o.bins {
		b.bin(k, n)
	}
}

func (b *Builder) summarize(least, most int64, n uint64, sum int64) {
	if b.h.Count == 0 {
		b.h.Min, b.h.Max = least, most
	}
	b.h.Count += n
	b.h.Sum = SaturatedSum(b.h.Sum, sum)
	b.h.Min, b.h.Max = min(b.h.Min, least), max(b.h.Max, most)
}

func (b *Builder) bin(k int, n uint64) {
	if b.bins == nil {
		b.bins = map[int]uint64{}
	}
	b.bins[k] += n
}

// spread moves the exact numbers into bins.
func (b *Builder) spread() {
	for x, n := range b.exact {
		b.bin(BinOf(x), n)
	}
	b.exact, b.switched = nil, true
}

// Histogram returns the histogram of the numbers so far.
func (b *Builder) Histogram() Histogram {
	h := b.h
	if h.Count == 0 {
		return h
	}
	if h.Binned = b.Coarse || b.switched; !h.Binned {
		for _, x := range slices.Sorted(maps.Keys(b.exact)) {
			h.Bins = append(h.Bins, Range{x, x, b.exact[x]})
		}
		return h
	}
	for _, k := range slices.Sorted(maps.Keys(b.bins)) {
		low, high := BinRange(k)
		h.Bins = append(h.Bins, Range{low, high, b.bins[k]})
	}
	h.Bins = joinTails(h.Bins, h.Count/TailShare)
	return h
}

// joinTails joins the first bins that have at most the given count together into one, and likewise
// the last ones.
func joinTails(bins []Range, limit uint64) []Range {
	first := 0
	for sum := uint64(0); first < len(bins) && sum+bins[first].Count <= limit; first++ {
		sum += bins[first].Count
	}
	last := len(bins)
	for sum := uint64(0); last > first && sum+bins[last-1].Count <= limit; last-- {
		sum += bins[last-1].Count
	}
	var joined []Range
	for _, part := range [][]Range{bins[:first], bins[last:]} {
		if len(part) == 0 {
			continue
		}
		one := Range{Low: part[0].Low, High: part[len(part)-1].High}
		for _, b := range part {
			one.Count += b.Count
		}
		joined = append(joined, one)
	}
	if first > 0 {
		return slices.Concat(joined[:1], bins[first:last], joined[1:])
	}
	return append(bins[:last:last], joined...)
}

// BinOf returns the bin of any number: bins of negative numbers mirror those from 0 on.
func BinOf(x int64) int {
	if x < 0 {
		return -1 - timing.BinOf(-1-x)
	}
	return timing.BinOf(x)
}

// greatestBin is the bin of the greatest number.
var greatestBin = timing.BinOf(math.MaxInt64)

// BinRange returns the numbers of a bin.
func BinRange(k int) (low, high int64) {
	if k < 0 {
		low, high = BinRange(-1 - k)
		return -1 - high, -1 - low
	}
	if k == greatestBin {
		return timing.BinStart(k), math.MaxInt64
	}
	return timing.BinStart(k), timing.BinStart(k+1) - 1
}

// SaturatedSum returns a + b, clamped to the range of int64.
func SaturatedSum(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// scaled returns n · x, clamped to the range of int64.
func scaled(x int64, n uint64) int64 {
	negative, size := x < 0, uint64(x)
	if negative {
		size = -size
	}
	high, low := bits.Mul64(size, n)
	switch {
	case high == 0 && low <= math.MaxInt64 && !negative:
		return int64(low)
	case high == 0 && low <= math.MaxInt64:
		return -int64(low)
	case negative:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Valid reports whether the bins are such as a Builder makes.
func (h *Histogram) Valid() bool {
	if h.Count == 0 {
		return h.Sum == 0 && h.Min == 0 && h.Max == 0 && !h.Binned && len(h.Bins) == 0
	}
	if len(h.Bins) == 0 || h.Min > h.Max || h.Bins[0].Low > h.Min || h.Bins[len(h.Bins)-1].High < h.Max {
		return false
	}
	var sum uint64
	for i, b := range h.Bins {
		if b.Count == 0 || b.Low > b.High || i > 0 && cmp.Compare(h.Bins[i-1].High, b.Low) >= 0 || sum+b.Count < sum {
			return false
		}
		sum += b.Count
		if !h.Binned && b.Low != b.High {
			return false
		}
		if h.Binned {
			low, _ := BinRange(BinOf(b.Low))
			_, high := BinRange(BinOf(b.High))
			if low != b.Low || high != b.High {
				return false
			}
		}
	}
	return sum == h.Count
}

// SetConstantBin sets the bin of a histogram of equal numbers.
func (h *Histogram) SetConstantBin() {
	if _, constant := h.Constant(); !constant {
		return
	}
	low, high := h.Min, h.Min
	if h.Binned {
		low, high = BinRange(BinOf(h.Min))
	}
	h.Bins = []Range{{low, high, h.Count}}
}

// SetBins sets the bins of a histogram. first is the start of each bin, less the end of the one
// before; width is how much wider it is than a single number or a bin of BinOf; counts are the
// counts of all but the last bin.
func (h *Histogram) SetBins(first, width, counts []int64) bool {
	before, left := int64(0), h.Count
	for i := range first {
		low := before + first[i]
		high := low + width[i]
		before = high
		if h.Binned {
			if low < -1-int64(greatestBin) || high > int64(greatestBin) || low > high {
				return false
			}
			low, _ = BinRange(int(low))
			_, high = BinRange(int(high))
		}
		n := left
		if i < len(counts) {
			n = uint64(counts[i])
		}
		left -= n
		h.Bins = append(h.Bins, Range{low, high, n})
	}
	return true
}
