package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/histogram"
)

// The section of a trace of histograms (docs/format-histograms.md): tables in columns, and at the
// end all their histograms, in order of use.

// An expectedHistogram is a histogram with the number of values that it mostly has.
type expectedHistogram struct {
	*histogram.Histogram
	expected uint64
}

// histogramList returns all histograms in the order of the file.
func (h *Histograms) histogramList() []expectedHistogram {
	var list []expectedHistogram
	add := func(expected uint64, histograms ...*histogram.Histogram) {
		for _, h := range histograms {
			list = append(list, expectedHistogram{h, expected})
		}
	}
	for i := range h.Clusters {
		c := &h.Clusters[i]
		add(uint64(c.Ranks.Len()), &c.ThreadCalls, &c.ThreadSpans, &c.ThreadInside)
		for k := range c.Calls {
			call := &c.Calls[k]
			add(call.Calls, &call.Durations, &call.Bytes)
			for j := range call.Gaps {
				add(0, &call.Gaps[j].Gaps)
			}
			for j := range call.Arguments {
				add(call.Calls, &call.Arguments[j].Numbers, &call.Arguments[j].Lengths)
			}
		}
	}
	return list
}

func appendHistograms(h *Histograms) []byte {
	s := newSection()
	s.Number(uint64(h.From.Bytes))
	s.Number(h.From.Calls)
	s.Number(uint64(h.From.Signatures))
	s.Number(uint64(h.From.Rules))
	s.Signed(h.DurationNS)
	for _, list := range [][]string{h.Lost, h.Meta.Excluded} {
		s.Number(uint64(len(list)))
		for _, text := range list {
			s.Text(text)
		}
	}
	s.Number(uint64(len(h.Clusters)))
	var calls []CallHistogram
	var traffic []TrafficBin
	for i := range h.Clusters {
		c := &h.Clusters[i]
		s.rankList(c.Ranks)
		s.Number(uint64(len(c.Calls)))
		s.Number(uint64(len(c.Traffic)))
		calls, traffic = append(calls, c.Calls...), append(traffic, c.Traffic...)
	}
	s.calls(calls)
	n := len(traffic)
	s.Column(n, func(i int) int64 { return 2*traffic[i].Low + flagOf(traffic[i].Fixed) })
	s.Column(n, func(i int) int64 { return traffic[i].High - traffic[i].Low })
	s.Column(n, func(i int) int64 { return int64(traffic[i].Messages) })
	s.Column(n, func(i int) int64 { return int64(traffic[i].Bytes) })
	s.Column(n, func(i int) int64 { return int64(traffic[i].Unsized) })
	s.histograms(h.histogramList())
	return s.Bytes()
}

func (s *sectionWriter) calls(calls []CallHistogram) {
	var gaps []GapHistogram
	var arguments []ArgumentHistogram
	for i := range calls {
		gaps, arguments = append(gaps, calls[i].Gaps...), append(arguments, calls[i].Arguments...)
	}
	var names []NameCount
	var expected []uint64 // of each name
	for i := range calls {
		for k := range calls[i].Arguments {
			for _, name := range calls[i].Arguments[k].Names {
				names, expected = append(names, name), append(expected, calls[i].Calls)
			}
		}
	}
	n := len(calls)
	s.Column(n, func(i int) int64 { return int64(calls[i].Function) })
	s.Column(n, func(i int) int64 { return int64(calls[i].Site) })
	s.Column(n, func(i int) int64 { return int64(calls[i].Calls) })
	s.Column(n, func(i int) int64 { return int64(calls[i].Unsized) })
	s.Column(n, func(i int) int64 { return int64(len(calls[i].Gaps)) })
	s.Column(n, func(i int) int64 { return int64(len(calls[i].Arguments)) })
	s.Column(len(gaps), func(i int) int64 { return int64(gaps[i].After) })
	n = len(arguments)
	s.Texts(n, func(i int) string { return arguments[i].Name })
	s.Column(n, func(i int) int64 { return flagOf(arguments[i].Result) + 2*flagOf(arguments[i].Relative) })
	s.Column(n, func(i int) int64 { return int64(len(arguments[i].Names)) })
	s.Column(n, func(i int) int64 { return int64(arguments[i].Others) })
	s.Texts(len(names), func(i int) string { return names[i].Name })
	s.Column(len(names), func(i int) int64 { return int64(expected[i] - names[i].Count) })
}

