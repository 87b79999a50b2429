package trace

import (
	"fmt"
	"io"

	"github.com/cairn-mpi/cairn/trace/codec"
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
