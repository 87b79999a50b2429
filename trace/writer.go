package trace

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// TimingBlockCalls is the number of calls whose gaps and durations make one block.
	TimingBlockCalls = 1 << 16
	// sequenceBlockBytes is the encoded size from which on the next value sequences get a block of their own.
	sequenceBlockBytes = 1 << 20
)

// Write writes c as a trace file: equal contents give equal bytes. The error is that of c.Validate or of w.
func Write(w io.Writer, c *Content) error {
	if err := c.Validate(); err != nil {
		return err
	}
	plan, err := planTiming(c.Signatures, &c.Meta, c.Functions)
	if err != nil {
		return err
	}
	f := &fileWriter{w: w, purpose: purposeOf(&c.Meta)}
	f.write(append([]byte(magic), versionOf(c)))
	f.block(blockMeta, 0, 0, appendMeta(&c.Meta))
	f.block(blockFunctions, 0, 0, appendFunctions(c.Functions))
	if len(c.Sites) > 0 {
		f.block(blockSites, 0, 0, appendSites(c.Sites))
	}
	if len(c.Segments) > 0 {
		f.block(blockSegments, 0, 0, appendSegments(c.Segments))
	}
	f.block(blockSignatures, 0, 0, appendSignatures(c.Signatures))
	f.block(blockCommunicators, 0, 0, appendCommunicators(c.Communicators))
	f.block(blockGrammar, 0, 0, appendRules(nil, c.Grammar))
	f.block(blockRanks, 0, 0, appendRanks(&c.Ranks))
	f.block(blockRankMap, 0, 0, appendRankMap(c))
	if len(c.Columns) > 0 {
		f.block(blockColumns, 0, 0, appendColumns(nil, c.Columns))
	}
	f.block(blockStreams, 0, 0, appendStreams(c))
	f.block(blockTimingStart, 0, 0, appendTimingStart(c))
	if c.Meta.Timing.MomentTicks > 0 {
		f.block(blockMoments, 0, 0, appendMoments(&c.Meta.Timing))
	}
	if hasContext(c) {
		f.block(blockContext, 0, 0, appendContext(c))
	}
	if hasContextColumn(c, runDelayColumn) {
		f.block(blockRunDelay, 0, 0, appendContextColumn(c, runDelayColumn))
	}
	if hasContextColumn(c, stealColumn) {
		f.block(blockSteal, 0, 0, appendContextColumn(c, stealColumn))
	}
	if hasEvidence(c) {
		f.block(blockEvidence, 0, 0, appendEvidence(c))
	}
	if hasEvidenceData(c) {
		f.block(blockEvidenceData, 0, 0, appendEvidenceData(c))
	}
	if c.Ranks.ends.n > 0 {
		f.block(blockEnds, 0, 0, appendEnds(&c.Ranks))
	}
	if len(c.Leads) > 0 {
		f.block(blockLeads, 0, 0, AppendSequence(nil, numbers(c.Leads)))
	}
	readings := clockReadings(c)
	f.sequences(c.Sequences, readings)
	f.clockReadings(c.Sequences, readings)
	if hasClustering(c) {
		f.block(blockClustering, 0, 0, appendClustering(c))
	}
	for i, t := range c.Threads.All() {
		switch {
		case t.timed():
			if err := f.timing(i, &t, c, plan); err != nil {
				return err
			}
		case len(t.Aggregates) > 0:
			f.block(blockAggregates, int64(i), 0, appendAggregates(nil, t.Aggregates))
		}
	}
	f.finish()
	if f.err != nil {
		return fmt.Errorf("trace: write: %w", f.err)
	}
	return nil
}

func purposeOf(m *Meta) effort {
	if m.Final {
		return smallest
	}
	return fastest
}

// A fileWriter writes blocks and remembers where they are. The first error stays.
type fileWriter struct {
	w       io.Writer
	purpose effort
	err     error
	written int64
	index   index
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

func (f *fileWriter) block(kind blockType, key, part int64, content []byte) {
	f.scratch = appendBlock(f.scratch[:0], kind, content, f.purpose)
	f.index.add(indexEntry{kind, f.written, int64(len(f.scratch)), key, part})
	f.write(f.scratch)
}

// finish writes the index and the trailer.
func (f *fileWriter) finish() {
	block := appendBlock(nil, blockIndex, f.index.append(nil), f.purpose)
	f.write(block)
	f.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(block))), endMark...))
}

// sequences writes value sequences in blocks: their encoded lengths, then the encodings. Clock readings have length 0
// here.
func (f *fileWriter) sequences(sequences [][]int64, readings []bool) {
	var lengths []int64
	var bytes []byte
	first := 0
	for i, sequence := range sequences {
		before := len(bytes)
		if !readings[i] {
			bytes = AppendSequence(bytes, sequence)
		}
		lengths = append(lengths, int64(len(bytes)-before))
		if len(bytes) >= sequenceBlockBytes || i == len(sequences)-1 {
			f.block(blockSequences, int64(first), 0, append(AppendSequence(nil, lengths), bytes...))
			lengths, bytes = lengths[:0], bytes[:0]
			first = i + 1
		}
	}
}