// histograms writes the sums, then the bins. If all numbers are equal there is nothing to write
// about bins, and the count of the last bin is never written.
func (s *sectionWriter) histograms(list []expectedHistogram) {
	n := len(list)
	present := func(i int) int64 { return flagOf(list[i].Count > 0) }
	s.Column(n, present)
	s.Column(n, func(i int) int64 { return int64(list[i].expected-list[i].Count) * present(i) })
	s.Column(n, func(i int) int64 { return list[i].Min })
	s.Column(n, func(i int) int64 { return list[i].Max - list[i].Min })
	s.Column(n, func(i int) int64 { return list[i].Sum - int64(list[i].Count)*list[i].Min })
	s.Column(n, func(i int) int64 { return int64(writtenBins(list[i].Histogram))<<1 + flagOf(list[i].Binned) })
	var first, width, counts []int64
	for _, h := range list {
		before := int64(0)
		n := writtenBins(h.Histogram)
		for k := range n {
			b := &h.Bins[k]
			low, high := b.Low, b.High
			if h.Binned {
				low, high = int64(histogram.BinOf(low)), int64(histogram.BinOf(high))
			}
			first, width = append(first, low-before), append(width, high-low)
			before = high
			if k < n-1 {
				counts = append(counts, int64(b.Count))
			}
		}
	}
	s.Sequence(first)
	s.Sequence(width)
	s.Sequence(counts)
}

// writtenBins is the number of bins of a histogram that are written.
func writtenBins(h *histogram.Histogram) int {
	if _, constant := h.Constant(); constant {
		return 0
	}
	return len(h.Bins)
}

func flagOf(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

func (d *decoder) histograms(h *Histograms) {
	h.From.Bytes, h.From.Calls = int64(d.UvarintUpTo(math.MaxInt64)), d.Uvarint()
	h.From.Signatures, h.From.Rules = d.Int(), d.Int()
	h.DurationNS = d.Varint()
	for _, list := range []*[]string{&h.Lost, &h.Meta.Excluded} {
		for range d.Length(16) {
			*list = append(*list, d.Text())
		}
	}
	n := d.Length(400)
	if n > 0 {
		h.Clusters = make([]RankCluster, n)
	}
	calls, traffic := make([]int64, n), make([]int64, n)
	for i := range h.Clusters {
		h.Clusters[i].Ranks = d.rankList()
		calls[i], traffic[i] = int64(d.Int()), int64(d.Int())
	}
	all := d.calls(total(calls))
	bins := d.traffic(total(traffic))
	if d.Err != nil {
		return
	}
	for i := range h.Clusters {
		h.Clusters[i].Calls, all = cut(all, calls[i])
		h.Clusters[i].Traffic, bins = cut(bins, traffic[i])
	}
	d.histogramsInto(h.histogramList())
}

// total adds up lengths. It returns −1 if one is negative or the sum exceeds the maximum length of
// a list.
func total(lengths []int64) int {
	var sum int64
	for _, n := range lengths {
		if n < 0 || n > math.MaxInt32-sum {
			return -1
		}
		sum += n
	}
	return int(sum)
}

// cut splits a list after n elements.
func cut[T any](list []T, n int64) (first, rest []T) {
	if n == 0 {
		return nil, list
	}
	return list[:n:n], list[n:]
}

// table takes the memory of n rows of a table from the budget.
func (d *decoder) table(n int, size int64) bool {
	if d.Err == nil && n < 0 {
		d.Fail(codec.ErrNumber)
	}
	if d.Err == nil && !d.Budget.Take(int64(n)*size) {
		d.Fail(codec.ErrMemory)
	}
	return d.Err == nil
}

func (d *decoder) calls(n int) []CallHistogram {
	if !d.table(n, 320) {
		return nil
	}
	functions, sites, counts, unsized := d.Column(n), d.Column(n), d.Column(n), d.Column(n)
	gapCounts, argumentCounts := d.Column(n), d.Column(n)
	gaps := d.gaps(total(gapCounts))
	arguments := d.arguments(total(argumentCounts))
	if d.Err != nil {
		return nil
	}
	calls := make([]CallHistogram, n)
	for i := range calls {
		if functions[i] < 0 || functions[i] > math.MaxUint16 || sites[i] < 0 || sites[i] > math.MaxUint32 {
			d.Fail(codec.ErrNumber)
			return nil
		}
		c := &calls[i]
		c.Function, c.Site, c.Calls, c.Unsized = uint16(functions[i]), uint32(sites[i]), uint64(counts[i]), uint64(unsized[i])
		c.Gaps, gaps = cut(gaps, gapCounts[i])
		c.Arguments, arguments = cut(arguments, argumentCounts[i])
		for _, a := range c.Arguments {
			for k := range a.Names {
				a.Names[k].Count = c.Calls - a.Names[k].Count
			}
		}
	}
	return calls
}

func (d *decoder) gaps(n int) []GapHistogram {
	if !d.table(n, 80) {
		return nil
	}
	gaps := make([]GapHistogram, n)
	for i, after := range d.Column(n) {
		if after < -1 || after > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
			return nil
		}
		gaps[i].After = int(after)
	}
	return gaps
}

