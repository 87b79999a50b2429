package recorder

import (
	"errors"
	"slices"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// Blocks of values have any number of them, those of one stream among those of others. What fills chunks goes into the
// part. What is left of each stream, less than a chunk, is written anew: so files of the log can be removed though some of
// their streams get no more values.
const (
	leftFile = "left" // of the values in files of the log that were removed
	leftNew  = "left.new"
	// maxLeft is how many bytes may be left; with more the log stays as it is.
	maxLeft = mostBlockFile / 2
)

// packValues codes the values in some files of the log, and returns the first ones of which nothing is needed any more
// once the part and what is left have their names.
func (k *packer) packValues(r *Recorder, files []string) (coded []string, err error) {
	files = k.log.counted(files, r)
	if len(files) == 0 {
		return nil, nil
	}
	bytes := 0
	for _, t := range r.byNumber() {
		for number := range t.results {
			for i := range t.results[number].streams {
				of := blockOf{t.number, int32(number), int32(i)}
				if err := k.packStream(of, files); err != nil {
					return nil, err
				}
				if n := len(k.left); n > 0 && k.left[n-1].of == of {
					bytes += blockHeader + len(k.left[n-1].data[0])
				}
			}
		}
	}
	if bytes > maxLeft {
		return nil, nil
	}
	return files, nil
}

// counted are the first files whose blocks the checkpoint counts.
func (x *blockIndex) counted(files []string, r *Recorder) []string {
	n := map[blockOf]uint64{}
	for _, t := range r.threads {
		for number := range t.results {
			for i := range t.results[number].streams {
				n[blockOf{t.number, int32(number), int32(i)}] = t.results[number].streams[i].inBlocks
			}
		}
	}
	for of, list := range x.blocks {
		for _, b := range list {
			if i := slices.Index(files, b.file); i >= 0 && b.first+b.n > n[of] {
				files = files[:i]
			}
		}
	}
	return files
}

// packStream codes the chunks of a stream that are in some files of the log, or were left of earlier ones.
func (k *packer) packStream(of blockOf, files []string) error {
	chunks := k.log.chunks[of]
	from := uint64(len(chunks)) * codec.SequenceChunk
	to := from
	for _, b := range k.log.blocks[of] {
		if b.file == leftFile || slices.Contains(files, b.file) {
			to = max(to, b.first+b.n)
		}
	}
	blocks, err := k.log.between(of, from, to)
	if err != nil {
		return err
	}
	var b codec.SequenceBuilder
	for _, c := range chunks {
		b.PushChunk(c)
	}
	if err := k.log.push(&b, blocks); err != nil {
		return err
	}
	values := b.Sequence()
	for number := len(chunks); number < len(values.Chunks); number++ {
		if err := k.begin(); err != nil {
			return err
		}
		is := trace.ChunkOf{Thread: int(of.thread), Terminal: of.terminal, Stream: of.stream, Number: uint64(number)}
		if err := k.part.Chunk(is, values.Chunks[number]); err != nil {
			return err
		}
		k.values += codec.SequenceChunk
	}
	if n := len(values.Values); n > 0 {
		var s stream
		for _, v := range values.Values {
			s.push(v)
		}
		k.left = append(k.left, &block{of: of, first: uint64(len(values.Chunks)) * codec.SequenceChunk, n: uint64(n), data: [2][]byte{s.encoded(0)}})
	}
	return nil
}

// keepLeft writes what is left of the values, in the place of what was left before, and says how much longer that is.
func (d *Directory) keepLeft(left []*block) (grown int64, err error) {
	var text []byte
	for _, b := range left {
		text = b.append(text)
	}
	before := int64(0)
	if info, err := d.root.Lstat(leftFile); err == nil {
		before = info.Size()
	}
	f, err := plainfile.Create(d.root, leftNew)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.root.Rename(leftNew, leftFile)
	}
	if err != nil {
		return 0, err
	}
	return int64(len(text)) - before, nil
}
