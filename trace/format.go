package trace

import "github.com/cairn-mpi/cairn/trace/codec"

// FormatVersion is the version of the file format that this package reads and writes (docs/format.md). Files of others are
// refused.
const FormatVersion = 3

// The file (docs/format.md): magic, blocks, of which the last is the index, and a trailer of eight bytes: the length
// of the index block (little endian) and the end mark.
const (
	magic       = "CAIRN\x1a\n" // followed by the version, one byte
	endMark     = "NRAC"
	trailerSize = 4 + len(endMark)
	headerSize  = len(magic) + 1
)

// What blocks hold. The numbers are part of the format: append only.
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
	blockSegments
	blockColumns
	blockAggregates
	blockClockReadings
	blockLeads
	blockClustering
	blockSections // small sections, one after the other
	blockEvidence
	blockEnds
	blockLongSequences // which chunks value sequences begin with
	blockChunk
	blockChunkList // in parts only: what the chunks are
	blockShortSums // in place of timing
	blockLongSums
	blockChapter
	blockChapterList       // in parts only: what the chapters are
	blockChapters          // which threads have chapters
	blockTracers           // what tracing took
	blockHistograms        // in traces of histograms only
	blockSkipped     = 126 // bytes of a chain that are no block of its trace
	blockIndex       = 127
)

// packingOf is how the content of a block is packed.
func packingOf(kind codec.Kind, purpose codec.Effort) codec.Packing {
	switch {
	case kind == blockTiming || kind == blockSections: // coded as tightly as it can be
		return codec.PackNone
	case purpose == codec.Fastest:
		return codec.PackFast
	case kind == blockChunk:
		// Chunks are what a program without order has most of, and each analysis unpacks all of them: the mixing codec would
		// save 3 to 4% of such a trace, and take a quarter to a third of the time of an analysis.
		return codec.PackZstd
	}
	return codec.PackSmallest
}

// smallSection is the size up to which a section shares a block.
const smallSection = 16 << 10
