package trace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// longSequences numbers the distinct chunks of long sequences.
type longSequences struct {
	numbers []int64   // of the sequences
	chunks  [][]int64 // of each
	list    []*codec.Chunk
}

// planChunks lists the long sequences, except those that a file stores as a whole.
func planChunks(sequences []codec.Sequence, whole map[int][]int64) *longSequences {
	l := &longSequences{}
	known := map[[16]byte]int64{}
	for i := range sequences {
		if _, stored := whole[i]; stored || len(sequences[i].Chunks) == 0 {
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

// chunks writes the chunks that are not in the chain before the file.
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
		c.Release(content)
	}
	return nil
}

// longSequences reads the chunks that sequences begin with.
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
	part *Part // the part that the file is; nil: a whole trace
}

// Chunk implements ChunkFile.
func (f *chunkFile) Chunk(e codec.Entry) ([]byte, error) { return f.block(e) }

// Budget implements ChunkFile.
func (f *chunkFile) Budget() *codec.Budget { return f.budget }

// openChunks makes the chunks of the blocks of the file: their numbers are consecutive. It reads
// none of them.
func (t *Reader) openChunks() error {
	n := t.chunkBlocks.Rows.Len()
	if n == 0 {
		return nil
	}
	if n > math.MaxInt32 || !t.budget.Take(int64(n)*codec.ChunkBytes) {
		return codec.ErrMemory
	}
	// chunks live longer than the rest of the reader
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

// SequenceLength returns the number of values of a sequence.
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
	t.mu.Lock() // the summaries are set
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

// Chunks of value sequences in parts.

// A ChunkOf identifies a chunk in a stream of a signature on a thread. Its first value has the
// index SequenceChunk·Number in the stream.
type ChunkOf struct {
	Thread           int
	Terminal, Stream int32
	Number           uint64
}

// A partChunk is a chunk of a part.
type partChunk struct {
	of    ChunkOf
	chunk *codec.Chunk
}

// Chunk writes a chunk.
func (p *PartWriter) Chunk(of ChunkOf, c *codec.Chunk) error {
	content, err := c.Content()
	if err != nil {
		return err
	}
	p.file.block(blockChunk, 0, int64(len(p.chunks)), content)
	c.Release(content)
	p.chunks = append(p.chunks, partChunk{of, c})
	return p.file.err
}

// chunkListColumns is the number of columns of the list of chunks: thread, terminal, stream,
// number, both halves of the checksum, first value, and 1 if all values equal it.
const chunkListColumns = 8

func appendChunkList(chunks []partChunk) (b []byte) {
	for k := range chunkListColumns {
		column := make([]int64, len(chunks))
		for i, c := range chunks {
			column[i] = c.row()[k]
		}
		b = codec.AppendSequence(b, column)
	}
	return b
}

func (c *partChunk) row() [chunkListColumns]int64 {
	summary := c.chunk.Summary()
	equal := int64(0)
	if summary.Equal {
		equal = 1
	}
	sum := func(i int) int64 { return int64(binary.LittleEndian.Uint64(summary.Sum[i:])) }
	return [...]int64{int64(c.of.Thread), int64(c.of.Terminal), int64(c.of.Stream), int64(c.of.Number), sum(0), sum(8), summary.First, equal}
}

// openChunks reads the list of chunks of a part.
func (p *Part) openChunks(list *codec.Entry) error {
	t := &p.file
	var entries []codec.Entry
	for i := range t.index.Len() {
		if e := t.index.At(i); e.Kind == blockChunk {
			if !t.budget.Take(codec.ChunkBytes) {
				return codec.ErrMemory
			}
			entries = append(entries, e)
		}
	}
	if list == nil {
		if len(entries) > 0 {
			return codec.ErrChunk
		}
		return nil
	}
	content, err := t.block(*list)
	if err != nil {
		return fmt.Errorf("chunks: %w", err)
	}
	d := newDecoder(content, t.budget)
	var columns [chunkListColumns][]int64
	for k := range columns {
		columns[k] = d.Column(len(entries))
	}
	d.Release()
	t.budget.Give(int64(len(content)))
	if d.Err == nil && len(d.Rest) > 0 {
		d.Fail(codec.ErrChunk)
	}
	file := &chunkFile{t, p}
	for i := range entries {
		summary := codec.ChunkSummary{First: columns[6][i], Equal: columns[7][i] == 1}
		binary.LittleEndian.PutUint64(summary.Sum[:], uint64(columns[4][i]))
		binary.LittleEndian.PutUint64(summary.Sum[8:], uint64(columns[5][i]))
		for k, v := range columns[:4] {
			if v[i] < 0 || v[i] > 1<<31-1 && k < 3 {
				d.Fail(codec.ErrChunk)
			}
		}
		of := ChunkOf{int(columns[0][i]), int32(columns[1][i]), int32(columns[2][i]), uint64(columns[3][i])}
		chunk := codec.StoredChunk(file, entries[i], summary)
		p.chunks = append(p.chunks, partChunk{of, &chunk})
	}
	return d.Err
}

// HasChunks reports whether the part has chunks.
func (p *Part) HasChunks() bool { return len(p.chunks) > 0 }

// Chunks calls do with each chunk of the part, in the order of the file.
func (p *Part) Chunks(do func(of ChunkOf, c *codec.Chunk)) {
	for _, c := range p.chunks {
		do(c.of, c.chunk)
	}
}

// OrderChunks sorts the chunks of parts by stream (a ChunkOf with Number 0), without duplicates, up
// to the first missing one.
func OrderChunks(parts []*Part) map[ChunkOf][]*codec.Chunk {
	found := map[ChunkOf]*codec.Chunk{}
	for _, p := range parts {
		p.Chunks(func(of ChunkOf, c *codec.Chunk) {
			if found[of] == nil {
				found[of] = c
			}
		})
	}
	ordered := map[ChunkOf][]*codec.Chunk{}
	for of := range found {
		stream := of
		if stream.Number = 0; ordered[stream] != nil || found[stream] == nil {
			continue
		}
		for next := stream; found[next] != nil; next.Number++ {
			ordered[stream] = append(ordered[stream], found[next])
		}
	}
	return ordered
}
