package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// longSequences numbers the chunks of long sequences, equal ones once.
type longSequences struct {
	numbers []int64   // of the sequences
	chunks  [][]int64 // of each
	list    []*codec.Chunk
}

// planChunks lists the long ones among sequences, but for those that a file has as a whole.
func planChunks(sequences []codec.Sequence, whole map[int][]int64) *longSequences {
	l := &longSequences{}
	known := map[[16]byte]int64{}
	for i := range sequences {
		if _, told := whole[i]; told || len(sequences[i].Chunks) == 0 {
			continue
		}
		mine := make([]int64, len(sequences[i].Chunks))
		for k, c := range sequences[i].Chunks {
			sum := c.Summary().Sum
			number, there := known[sum]
			if !there {
				number = int64(len(l.list))
				known[sum] = number
				l.list = append(l.list, c)
			}
			mine[k] = number
		}
		l.numbers, l.chunks = append(l.numbers, int64(i)), append(l.chunks, mine)
	}
	return l
}

func (l *longSequences) section() []byte {
	return codec.AppendLists(codec.AppendSequence(nil, l.numbers), l.chunks)
}

// chunks writes the chunks that do not stand in the chain before the file.
func (f *fileWriter) chunks(list []*codec.Chunk) error {
	for number, c := range list {
		if file, entry := c.Stored(); file != nil {
			if part := file.(*chunkFile).part; part != nil && f.chained(part, entry, 0, int64(number)) {
				continue
			}
		}
		content, err := c.Content()
		if err != nil {
			return fmt.Errorf("trace: chunk %d of the value sequences: %w", number, err)
		}
		f.block(blockChunk, 0, int64(number), content)
		c.Give(content)
	}
	return nil
}

// longSequences reads which chunks sequences begin with.
func (d *decoder) longSequences(chunks []codec.Chunk, sequences int) map[int][]*codec.Chunk {
	numbers, lists := d.Sequence(), d.Lists()
	if len(lists) != len(numbers) {
		d.Fail(codec.ErrSequence)
	}
	if d.Err != nil {
		return nil
	}
	long := make(map[int][]*codec.Chunk, len(numbers))
	for i, number := range numbers {
		if number < 0 || number >= int64(sequences) || i > 0 && number <= numbers[i-1] || len(lists[i]) == 0 {
			d.Fail(codec.ErrSequence)
			return nil
		}
		if !d.Budget.Take(8 * int64(len(lists[i]))) {
			d.Fail(codec.ErrMemory)
			return nil
		}
		mine := make([]*codec.Chunk, len(lists[i]))
		for k, chunk := range lists[i] {
			if chunk < 0 || chunk >= int64(len(chunks)) {
				d.Fail(codec.ErrSequence)
				return nil
			}
			mine[k] = &chunks[chunk]
		}
		long[int(number)] = mine
	}
	return long
}

// A chunkFile reads the chunks of a file.
type chunkFile struct {
	*Reader
	part *Part // which the file is; nil: a whole trace
}

// Chunk implements ChunkFile.
func (f *chunkFile) Chunk(e codec.Entry) ([]byte, error) { return f.block(e) }

// Budget implements ChunkFile.
func (f *chunkFile) Budget() *codec.Budget { return f.budget }

// openChunks makes the chunks of the blocks of the file: their numbers are consecutive. Nothing is read yet.
func (t *Reader) openChunks() error {
	n := t.chunkBlocks.Rows.Len()
	if n == 0 {
		return nil
	}
	if n > math.MaxInt32 || !t.budget.Take(int64(n)*codec.ChunkBytes) {
		return codec.ErrMemory
	}
	// chunks outlive what else the reader holds
	file := &chunkFile{&Reader{r: t.r, size: t.size, budget: t.budget}, nil}
	t.chunks = make([]codec.Chunk, n)
	for i, row := range t.chunkBlocks.Rows.All() {
		e := t.index.At(int(row))
		if e.Key != 0 || e.Part != int64(i) {
			return codec.ErrChunk
		}
		t.chunks[i] = codec.StoredChunk(file, e, codec.ChunkSummary{})
	}
	return nil
}

// SequenceLength is the number of values of a sequence.
func (t *Reader) SequenceLength(i int) (uint64, error) {
	b, _, err := t.sequenceBytes(i)
	if err != nil {
		return 0, err
	}
	d := newDecoder(b, nil)
	n := d.Uvarint()
	return uint64(len(t.long[i]))*codec.SequenceChunk + n, d.Err
}

// checkChunks reads the chunks of all sequences once.
func (t *Reader) checkChunks() error {
	t.mu.Lock() // what they are is noted
	defer t.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(t.long)) {
		for k, c := range t.long[i] {
			if err := c.Check(); err != nil {
				return fmt.Errorf("trace: value sequence %d, chunk %d: %w", i, k, err)
			}
		}
	}
	return nil
}