func (d *decoder) arguments(n int) []ArgumentHistogram {
	if !d.table(n, 216) {
		return nil
	}
	texts, flags, nameCounts, others := d.Texts(n), d.Column(n), d.Column(n), d.Column(n)
	m := total(nameCounts)
	if !d.table(m, 24) {
		return nil
	}
	names, counts := d.Texts(m), d.Column(m)
	if d.Err != nil {
		return nil
	}
	list := make([]NameCount, m)
	for i := range list {
		list[i] = NameCount{names[i], uint64(counts[i])}
	}
	arguments := make([]ArgumentHistogram, n)
	for i := range arguments {
		if flags[i] < 0 || flags[i] > 3 {
			d.Fail(codec.ErrNumber)
			return nil
		}
		a := &arguments[i]
		a.Name, a.Result, a.Relative, a.Others = texts[i], flags[i]&1 != 0, flags[i]&2 != 0, uint64(others[i])
		a.Names, list = cut(list, nameCounts[i])
	}
	return arguments
}

func (d *decoder) traffic(n int) []TrafficBin {
	if !d.table(n, 48) {
		return nil
	}
	low, width, messages, bytes, unsized := d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n)
	bins := make([]TrafficBin, n)
	for i := range bins {
		bins[i] = TrafficBin{low[i]&1 != 0, low[i] >> 1, low[i]>>1 + width[i], uint64(messages[i]), uint64(bytes[i]), uint64(unsized[i])}
	}
	return bins
}

// histogramsInto reads what histograms wrote.
func (d *decoder) histogramsInto(list []expectedHistogram) {
	n := len(list)
	present, missing, least, spans, sums, lengths := d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n)
	flags := make([]bool, n)
	several := 0
	for i, x := range lengths {
		if flags[i], lengths[i] = x&1 != 0, x>>1; lengths[i] > 0 {
			several++
		}
	}
	m := total(lengths)
	if !d.table(m, 24) || !d.table(n, 24) {
		return
	}
	first, width, inBin := d.Column(m), d.Column(m), d.Column(m-several)
	if d.Err != nil {
		return
	}
	for i, h := range list {
		if present[i] != 0 {
			h.Count = h.expected - uint64(missing[i])
		}
		h.Min, h.Max, h.Binned = least[i], least[i]+spans[i], flags[i]
		h.Sum = sums[i] + int64(h.Count)*least[i]
		k := lengths[i]
		if k == 0 {
			h.SetConstantBin()
			continue
		}
		if !h.SetBins(first[:k], width[:k], inBin[:k-1]) {
			d.Fail(codec.ErrNumber)
			return
		}
		first, width, inBin = first[k:], width[k:], inBin[k-1:]
	}
}
