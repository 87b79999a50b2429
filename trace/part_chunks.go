package trace

import (
	"encoding/binary"
	"fmt"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Chunks of value sequences in parts.

// A ChunkOf says of what a chunk is: SequenceChunk·Number is the number of its first value in a stream of a signature on a
// thread.
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
	c.Give(content)
	p.chunks = append(p.chunks, partChunk{of, c})
	return p.file.err
}

// chunkListColumns are, of each chunk: thread, terminal, stream, number, both halves of its sum, its first value, and 1 if
// it has no other.
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

// openChunks reads what the chunks of a part are.
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

// HasChunks says whether the part has any chunks.
func (p *Part) HasChunks() bool { return len(p.chunks) > 0 }

// Chunks calls do with the chunks of the part, in the order of the file.
func (p *Part) Chunks(do func(of ChunkOf, c *codec.Chunk)) {
	for _, c := range p.chunks {
		do(c.of, c.chunk)
	}
}

// OrderChunks sorts chunks of parts by stream (with Number 0), each once, up to the first that is missing.
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
