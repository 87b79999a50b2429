package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// foundSections are the sections of a file that is being opened: in separate blocks, or together in
// one.
type foundSections struct {
	file   *Reader
	blocks map[codec.Kind]codec.Entry
	small  map[codec.Kind][]byte
	booked int64 // of small
}

// openBlocks sorts the blocks of the index. In files of this writer, the blocks that all ranks
// share are adjacent and are read at once: over a network one request takes longer than many bytes.
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

// openSmall splits the block of small sections.
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

// A sectionDecoding describes how a section is decoded.
type sectionDecoding struct {
	kind     codec.Kind
	name     string
	plain    bool // no string table at the front
	optional bool
	decode   func(d *decoder)
}

// decode decodes the sections in this order, and releases the content of each.
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

// content returns the content of a section, nil if there is none.
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

// give releases the content of a section that is in a block of its own.
func (f *foundSections) give(kind codec.Kind, content []byte) {
	if _, apart := f.blocks[kind]; apart {
		f.file.budget.Give(int64(len(content)))
	}
}

// close releases the block of small sections, except the value sequences in it.
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

// A sequenceBlock has the encodings of some sequences.
type sequenceBlock struct {
	numbers  []int64        // of the sequences, increasing; nil: they are consecutive
	readings []clockReading // coding of clock readings
	bytes    []byte
	ends     []int64
}

// sequenceBytes returns the encoding of one value sequence, and the coding of its values.
func (t *Reader) sequenceBytes(i int) ([]byte, clockReading, error) {
	if i < 0 || i >= t.sequenceCount {
		return nil, clockReading{}, fmt.Errorf("trace: no value sequence %d", i)
	}
	if b := t.inline.sequence(i); len(b) > 0 {
		return b, clockReading{}, nil
	}
	block, at, err := t.blockWith(t.sequenceBlocks, int64(i))
	if b := block.sequence(at); len(b) > 0 || err != nil {
		return b, clockReading{}, err
	}
	block, at, err = t.blockWith(t.clockBlocks, int64(i))
	b := block.sequence(at)
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("trace: value sequence %d: missing", i)
	}
	if err != nil {
		return nil, clockReading{}, err
	}
	return b, block.readings[at], nil
}

// blockWith finds the block that a sequence may be in, and its index there; −1 if it is not.
func (t *Reader) blockWith(blocks []codec.Entry, i int64) (*sequenceBlock, int, error) {
	k, exact := slices.BinarySearchFunc(blocks, i, func(e codec.Entry, i int64) int { return cmp.Compare(e.Key, i) })
	if !exact {
		k--
	}
	if k < 0 {
		return nil, -1, nil
	}
	e := blocks[k]
	t.mu.Lock()
	defer t.mu.Unlock()
	block, loaded := t.sequences[e.Offset]
	if !loaded {
		var err error
		if block, err = t.loadSequences(e); err != nil {
			return nil, -1, fmt.Errorf("trace: value sequences from %d: %w", e.Key, err)
		}
		t.sequences[e.Offset] = block
	}
	at, found := int(i-e.Key), true
	if e.Kind == blockClockReadings {
		at, found = slices.BinarySearch(block.numbers, i)
	}
	if !found {
		at = -1
	}
	return &block, at, nil
}

// sequence returns the encoding of a sequence by its index in the block; nil if there is none.
func (b *sequenceBlock) sequence(at int) []byte {
	if b == nil || at < 0 || at >= len(b.ends) {
		return nil
	}
	start := int64(0)
	if at > 0 {
		start = b.ends[at-1]
	}
	return b.bytes[start:b.ends[at]]
}

func (t *Reader) loadSequences(e codec.Entry) (sequenceBlock, error) {
	content, err := t.block(e)
	if err != nil {
		return sequenceBlock{}, err
	}
	return t.splitSequences(content, e.Kind == blockClockReadings)
}

func (t *Reader) splitSequences(content []byte, numbered bool) (sequenceBlock, error) {
	d := newDecoder(content, t.budget)
	var numbers []int64
	var readings []clockReading
	if numbered {
		numbers, readings = d.clockForms()
	}
	ends := d.Sequence()
	if numbers != nil && len(numbers) != len(ends) {
		d.Fail(codec.ErrSequence)
		ends = nil
	}
	var end int64
	for i, n := range ends {
		if n < 0 || n > int64(len(d.Rest))-end {
			d.Fail(codec.ErrSequence)
			break
		}
		end += n
		ends[i] = end
	}
	return sequenceBlock{numbers, readings, d.Rest, ends}, d.Err
}

