package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// sequenceBlockBytes is the encoded size from which on the next value sequences go into another
// block.
const sequenceBlockBytes = 1 << 20

// Write writes c as a trace file: equal contents give equal bytes. It returns the error of
// c.Validate or of w.
func Write(w io.Writer, c *Content) error { return write(w, c, &Chain{}) }

func write(w io.Writer, c *Content, chain *Chain) error {
	if err := c.Validate(); err != nil {
		return err
	}
	plan, err := planTiming(c.Signatures, &c.Meta, c.Functions)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.Sequences, func(s codec.Sequence) bool { return len(s.Values) >= codec.SequenceChunk }) {
		chunked := *c
		c, chunked.Sequences = &chunked, slices.Clone(c.Sequences)
		for i := range c.Sequences {
			c.Sequences[i] = c.Sequences[i].Chunked()
		}
	}
	readings := clockReadings(c)
	coded, err := codeReadings(c, readings)
	if err != nil {
		return err
	}
	long := planChunks(c.Sequences, coded.codes)
	f := &fileWriter{w: w, purpose: purposeOf(&c.Meta), chain: chain}
	signatures, version := appendSignatures(c.Signatures, c.Functions, c.Meta.Final)
	f.write(append([]byte(magic), version))
	f.section(blockMeta, appendMeta(&c.Meta))
	f.section(blockFunctions, appendFunctions(c.Functions))
	if len(c.Sites) > 0 {
		f.section(blockSites, appendSites(c.Sites))
	}
	if len(c.Allocations) > 0 {
		f.section(blockAllocations, appendAllocations(c.Allocations))
	}
	f.section(blockSignatures, signatures)
	f.section(blockCommunicators, appendCommunicators(c.Communicators))
	f.section(blockGrammar, codec.AppendRules(nil, c.Grammar, f.purpose))
	f.section(blockRankMap, appendRankMap(c))
	if hasChapters(c) {
		f.section(blockChapters, appendChapters(c))
	}
	if len(c.Columns) > 0 {
		f.section(blockColumns, codec.AppendColumns(nil, c.Columns))
	}
	f.section(blockStreams, appendStreams(c))
	f.sequences(c.Sequences, readings)
	if len(long.numbers) > 0 {
		f.section(blockLongSequences, long.section())
	}
	f.section(blockRanks, appendRanks(&c.Ranks))
	f.section(blockTimingStart, appendTimingStart(c))
	f.counted(c)
	if len(c.Leads) > 0 {
		f.section(blockLeads, codec.AppendSequence(nil, codec.Int64s(c.Leads)))
	}
	if hasClustering(c) {
		f.section(blockClustering, appendClustering(c))
	}
	f.block(blockSections, 0, 0, codec.AppendSections(nil, f.small))
	f.clockReadings(c.Sequences, readings, coded)
	if err := f.chunks(long.list); err != nil {
		return err
	}
	if err := f.chapters(c); err != nil {
		return err
	}
	for i, t := range c.Threads.All() {
		switch {
		case t.timed():
			if err := f.timing(i, &t, c, plan); err != nil {
				return err
			}
		case len(t.Aggregates) > 0:
			f.block(blockAggregates, int64(i), 0, timing.AppendAggregates(nil, t.Aggregates))
		}
	}
	f.finish()
	if f.err != nil {
		return fmt.Errorf("trace: write: %w", f.err)
	}
	return nil
}

// counted writes what the operating system counted for the processes.
func (f *fileWriter) counted(c *Content) {
	if hasContext(c) {
		f.section(blockContext, appendContext(c))
	}
	if hasEvidence(c) {
		f.section(blockEvidence, appendEvidence(c))
	}
	if c.Ranks.evidence.hasUsage() {
		f.section(blockUsage, appendUsage(c))
	}
	if c.Ranks.ends.N > 0 {
		f.section(blockEnds, appendEnds(&c.Ranks))
	}
	if hasDeaths(c) {
		f.section(blockDeaths, appendDeaths(c))
	}
	if c.Ranks.looks.N > 0 {
		f.section(blockLooks, appendLooks(c))
	}
	if c.Ranks.tracers.N > 0 {
		f.section(blockTracers, appendTracers(&c.Ranks))
	}
	if c.Ranks.hasCompressors() {
		f.section(blockCompressors, appendCompressors(&c.Ranks))
	}
	if c.Ranks.pressures.N > 0 {
		f.section(blockPressures, appendPressures(&c.Ranks))
	}
	if c.Ranks.suspensions.N > 0 {
		f.section(blockSuspensions, appendSuspensions(&c.Ranks))
	}
}

func purposeOf(m *Meta) codec.Effort {
	if m.Final {
		return codec.Smallest
	}
	return codec.Fastest
}

// A fileWriter writes blocks and records their positions. It keeps the first error.
type fileWriter struct {
	w       io.Writer
	purpose codec.Effort
	err     error
	written int64
	index   codec.Index
	chain   *Chain          // precedes this file
	before  []codec.Entry   // blocks of the chain
	small   []codec.Section // sections that will share a block
	scratch []byte
}

