package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// sequenceOf returns a whole value stream: its chunks in parts, its blocks in the log, and
// its runs in memory.
func (k *blocks) sequenceOf(of BlockOf, s *values.Stream) (codec.Sequence, error) {
	var b codec.SequenceBuilder
	for _, c := range k.Blocks.Chunks[of] {
		if b.Len()+codec.SequenceChunk > s.InBlocks() {
			break
		}
		b.PushChunk(c)
	}
	rest := Block{First: s.InBlocks(), N: s.Len() - s.InBlocks(), Data: [2][]byte{s.Runs()}}
	stored, err := k.blocksOf(of, b.Len(), &rest)
	if err != nil {
		return codec.Sequence{}, err
	}
	err = k.Blocks.Push(&b, stored)
	return b.Sequence(), err
}

// Push adds the values of blocks of a stream to to.
func (x *BlockIndex) Push(to *codec.SequenceBuilder, blocks []StoredBlock) error {
	for i := range blocks {
		b, err := x.Open(&blocks[i])
		if err != nil {
			return err
		}
		if err := pushRuns(to, b.Data[0], b.First, b.N); err != nil {
			return err
		}
	}
	return nil
}

// pushRuns adds n values, the first of which has number first. It skips those that
// were added before.
func pushRuns(to *codec.SequenceBuilder, runs []byte, first, n uint64) error {
	if first > to.Len() || first+n < first {
		return ErrBlocks
	}
	there := min(to.Len()-first, n)
	for len(runs) > 0 {
		v, i := binary.Varint(runs)
		if i <= 0 {
			return ErrBlocks
		}
		k, j := binary.Uvarint(runs[i:])
		if j <= 0 || k >= n {
			return ErrBlocks
		}
		runs = runs[i+j:]
		k++
		n -= k
		passed := min(there, k)
		there -= passed
		to.PushRun(v, k-passed)
	}
	if n != 0 {
		return ErrBlocks
	}
	return nil
}

// A StoredBlock is a block that is in a log or still in memory.
type StoredBlock struct {
	Block        // in a log: without its data
	File  string // of the log; "": in memory
	At    int64  // offset of the header in the log
	Size  int    // in the log, with the header
}

// A BlockIndex locates the blocks of a process that are no longer in memory: in its logs, or coded
// in parts. Readers of the spool use it; the process itself does not.
type BlockIndex struct {
	Blocks   map[BlockOf][]StoredBlock            // in logs, in the order of their first values
	Read     func(b *StoredBlock) ([]byte, error) // reads one of them as it is in its file
	Coded    map[int][]trace.PartBlock            // by thread: the first blocks of its times that are in parts
	Chunks   map[BlockOf][]*codec.Chunk           // by stream: the same
	Chapters map[int][]*trace.Chapter             // by thread: the same
}

// Between returns the blocks with the values from number from up to to of a column or stream. The
// first block may begin earlier.
func (x *BlockIndex) Between(of BlockOf, from, to uint64) ([]StoredBlock, error) {
	var list []StoredBlock
	for _, b := range x.Blocks[of] {
		if from == to {
			break
		}
		end := b.First + b.N
		if end <= from {
			continue // it is in a part, or in the block before
		}
		if b.First > from || end < b.First || end > to {
			return nil, ErrBlocks
		}
		list = append(list, b)
		from = end
	}
	if from != to {
		return nil, ErrBlocks
	}
	return list, nil
}

// Open reads a block.
func (x *BlockIndex) Open(b *StoredBlock) (*Block, error) {
	if b.File == "" {
		return &b.Block, nil
	}
	text, err := x.Read(b)
	if err != nil {
		return nil, err
	}
	whole, size, ok := ParseBlock(text)
	if !ok || size != b.Size || whole.Of != b.Of || whole.First != b.First || whole.N != b.N {
		return nil, ErrBlocks
	}
	return whole, nil
}

// blocksOf returns the blocks with the values from number from on: from a log, full ones from
// memory, and last, which is not full, unless it is empty.
func (k *blocks) blocksOf(of BlockOf, from uint64, last *Block) ([]StoredBlock, error) {
	var memory []StoredBlock
	inLog := last.First
	for _, b := range k.full {
		if b.Of == of {
			memory = append(memory, StoredBlock{Block: *b})
			inLog = min(inLog, b.First)
		}
	}
	if last.N > 0 {
		memory = append(memory, StoredBlock{Block: *last})
	}
	logged, err := k.Blocks.Between(of, from, inLog)
	return append(logged, memory...), err
}

// TimesIn returns the times in some blocks of a log, in their order.
func (x *BlockIndex) TimesIn(blocks []StoredBlock) trace.TimingSource {
	return &threadTimes{log: x, blocks: blocks}
}
