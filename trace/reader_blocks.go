package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// foundSections are the sections of a file that is being opened: in blocks of their own, or together in one.
type foundSections struct {
	file   *Reader
	blocks map[codec.Kind]codec.Entry
	small  map[codec.Kind][]byte
	booked int64 // of small
}

// openBlocks sorts the blocks of the index. Those that all ranks share stand together in files of this writer and are read
// at once: over a network one request takes longer than many bytes.
func (t *Reader) openBlocks() (*foundSections, error) {
	found := &foundSections{file: t, blocks: map[codec.Kind]codec.Entry{}, small: map[codec.Kind][]byte{}}
	first, last, total := t.size, int64(0), int64(0)
	var timing, aggregates, chunks, chapters codec.Numbers
	for i, kind := range t.index.Kinds.All() {
		switch codec.Kind(kind) {
		case blockShortSums, blockLongSums:
			timing.Push(int64(i))
			t.summed = true
			continue
		case blockTiming:
			timing.Push(int64(i))
			continue
		case blockAggregates:
			aggregates.Push(int64(i))
			continue
		case blockChunk:
			chunks.Push(int64(i))
			continue
		case blockChapter:
			chapters.Push(int64(i))
			continue
		case blockSkipped:
			continue
		}
		switch e := t.index.At(i); e.Kind {
		case blockSequences:
			t.sequenceBlocks = append(t.sequenceBlocks, e)
		case blockClockReadings:
			t.clockBlocks = append(t.clockBlocks, e)
		default:
			if _, twice := found.blocks[e.Kind]; twice {
				return nil, fmt.Errorf("two blocks of type %d", e.Kind)
			}
			found.blocks[e.Kind] = e
			first, last, total = min(first, e.Offset), max(last, e.Offset+e.Size), total+e.Size
		}
	}
	if last-first == total {
		if err := t.readAhead(first, last); err != nil {
			return nil, err
		}
	}
	t.timing, t.aggregates, t.chunkBlocks = codec.SortBlocks(t.index, timing), codec.SortBlocks(t.index, aggregates), codec.SortBlocks(t.index, chunks)
	t.chapterBlocks = codec.SortBlocks(t.index, chapters)
	if err := t.openChunks(); err != nil {
		return nil, err
	}
	slices.SortFunc(t.sequenceBlocks, func(a, b codec.Entry) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(t.clockBlocks, func(a, b codec.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return found, found.openSmall()
}

// openSmall takes the block of small sections apart.
func (f *foundSections) openSmall() error {
	e, there := f.blocks[blockSections]
	if !there {
		return nil
	}
	content, err := f.file.block(e)
	if err != nil {
		return fmt.Errorf("sections: %w", err)
	}
	f.booked = int64(len(content))
	list, _, err := codec.SplitSections(content, f.file.budget)
	if err != nil {
		return fmt.Errorf("sections: %w", err)
	}
	for _, s := range list {
		f.booked += int64(len(s.Content))
		_, twice := f.small[s.Kind]
		if _, apart := f.blocks[s.Kind]; twice || apart {
			return fmt.Errorf("two sections of type %d", s.Kind)
		}
		f.small[s.Kind] = s.Content
	}
	return nil
}

// A sectionDecoding says how a section is read.
type sectionDecoding struct {
	kind     codec.Kind
	name     string
	plain    bool // no string table in front
	optional bool
	decode   func(d *decoder)
}

// decode reads sections in this order, then gives back what they were read from.
func (f *foundSections) decode(sections []sectionDecoding) error {
	for _, section := range sections {
		content, err := f.content(section.kind)
		if content == nil && err == nil {
			if section.optional {
				continue
			}
			return fmt.Errorf("%s: missing", section.name)
		}
		if err == nil {
			d := newDecoder(content, f.file.budget)
			if !section.plain {
				d = sectionDecoder(content, f.file.budget)
			}
			section.decode(d)
			d.Release()
			if err = d.Err; err == nil && len(d.Rest) > 0 {
				err = fmt.Errorf("%d bytes too many", len(d.Rest))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
		f.give(section.kind, content) // nothing that was decoded refers to it
	}
	return f.close()
}

// content is that of a section, nil where there is none.
func (f *foundSections) content(kind codec.Kind) ([]byte, error) {
	if content, small := f.small[kind]; small {
		return content, nil
	}
	e, there := f.blocks[kind]
	if !there {
		return nil, nil
	}
	return f.file.block(e)
}

// give gives back what the content of a section has booked, if it is in a block of its own.
func (f *foundSections) give(kind codec.Kind, content []byte) {
	if _, apart := f.blocks[kind]; apart {
		f.file.budget.Give(int64(len(content)))
	}
}

// close gives back the block of small sections, but for the value sequences in it.
func (f *foundSections) close() error {
	if content, there := f.small[blockSequences]; there {
		if len(f.file.sequenceBlocks) > 0 {
			return fmt.Errorf("two sections of type %d", blockSequences)
		}
		if !f.file.budget.Take(int64(len(content))) {
			return codec.ErrMemory
		}
		block, err := f.file.splitSequences(slices.Clone(content), false)
		if err != nil {
			return fmt.Errorf("value sequences: %w", err)
		}
		f.file.inline = block
	}
	f.file.budget.Give(f.booked)
	return nil
}
