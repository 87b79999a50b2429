package spool

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A block has any number of values, and the blocks of all streams are interleaved. Complete chunks
// go into the part. The rest of each stream, less than a chunk, is rewritten to leftFile. So files
// of the log can be removed even if some of their streams get no more values.
const (
	leftFile = "left" // values of removed log files that filled no chunk
	// maxLeft is the limit for leftFile in bytes; above it the log stays as it is.
	maxLeft = maxBlockFile / 2
)

// packValues codes the values in some files of the log. It returns the leading files that are not
// needed any more once the part and leftFile are written.
func (k *packer) packValues(r *recorder.Recorder, files []string) (coded []string, err error) {
	files = counted(k.log, files, r)
	if len(files) == 0 {
		return nil, nil
	}
	left := []byte{}
	for of := range r.ClosedStreams() {
		if left, err = k.packStream(of, files, left); err != nil {
			return nil, err
		}
	}
	if len(left) > maxLeft {
		return nil, nil
	}
	k.left = left
	return files, nil
}

// counted returns the leading files whose blocks the checkpoint counts.
func counted(x *recorder.BlockIndex, files []string, r *recorder.Recorder) []string {
	n := map[recorder.BlockOf]uint64{}
	for of, values := range r.ClosedStreams() {
		n[of] = values
	}
	for of, list := range x.Blocks {
		for _, b := range list {
			if i := slices.Index(files, b.File); i >= 0 && b.First+b.N > n[of] {
				files = files[:i]
			}
		}
	}
	return files
}

// packStream codes the chunks of a stream from some files of the log and from leftFile. It appends
// the values that do not fill a chunk to left, as a block.
func (k *packer) packStream(of recorder.BlockOf, files []string, left []byte) ([]byte, error) {
	chunks := k.log.Chunks[of]
	from := uint64(len(chunks)) * codec.SequenceChunk
	to := from
	for _, b := range k.log.Blocks[of] {
		if b.File == leftFile || slices.Contains(files, b.File) {
			to = max(to, b.First+b.N)
		}
	}
	blocks, err := k.log.Between(of, from, to)
	if err != nil {
		return nil, err
	}
	var b codec.SequenceBuilder
	for _, c := range chunks {
		b.PushChunk(c)
	}
	if err := k.log.Push(&b, blocks); err != nil {
		return nil, err
	}
	values := b.Sequence()
	for number := len(chunks); number < len(values.Chunks); number++ {
		if err := k.begin(); err != nil {
			return nil, err
		}
		is := trace.ChunkOf{Thread: int(of.Thread), Terminal: of.Terminal, Stream: of.Stream, Number: uint64(number)}
		if err := k.part.Chunk(is, values.Chunks[number]); err != nil {
			return nil, err
		}
		k.values += codec.SequenceChunk
	}
	if n := len(values.Values); n > 0 {
		first := uint64(len(values.Chunks)) * codec.SequenceChunk
		b := recorder.Block{Of: of, First: first, N: uint64(n), Data: [2][]byte{recorder.EncodeRuns(values.Values)}}
		left = b.Append(left)
	}
	return left, nil
}
