package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
)

// sequenceOf is all of a value stream: the chunks that are in parts, what is in the log, and what is in memory.
func (r *Recorder) sequenceOf(of blockOf, s *stream) (trace.Sequence, error) {
	var b trace.SequenceBuilder
	if r.blocks != nil {
		for _, c := range r.blocks.chunks[of] {
			if b.Len()+trace.SequenceChunk > s.inBlocks {
				break
			}
			b.PushChunk(c)
		}
	}
	logged, full, err := r.blocksOf(of, b.Len(), s.inBlocks)
	if err != nil {
		return trace.Sequence{}, err
	}
	if err := r.blocks.push(&b, logged); err != nil {
		return trace.Sequence{}, err
	}
	for _, block := range full {
		if err := pushRuns(&b, block.data[0], block.first, block.n); err != nil {
			return trace.Sequence{}, err
		}
	}
	if err := pushRuns(&b, s.encoded(0), s.inBlocks, s.n-s.inBlocks); err != nil {
		return trace.Sequence{}, err
	}
	return b.Sequence(), nil
}

// push adds the values of blocks of a stream to those that are there.
func (x *blockIndex) push(to *trace.SequenceBuilder, blocks []loggedBlock) error {
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
func pushRuns(to *trace.SequenceBuilder, runs []byte, first, n uint64) error {
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

// A loggedBlock says where a block of a log is.
type loggedBlock struct {
	block        // without its data
	file  string // of the log
	at    int64  // of the header
	size  int    // with the header
}

// A blockIndex says where the blocks of a process are that are in memory no more: in its logs, or coded in parts. It is for
// who reads them, and not for the process itself.
type blockIndex struct {
	blocks   map[blockOf][]loggedBlock            // in logs, in the order of their first values
	read     func(b *loggedBlock) ([]byte, error) // reads one of them as it stands in its file
	coded    map[int][]trace.PartBlock            // of each thread's times: the first blocks, where they are in parts
	chunks   map[blockOf][]*trace.Chunk           // of each stream: the same
	chapters map[int][]*trace.Chapter             // of each thread: the same
}

// between lists the blocks that have the values from one number on up to another one of a column or stream. The first may
// begin before them.
func (x *blockIndex) between(of blockOf, from, to uint64) ([]loggedBlock, error) {
	if from == to {
		return nil, nil
	}
	if x == nil {
		return nil, errBlocks
	}
	var list []loggedBlock
	for _, b := range x.blocks[of] {
		if from == to {
			break
		}
		end := b.first + b.n
		if end <= from {
			continue // a part has it, or the block before
		}
		if b.first > from || end < b.first || end > to {
			return nil, errBlocks
		}
		list = append(list, b)
		from = end
	}
	if from != to {
		return nil, errBlocks
	}
	return list, nil
}

// open reads a block.
func (x *blockIndex) open(b *loggedBlock) (*block, error) {
	text, err := x.read(b)
	if err != nil {
		return nil, err
	}
	whole, size, ok := parseBlock(text)
	if !ok || size != b.size || whole.of != b.of || whole.first != b.first || whole.n != b.n {
		return nil, errBlocks
	}
	return whole, nil
}

// blocksOf lists the blocks that have the values from one number on up to another one, from a log and from memory.
func (r *Recorder) blocksOf(of blockOf, from, to uint64) (logged []loggedBlock, full []*block, err error) {
	inLog := to
	for _, b := range r.full {
		if b.of == of {
			full = append(full, b)
			inLog = min(inLog, b.first)
		}
	}
	logged, err = r.blocks.between(of, from, inLog)
	return logged, full, err
}

// timesIn are the times in some blocks of a log, in their order.
func (x *blockIndex) timesIn(blocks []loggedBlock) trace.TimingSource {
	return &threadTimes{log: x, logged: blocks}
}
