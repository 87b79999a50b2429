package timing

import (
	"math"
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// An Aggregate is what aggregated timing keeps of one signature on one thread. The number of calls
// is in the grammar.
type Aggregate struct {
	Terminal  int32
	Durations IntervalStatistics
	Gaps      IntervalStatistics // gaps before the calls; the thread's first call has gap 0
}

// IntervalStatistics summarize intervals in ticks. All fields but the histogram are exact.
type IntervalStatistics struct {
	Count         uint64
	Sum, Min, Max int64
	Histogram     []Bin // sorted by Bin
}

// A Bin counts the intervals from BinStart(Bin) to just before BinStart(Bin + 1).
type Bin struct {
	Bin   int
	Count uint64
}

// BinStart is the smallest interval of a bin; there are four bins per power of two. Bin 0 also has
// everything below 0.
func BinStart(bin int) int64 {
	if bin < 4 {
		return int64(bin)
	}
	if n := bin/4 - 1; n < 61 {
		return int64(4+bin%4) << n
	}
	return math.MaxInt64
}

// BinOf returns the bin of an interval.
func BinOf(x int64) int {
	if x < 4 {
		return int(max(x, 0))
	}
	n := bits.Len64(uint64(x)) - 3 // x>>n is from 4 to 7
	return 4*(n+1) + int(x>>n) - 4
}

// Add counts an interval.
func (s *IntervalStatistics) Add(x int64) {
	if s.Count == 0 {
		s.Min, s.Max = x, x
	}
	s.Count++
	s.Sum += x
	s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	s.addBin(BinOf(x), 1)
}

func (s *IntervalStatistics) addBin(bin int, n uint64) {
	// the first bin not below; a loop of its own, since aggregated timing gets here twice per call
	i := 0
	for end := len(s.Histogram); i < end; {
		if k := (i + end) / 2; s.Histogram[k].Bin < bin {
			i = k + 1
		} else {
			end = k
		}
	}
	if i == len(s.Histogram) || s.Histogram[i].Bin != bin {
		s.Histogram = slices.Insert(s.Histogram, i, Bin{Bin: bin})
	}
	s.Histogram[i].Count += n
}

// Merge adds the intervals of o.
func (s *IntervalStatistics) Merge(o *IntervalStatistics) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		s.Min, s.Max = o.Min, o.Max
	}
	s.Count += o.Count
	s.Sum += o.Sum
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Histogram = slices.Clone(s.Histogram) // the slice may belong to another value
	for _, b := range o.Histogram {
		s.addBin(b.Bin, b.Count)
	}
}

// AppendAggregates writes the aggregates of a thread in columns.
func AppendAggregates(b []byte, list []Aggregate) []byte {
	column := func(of func(a *Aggregate) int64) {
		values := make([]int64, len(list))
		for i := range list {
			values[i] = of(&list[i])
		}
		b = codec.AppendSequence(b, values)
	}
	column(func(a *Aggregate) int64 { return int64(a.Terminal) })
	for _, of := range []func(a *Aggregate) *IntervalStatistics{
		func(a *Aggregate) *IntervalStatistics { return &a.Gaps },
		func(a *Aggregate) *IntervalStatistics { return &a.Durations },
	} {
		column(func(a *Aggregate) int64 { return int64(of(a).Count) })
		column(func(a *Aggregate) int64 { return of(a).Sum })
		column(func(a *Aggregate) int64 { return of(a).Min })
		column(func(a *Aggregate) int64 { return of(a).Max })
		column(func(a *Aggregate) int64 { return int64(len(of(a).Histogram)) })
		var bins, counts []int64
		for i := range list {
			for _, bin := range of(&list[i]).Histogram {
				bins, counts = append(bins, int64(bin.Bin)), append(counts, int64(bin.Count))
			}
		}
		b = codec.AppendSequence(b, bins)
		b = codec.AppendSequence(b, counts)
	}
	return b
}

// ReadAggregates reads what AppendAggregates wrote, for a trace with the given number of
// signatures.
func ReadAggregates(d *codec.Decoder, signatures int) []Aggregate {
	terminals := d.Sequence()
	if d.Err != nil || !d.Budget.Take(int64(len(terminals))*136) {
		d.Fail(codec.ErrMemory)
		return nil
	}
	list := make([]Aggregate, len(terminals))
	for i, terminal := range terminals {
		if terminal < 0 || terminal >= int64(signatures) || i > 0 && terminal <= terminals[i-1] {
			d.Fail(codec.ErrNumber)
			return nil
		}
		list[i].Terminal = int32(terminal)
	}
	for _, of := range []func(a *Aggregate) *IntervalStatistics{
		func(a *Aggregate) *IntervalStatistics { return &a.Gaps },
		func(a *Aggregate) *IntervalStatistics { return &a.Durations },
	} {
		n := len(list)
		counts, sums, least, most, lengths := d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n)
		bins, inBins := d.Sequence(), d.Sequence()
		if d.Err != nil {
			return nil
		}
		if len(bins) != len(inBins) || !d.Budget.Take(int64(len(bins))*16) {
			d.Fail(codec.ErrNumber)
			return nil
		}
		all := make([]Bin, len(bins))
		for i, bin := range bins {
			if bin < 0 || bin > 256 || inBins[i] < 0 {
				d.Fail(codec.ErrNumber)
				return nil
			}
			all[i] = Bin{int(bin), uint64(inBins[i])}
		}
		for i := range list {
			k := lengths[i]
			if k < 0 || k > int64(len(all)) || counts[i] < 0 {
				d.Fail(codec.ErrNumber)
				return nil
			}
			s := of(&list[i])
			*s = IntervalStatistics{Count: uint64(counts[i]), Sum: sums[i], Min: least[i], Max: most[i]}
			if k > 0 {
				s.Histogram = all[:k:k]
			}
			all = all[k:]
		}
		if len(all) > 0 {
			d.Fail(codec.ErrNumber)
		}
	}
	return list
}