// Columns are the values that differ from rank to rank (forms Column and Elastic with Cases):
// Columns()[k].At(p) is that of the thread with InShape p.
func (t *Reader) Columns() []codec.Numbers { return t.shared.Columns }

// ValueOn returns the value of an argument on one thread (an index into Threads). It is Int or Name
// where v depends on the thread or on own, the caller's rank in the communicator of the call (−1:
// unknown). Streams are returned unchanged.
func (t *Reader) ValueOn(v Value, thread, own int) (Value, error) {
	p := environment{columns: t.shared.Columns, index: int(t.shared.Threads.place.At(thread)), rank: int64(own), known: own >= 0}
	return p.evaluate(v)
}

// Sizes are in bytes as stored, with each block's header. The parts add up to Total; ClockReadings
// are a part of Timing.
type Sizes struct {
	Total      int64 `json:"total"`
	Container  int64 `json:"container"`
	Signatures int64 `json:"signatures"`
	Grammar    int64 `json:"grammar"`
	RankMap    int64 `json:"rank_map"`
	Values     int64 `json:"values"`
	Timing     int64 `json:"timing"`
	CallSites  int64 `json:"call_sites"`
	Pointers   int64 `json:"pointers"`
	Metadata   int64 `json:"metadata"`
	// ClockReadings is the part of Timing that is results of MPI_Wtime.
	ClockReadings int64 `json:"clock_readings"`
}

// Sizes returns how the size of the file is made up.
func (t *Reader) Sizes() Sizes {
	s := sizesOf(t.index, t.size, purposeOf(t.Meta()))
	for i, kind := range t.index.Kinds.All() {
		if codec.Kind(kind) == blockSections {
			s.split(t, t.index.At(i))
		}
	}
	return s
}

// split assigns the bytes of a block of sections, which were counted as metadata, to the parts that
// they belong to. A block that cannot be read again stays metadata.
func (s *Sizes) split(t *Reader, e codec.Entry) {
	content, err := t.block(e)
	if err != nil {
		return
	}
	defer t.budget.Give(int64(len(content)))
	list, stored, err := codec.SplitSections(content, codec.NewBudget(math.MaxInt64))
	if err != nil {
		return
	}
	s.Metadata -= e.Size
	s.Container += e.Size - int64(len(content))
	for i, size := range stored {
		*s.part(list[i].Kind) += size
	}
}

// sizesOf adds up the blocks of a file. Bytes outside of blocks belong to the container, except
// that blocks of timing are charged with the growth of the index that they cause.
func sizesOf(blocks *codec.Index, total int64, purpose codec.Effort) Sizes {
	s := Sizes{Total: total, Container: total}
	size := blocks.Sizes.Lookup()
	var untimed codec.Index
	for i, kind := range blocks.Kinds.All() {
		if codec.Kind(kind) == blockSkipped {
			continue // ends of files in a chain belong to the container
		}
		s.Container -= size(i)
		part := s.part(codec.Kind(kind))
		*part += size(i)
		if codec.Kind(kind) == blockClockReadings {
			s.ClockReadings += size(i)
		}
		if part != &s.Timing {
			untimed.Add(blocks.At(i))
		}
	}
	entries := indexSize(blocks, purpose) - indexSize(&untimed, purpose)
	s.Container -= entries
	s.Timing += entries
	return s
}

// TimingBytes returns the size in bytes of the times of a thread in the file.
func (t *Reader) TimingBytes(thread int) (bytes int64) {
	if len(t.shared.Leads) > 0 && t.shared.Leads[thread] != thread {
		return 0
	}
	for _, list := range []*codec.BlockList{&t.timing, &t.aggregates} {
		for part := int64(0); ; part++ {
			e, there := list.Find(int64(thread), part)
			if !there {
				break
			}
			bytes += e.Size
		}
	}
	return bytes
}

func indexSize(blocks *codec.Index, purpose codec.Effort) int64 {
	return int64(len(codec.AppendBlock(nil, blockIndex, blocks.Append(nil), packingOf(blockIndex, purpose))))
}

// part returns the part that blocks of this kind are counted in.
func (s *Sizes) part(kind codec.Kind) *int64 {
	switch kind {
	case blockSignatures:
		return &s.Signatures
	case blockGrammar:
		return &s.Grammar
	case blockRankMap, blockCommunicators, blockLeads:
		return &s.RankMap
	case blockStreams, blockSequences, blockLongSequences, blockChunk, blockColumns:
		return &s.Values
	case blockTimingStart, blockTiming, blockShortSums, blockLongSums, blockAggregates, blockClockReadings, blockClustering:
		return &s.Timing
	case blockAllocations:
		return &s.Pointers
	case blockSites:
		return &s.CallSites
	}
	return &s.Metadata
}