func (f *fileWriter) write(b []byte) {
	if f.err != nil {
		return
	}
	var n int
	n, f.err = f.w.Write(b)
	f.written += int64(n)
}

func (f *fileWriter) block(kind codec.Kind, key, part int64, content []byte) {
	f.scratch = codec.AppendBlock(f.scratch[:0], kind, content, packingOf(kind, f.purpose))
	f.index.Add(codec.Entry{Kind: kind, Offset: f.written, Size: int64(len(f.scratch)), Key: key, Part: part})
	f.write(f.scratch)
}

// section writes a section; small ones are written later, together.
func (f *fileWriter) section(kind codec.Kind, content []byte) {
	if len(content) > smallSection {
		f.block(kind, 0, 0, content)
		return
	}
	f.small = append(f.small, codec.Section{Kind: kind, Packing: packingOf(kind, f.purpose), Content: content})
}

// finish writes the index and the trailer.
func (f *fileWriter) finish() {
	index := &f.index
	if f.chain.size > 0 {
		all, err := f.chainIndex()
		if err != nil {
			f.err = cmp.Or(f.err, err)
			return
		}
		index = all
	}
	block := codec.AppendBlock(nil, blockIndex, index.Append(nil), packingOf(blockIndex, f.purpose))
	f.write(block)
	f.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(block))), endMark...))
}

// sequences writes value sequences, or, of long ones, the values after the chunks: encoded lengths,
// then encodings. They are a section if they are few. Clock readings have length 0 here.
func (f *fileWriter) sequences(sequences []codec.Sequence, readings []bool) {
	var lengths []int64
	var bytes []byte
	first := 0
	for i, sequence := range sequences {
		before := len(bytes)
		if !readings[i] {
			bytes = codec.AppendSequence(bytes, sequence.Values)
		}
		lengths = append(lengths, int64(len(bytes)-before))
		if len(bytes) >= sequenceBlockBytes || i == len(sequences)-1 {
			content := append(codec.AppendSequence(nil, lengths), bytes...)
			if first == 0 && i == len(sequences)-1 {
				f.section(blockSequences, content)
				return
			}
			f.block(blockSequences, int64(first), 0, content)
			lengths, bytes = lengths[:0], bytes[:0]
			first = i + 1
		}
	}
}

// FormatVersion is the version of the file format (docs/format.md) that files have, unless they
// have ListsVersion. Files of other versions are refused.
const FormatVersion = 3

// ListsVersion is FormatVersion in which lists of integers in signatures may be sequences. Finished
// traces have it if a list is shorter that way.
const ListsVersion = 5

// The file (docs/format.md): magic, blocks, the last of which is the index, and a trailer of eight
// bytes: the length of the index block (little endian) and the end marker.
const (
	magic       = "CAIRN\x1a\n" // followed by the version, one byte
	endMark     = "NRAC"
	trailerSize = 4 + len(endMark)
	headerSize  = len(magic) + 1
)

// Kinds of blocks. The numbers are part of the format: append only.
const (
	blockMeta codec.Kind = iota + 1
	blockFunctions
	blockSites
	blockSignatures
	blockCommunicators
	blockGrammar
	blockStreams
	blockSequences
	blockRanks
	blockRankMap
	blockTimingStart
	blockTiming
	blockContext
	blockAllocations
	blockColumns
	blockAggregates
	blockClockReadings
	blockLeads
	blockClustering
	blockSections // concatenated small sections
	blockEvidence
	blockEnds
	blockLongSequences // the chunks that value sequences begin with
	blockChunk
	blockChunkList // in parts only: list of the chunks
	blockShortSums // in place of timing
	blockLongSums
	blockChapter
	blockChapterList       // in parts only: list of the chapters
	blockChapters          // chapters of each thread
	blockTracers           // cost of tracing
	blockHistograms        // in traces of histograms only
	blockUsage             // what getrusage counted
	blockDeaths            // ends as observed from outside
	blockPressures         // what the kernel counted for cgroups and connections
	blockLooks             // what ranks did that ended early, as seen from outside
	blockCompressors       // CPU time of the compressor
	blockSuspensions       // how often ranks were seen suspended
	blockSkipped     = 126 // bytes of a chain that are not a block of its trace
	blockIndex       = 127
)

// packingOf returns how the content of a block is packed.
func packingOf(kind codec.Kind, purpose codec.Effort) codec.Packing {
	switch {
	case kind == blockTiming || kind == blockSections: // as small as possible
		return codec.PackNone
	case purpose == codec.Fastest:
		return codec.PackFast
	case kind == blockChunk:
		// Chunks are most of the trace of a program without order, and each analysis unpacks all of
		// them. The mixing codec would save 3 to 4% of such a trace, and take a quarter to a third
		// of the time of an analysis.
		return codec.PackZstd
	}
	return codec.PackSmallest
}

// smallSection is the size in bytes up to which a section shares a block.
const smallSection = 16 << 10
