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
	// ExactValues is how many different numbers a histogram of arguments tells apart. Where there are more it has bins.
	ExactValues = 32
	// TailShare is which part of all numbers, one in so many, the first and the last bin have at most if they are wider than a
	// bin of BinOf: the rarest numbers would make more bins with every call.
	TailShare = 100
)

// A Histogram says how often numbers came. Count, Sum, Min and Max are exact. A bin is a single number, or a bin of BinOf (of
// a negative x that of −1 − x), in which numbers are within 25% of each other; but the first and the last bin have all of
// the lowest 1 in TailShare, and of the highest. So a quantile from 1% to 99% is within 25%.
type Histogram struct {
	Count    uint64
	Sum      int64 // the nearest that there is, of those beyond 64 bits
	Min, Max int64
	Binned   bool    // bins are ranges of BinOf; else each is one number
	Bins     []Range // in order, none empty, their counts add up to Count
}

// A Range counts the numbers from Low to High.
type Range struct {
	Low, High int64
	Count     uint64
}

// Mean is 0 where there are no numbers.
func (h *Histogram) Mean() float64 {
	if h.Count == 0 {
		return 0
	}
	return float64(h.Sum) / float64(h.Count)
}

// Constant is the number that all are; false if they differ or there are none.
func (h *Histogram) Constant() (int64, bool) { return h.Min, h.Count > 0 && h.Min == h.Max }

// Quantile is about the number that a part q of all, 0 to 1, does not exceed: in the right bin it is where it would be if
// all numbers there were evenly spread. 0 where there are none.
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

// A Builder counts numbers. The zero value tells up to ExactValues apart; with Coarse set it has bins from the
// beginning.
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

// AddStatistics counts what another histogram has counted, all intervals stretched.
func (b *Builder) AddStatistics(s *timing.IntervalStatistics, stretch float64) {
	if s.Count == 0 {
		return
	}
	at := func(x int64) int64 { return int64(math.Round(float64(x) * stretch)) }
	b.spread()
	b.summarize(at(s.Min), at(s.Max), s.Count, at(s.Sum))
	for _, bin := range s.Histogram {
		low, high := max(timing.BinStart(bin.Bin), s.Min), min(timing.BinStart(bin.Bin+1)-1, s.Max)
		b.bin(BinOf(at(low+(high-low)/2)), bin.Count)
	}
}

// Count is how many numbers there are.
func (b *Builder) Count() uint64 { return b.h.Count }

// Merge counts what another one has counted. Both must be Coarse.
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

// spread puts numbers that were told apart into bins.
func (b *Builder) spread() {
	for x, n := range b.exact {
		b.bin(BinOf(x), n)
	}
	b.exact, b.switched = nil, true
}

// Histogram is what was counted.
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

// joinTails makes one bin of the first ones that have no more than so many numbers together, and one of the last.
func joinTails(bins []Range, most uint64) []Range {
	first := 0
	for sum := uint64(0); first < len(bins) && sum+bins[first].Count <= most; first++ {
		sum += bins[first].Count
	}
	last := len(bins)
	for sum := uint64(0); last > first && sum+bins[last-1].Count <= most; last-- {
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

// BinOf is the bin of any number: those below 0 mirror those from 0 on.
func BinOf(x int64) int {
	if x < 0 {
		return -1 - timing.BinOf(-1-x)
	}
	return timing.BinOf(x)
}

// greatestBin is the bin of the greatest number.
var greatestBin = timing.BinOf(math.MaxInt64)

// BinRange is the numbers of a bin.
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

// SaturatedSum is a + b, or the nearest number that there is.
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

// scaled is n · x, or the nearest number that there is.
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

// Valid reports whether the bins are what a builder makes.
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

// SetConstantBin makes the bin of a histogram whose numbers are all the same.
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

// SetBins makes the bins of a histogram: where each begins, less the end of the one before, how much wider it is than a single
// number or bin of BinOf, and how many numbers all but the last have.
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
