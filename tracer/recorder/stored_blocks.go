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
	if k.Blocks != nil {
		for _, c := range k.Blocks.Chunks[of] {
			if b.Len()+codec.SequenceChunk > s.InBlocks() {
				break
			}
			b.PushChunk(c)
		}
	}
	logged, full, err := k.blocksOf(of, b.Len(), s.InBlocks())
	if err != nil {
		return codec.Sequence{}, err
	}
	if err := k.Blocks.Push(&b, logged); err != nil {
		return codec.Sequence{}, err
	}
	for _, block := range full {
		if err := pushRuns(&b, block.Data[0], block.First, block.N); err != nil {
			return codec.Sequence{}, err
		}
	}
	if err := pushRuns(&b, s.Runs(), s.InBlocks(), s.Len()-s.InBlocks()); err != nil {
		return codec.Sequence{}, err
	}
	return b.Sequence(), nil
}

// Push adds the values of blocks of a stream to to.
func (x *BlockIndex) Push(to *codec.SequenceBuilder, blocks []LoggedBlock) error {
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

// A LoggedBlock locates a block in a log.
type LoggedBlock struct {
	Block        // without its data
	File  string // of the log
	At    int64  // offset of the header
	Size  int    // with the header
}

// A BlockIndex locates the blocks of a process that are no longer in memory: in its logs, or coded
// in parts. Readers of the spool use it; the process itself does not.
type BlockIndex struct {
	Blocks   map[BlockOf][]LoggedBlock            // in logs, in the order of their first values
	Read     func(b *LoggedBlock) ([]byte, error) // reads one of them as it is in its file
	Coded    map[int][]trace.PartBlock            // by thread: the first blocks of its times that are in parts
	Chunks   map[BlockOf][]*codec.Chunk           // by stream: the same
	Chapters map[int][]*trace.Chapter             // by thread: the same
}

// Between returns the blocks with the values from number from up to to of a column or stream. The
// first block may begin earlier.
func (x *BlockIndex) Between(of BlockOf, from, to uint64) ([]LoggedBlock, error) {
	if from == to {
		return nil, nil
	}
	if x == nil {
		return nil, ErrBlocks
	}
	var list []LoggedBlock
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
func (x *BlockIndex) Open(b *LoggedBlock) (*Block, error) {
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

// blocksOf returns the blocks with the values from number from up to to, from a log
// and from memory.
func (k *blocks) blocksOf(of BlockOf, from, to uint64) (logged []LoggedBlock, full []*Block, err error) {
	inLog := to
	for _, b := range k.full {
		if b.Of == of {
			full = append(full, b)
			inLog = min(inLog, b.First)
		}
	}
	logged, err = k.Blocks.Between(of, from, inLog)
	return logged, full, err
}

// TimesIn returns the times in some blocks of a log, in their order.
func (x *BlockIndex) TimesIn(blocks []LoggedBlock) trace.TimingSource {
	return &threadTimes{log: x, logged: blocks}
}
