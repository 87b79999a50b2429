package trace

import (
	"fmt"
	"github.com/cairn-mpi/cairn/trace/codec"
	"io"
	"math"
)

// HistogramsVersion is the version of the file format that a trace of histograms has, and only such a trace.
const HistogramsVersion = 4

// WriteHistograms writes a trace of histograms: equal ones give equal bytes. The error is that of Validate or of w.
func WriteHistograms(w io.Writer, h *Histograms) error { return writeHistograms(w, h, codec.Smallest) }

func writeHistograms(w io.Writer, h *Histograms, purpose codec.Effort) error {
	if err := h.Validate(); err != nil {
		return err
	}
	f := &fileWriter{w: w, purpose: purpose, chain: &Chain{}}
	f.write(append([]byte(magic), HistogramsVersion))
	f.section(blockMeta, appendMeta(&h.Meta))
	f.section(blockFunctions, appendFunctions(h.Functions))
	if len(h.Sites) > 0 {
		f.section(blockSites, appendSites(h.Sites))
	}
	f.section(blockRanks, appendRanks(&h.Ranks))
	if h.Ranks.ends.N > 0 {
		f.section(blockEnds, appendEnds(&h.Ranks))
	}
	f.section(blockHistograms, appendHistograms(h))
	f.block(blockSections, 0, 0, codec.AppendSections(nil, f.small))
	f.finish()
	if f.err != nil {
		return fmt.Errorf("trace: write: %w", f.err)
	}
	return nil
}

// IsHistograms reports whether r begins as a trace of histograms does.
func IsHistograms(r io.ReaderAt) bool {
	head := make([]byte, headerSize)
	n, _ := r.ReadAt(head, 0)
	return n == headerSize && string(head) == magic+string(rune(HistogramsVersion))
}

// OpenHistograms reads a trace of histograms. It is all in memory then.
func OpenHistograms(r io.ReaderAt, size int64, options ...Option) (*Histograms, error) {
	t := &Reader{r: r, size: size, budget: codec.NewBudget(defaultMemoryLimit(size))}
	for _, option := range options {
		option(t)
	}
	h, err := t.openHistograms()
	if err != nil {
		return nil, fmt.Errorf("trace: open: %w", err)
	}
	return h, nil
}

func (t *Reader) openHistograms() (*Histograms, error) {
	if err := t.openHead(); err != nil {
		return nil, err
	}
	if t.version != HistogramsVersion {
		return nil, fmt.Errorf("format version %d is no trace of histograms", t.version)
	}
	if err := t.openIndex(); err != nil {
		return nil, err
	}
	found, err := t.openBlocks()
	if err != nil {
		return nil, err
	}
	var h Histograms
	c := &t.shared
	err = found.decode([]sectionDecoding{
		{blockMeta, "metadata", false, false, func(d *decoder) { h.Meta = d.meta() }},
		{blockFunctions, "functions", false, false, func(d *decoder) { h.Functions = d.functions() }},
		{blockSites, "call sites", false, true, func(d *decoder) { h.Sites = d.sites() }},
		{blockRanks, "ranks", false, false, func(d *decoder) { c.Ranks = d.ranks() }},
		{blockEnds, "ends", true, true, func(d *decoder) { d.ends(c) }},
		{blockHistograms, "histograms", false, false, func(d *decoder) { d.histograms(&h) }},
	})
	if err != nil {
		return nil, err
	}
	h.Ranks = c.Ranks
	return &h, h.Validate()
}

// Matrix spreads the traffic of each cluster evenly over the pairs of ranks that it may have been between: an estimate of
// the communication matrix, whose sums by cluster, and so in all, are exact. Without communicators (−1). It is nil, and
// false, if there are more than limit such pairs.
func (h *Histograms) Matrix(limit int) ([]Traffic, bool) {
	size, sum := int64(h.Meta.WorldSize), traffic{}
	pairs := 0
	for i := range h.Clusters {
		ranks := h.Clusters[i].Ranks.Ranks()
		for _, bin := range h.Clusters[i].Traffic {
			span := min(uint64(bin.High)-uint64(bin.Low), math.MaxInt32) + 1
			if span*uint64(len(ranks)) > uint64(limit-pairs) {
				return nil, false
			}
			between := bin.between(ranks, size)
			pairs += len(between)
			n := uint64(len(between))
			for k, pair := range between {
				sum.add(-1, pair[0], pair[1], portion(bin.Messages, uint64(k), n), portion(bin.Bytes, uint64(k), n), portion(bin.Unsized, uint64(k), n))
			}
		}
	}
	return sum.list(), true
}

// between is the pairs of ranks that a bin may be about. A rank sends to itself only if nothing else is possible.
func (b *TrafficBin) between(ranks []int, size int64) (pairs [][2]int) {
	if b.Fixed && b.Low < 0 {
		for _, r := range ranks {
			pairs = append(pairs, [2]int{r, -1})
		}
		return pairs
	}
	for _, r := range ranks {
		low, high := b.Low, b.High
		if !b.Fixed {
			low, high = max(low, -size)+int64(r), min(high, size)+int64(r)
		}
		for to := max(low, 0); to <= min(high, size-1); to++ {
			if int(to) != r || b.Low == b.High {
				pairs = append(pairs, [2]int{r, int(to)})
			}
		}
	}
	if len(pairs) == 0 { // of a damaged trace, or of ranks beyond the world
		pairs = append(pairs, [2]int{ranks[0], -1})
	}
	return pairs
}

// portion is the part of n equal ones with a number, of a whole: they add up to it.
func portion(whole, k, n uint64) uint64 {
	at := func(k uint64) uint64 {
		return whole/n*k + whole%n*k/n
	}
	return at(k+1) - at(k)
}
