package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// sequenceOf is all of a value stream: the chunks that are in parts, what is in the log, and what is in memory.
func (r *Recorder) sequenceOf(of blockOf, s *stream) (codec.Sequence, error) {
	var b codec.SequenceBuilder
	if r.blocks != nil {
		for _, c := range r.blocks.chunks[of] {
			if b.Len()+codec.SequenceChunk > s.inBlocks {
				break
			}
			b.PushChunk(c)
		}
	}
	logged, full, err := r.blocksOf(of, b.Len(), s.inBlocks)
	if err != nil {
		return codec.Sequence{}, err
	}
	if err := r.blocks.push(&b, logged); err != nil {
		return codec.Sequence{}, err
	}
	for _, block := range full {
		if err := pushRuns(&b, block.data[0], block.first, block.n); err != nil {
			return codec.Sequence{}, err
		}
	}
	if err := pushRuns(&b, s.encoded(0), s.inBlocks, s.n-s.inBlocks); err != nil {
		return codec.Sequence{}, err
	}
	return b.Sequence(), nil
}

// push adds the values of blocks of a stream to those that are there.
func (x *blockIndex) push(to *codec.SequenceBuilder, blocks []loggedBlock) error {
	for i := range blocks {
		b, err := x.open(&blocks[i])
		if err != nil {
			return err
		}
		if err := pushRuns(to, b.data[0], b.first, b.n); err != nil {
			return err
		}
	}
	return nil
}

// pushRuns adds n values, of which the first has this number, but for those that are there already.
func pushRuns(to *codec.SequenceBuilder, runs []byte, first, n uint64) error {
	if first > to.Len() || first+n < first {
		return errBlocks
	}
	there := min(to.Len()-first, n)
	for len(runs) > 0 {
		v, i := binary.Varint(runs)
		if i <= 0 {
			return errBlocks
		}
		k, j := binary.Uvarint(runs[i:])
		if j <= 0 || k >= n {
			return errBlocks
		}
		runs = runs[i+j:]
		k++
		n -= k
		passed := min(there, k)
		there -= passed
		to.PushRun(v, k-passed)
	}
	if n != 0 {
		return errBlocks
	}
	return nil
}
