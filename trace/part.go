package trace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A part is a file with some full blocks of the timing of one process, and chunks of its value
// sequences (docs/format-parts.md). They are coded once, while the process runs; a trace that is
// written later contains them unchanged.

// A PartWriter writes a part.
type PartWriter struct {
	file     *fileWriter
	grammar  grammar.Grammar
	lengths  []uint64
	plan     *timing.Plan
	chunks   []partChunk
	chapters []*Chapter
}

// NewPartWriter starts a part of the trace of a process. What c has of the calls so far must not
// change later: their signatures, and the expansion of each thread's root up to the last call that
// is coded here. It reads no times from c.
func NewPartWriter(w io.Writer, c *Content) (*PartWriter, error) {
	lengths, err := c.Grammar.Lengths()
	if err != nil {
		return nil, err
	}
	plan, err := planTiming(c.Signatures, &c.Meta, c.Functions)
	if err != nil {
		return nil, err
	}
	p := &PartWriter{file: &fileWriter{w: w, purpose: codec.Fastest, chain: &Chain{}}, grammar: c.Grammar, lengths: lengths, plan: plan}
	p.file.write(append([]byte(magic), FormatVersion))
	return p, nil
}

// Timing codes the gaps and durations of the thread's calls from timing.BlockCalls·number on,
// timing.BlockCalls of each. The first call begins begin ticks after the thread's first call.
func (p *PartWriter) Timing(t *Thread, number uint64, begin int64, gaps, durations []int64) error {
	if len(gaps) != timing.BlockCalls || len(durations) != timing.BlockCalls {
		return fmt.Errorf("trace: block %d of thread %d: %d gaps, %d durations", number, t.Thread, len(gaps), len(durations))
	}
	walk, err := p.walk(t, number)
	if err != nil {
		return err
	}
	encoder := timing.NewEncoder(p.plan)
	for i := range gaps {
		terminal, _ := walk.Next()
		encoder.Call(terminal, gaps[i], durations[i])
	}
	p.file.block(blockTiming, int64(t.Thread), int64(number), encoder.Finish(binary.AppendVarint(nil, begin)))
	return p.file.err
}

// walk returns a walk that begins at the first call of a block of the thread.
func (p *PartWriter) walk(t *Thread, number uint64) (*grammar.Walk, error) {
	at := number * timing.BlockCalls
	if at+timing.BlockCalls > p.lengths[t.Root] {
		return nil, fmt.Errorf("trace: block %d of thread %d: %d calls of the thread are known", number, t.Thread, p.lengths[t.Root])
	}
	walk, _ := p.grammar.Seek(t.Root, at, p.lengths)
	return walk, nil
}

// Sums writes LongSums of the gaps and durations that Timing would code.
func (p *PartWriter) Sums(t *Thread, number uint64, begin int64, gaps, durations []int64) error {
	i := -1
	return p.sums(t, number, begin, timing.LongSums, func(int32) (gap, duration int64, ok bool) {
		if i++; i >= len(gaps) || i >= len(durations) {
			return 0, 0, false
		}
		return gaps[i], durations[i], true
	})
}

// Coarsen writes sums over per calls each, ShortSums or LongSums, in place of a block that was read
// from a part.
func (p *PartWriter) Coarsen(t *Thread, b PartBlock, per uint64) error {
	begin, times, err := b.open(p.plan)
	if err != nil {
		return err
	}
	defer times.release(b.part.file.budget)
	return p.sums(t, b.Number(), begin, per, times.next)
}

// sums writes the sums of what next returns for each call of a block.
func (p *PartWriter) sums(t *Thread, number uint64, begin int64, per uint64, next func(terminal int32) (gap, duration int64, ok bool)) error {
	walk, err := p.walk(t, number)
	if err != nil {
		return err
	}
	encoder := timing.NewSumsEncoder(per)
	for range uint64(timing.BlockCalls) {
		terminal, _ := walk.Next()
		gap, duration, ok := next(terminal)
		if !ok {
			return fmt.Errorf("trace: %w", timing.ErrDamaged)
		}
		encoder.Call(terminal, gap, duration)
	}
	p.file.block(sumsKind(per), int64(t.Thread), int64(number), encoder.Finish(binary.AppendVarint(nil, begin)))
	return p.file.err
}

// Copy writes a block of another part unchanged.
func (p *PartWriter) Copy(b PartBlock) error {
	content, err := b.content()
	if err != nil {
		return err
	}
	p.file.block(b.entry().Kind, int64(b.Thread()), int64(b.Number()), content)
	b.part.file.budget.Give(int64(len(content)))
	return p.file.err
}

// Close finishes the part.
func (p *PartWriter) Close() error {
	if len(p.chapters) > 0 {
		p.file.block(blockChapterList, 0, 0, appendChapterList(p.chapters))
	}
	if len(p.chunks) > 0 {
		p.file.block(blockChunkList, 0, 0, appendChunkList(p.chunks))
	}
	p.file.finish()
	return p.file.err
}

// A Part is a part that was opened for reading.
type Part struct {
	file     Reader
	end      int64 // where the blocks begin that list the contents
	chunks   []partChunk
	chapters []*Chapter
}

// OpenPart reads the index of a part. Blocks are read from r later, when they are needed.
func OpenPart(r io.ReaderAt, size int64) (*Part, error) {
	p := &Part{file: Reader{r: r, size: size, budget: codec.NewBudget(defaultMemoryLimit(size))}}
	if err := p.open(); err != nil {
		return nil, fmt.Errorf("trace: open part: %w", err)
	}
	return p, nil
}

func (p *Part) open() error {
	t := &p.file
	if t.size < int64(headerSize+trailerSize) {
		return errNoTrace
	}
	head, err := t.read(0, int64(headerSize))
	if err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic || head[len(magic)] != FormatVersion {
		return errNoTrace
	}
	if err := t.openIndex(); err != nil {
		return err
	}
	lists, err := p.lists()
	if err == nil {
		err = p.openChunks(lists[blockChunkList])
	}
	if err == nil {
		err = p.openChapters(lists[blockChapterList])
	}
	return err
}

// lists finds the blocks that list the contents of the part: the last ones before the index.
func (p *Part) lists() (map[codec.Kind]*codec.Entry, error) {
	t := &p.file
	lists := map[codec.Kind]*codec.Entry{}
	p.end = int64(headerSize)
	for i := range t.index.Len() {
		switch e := t.index.At(i); {
		case e.Kind == blockChunkList || e.Kind == blockChapterList:
			if lists[e.Kind] != nil {
				return nil, fmt.Errorf("two blocks of type %d", e.Kind)
			}
			lists[e.Kind] = &e
		case len(lists) > 0:
			return nil, fmt.Errorf("a block of type %d after the lists of the contents", e.Kind)
		default:
			p.end += e.Size
		}
	}
	return lists, nil
}

// PartHead is the beginning of every part.
const PartHead = magic + string(rune(FormatVersion))

// Index returns the end of the file, which lists its contents. A part can be read from its index,
// its head and the blocks that are needed.
func (p *Part) Index() ([]byte, error) {
	t := &p.file
	n := t.size - p.end
	t.budget.Give(n) // the caller owns them
	return t.read(p.end, n)
}

// Size is the size of the file in bytes.
func (p *Part) Size() int64 { return p.file.size }

// Blocks calls do with each block of timing, in the order of the file.
func (p *Part) Blocks(do func(block PartBlock)) {
	for i, kind := range p.file.index.Kinds.All() {
		if codec.Kind(kind) == blockTiming || sumsOf(codec.Kind(kind)) > 0 {
			do(PartBlock{p, i})
		}
	}
}

// A PartBlock is a block of timing in a part.
type PartBlock struct {
	part *Part
	row  int // in its index
}

func (b PartBlock) entry() codec.Entry { return b.part.file.index.At(b.row) }

// Thread is the number of the thread in its process.
func (b PartBlock) Thread() int { return int(b.entry().Key) }

// Number is the index of the block on the thread: its calls begin at timing.BlockCalls·Number.
func (b PartBlock) Number() uint64 { return uint64(b.entry().Part) }

// content returns the block as stored. Its memory is taken from the part's budget.
func (b PartBlock) content() ([]byte, error) { return b.part.file.block(b.entry()) }

// open starts reading the block; begin is the time of its first call in ticks after the thread's
// first call.
func (b PartBlock) open(plan *timing.Plan) (begin int64, times timingPart, err error) {
	content, err := b.content()
	if err != nil {
		return 0, times, err
	}
	d := newDecoder(content, nil)
	begin = d.Varint()
	if d.Err != nil {
		return 0, times, d.Err
	}
	times = timingPart{start: begin, calls: timing.BlockCalls, size: int64(len(content))}
	if per := b.SumsOf(); per > 0 {
		times.sums = timing.NewSumsDecoder(d.Rest, per, timing.BlockCalls)
	} else {
		times.decoder = timing.NewDecoder(plan, d.Rest, timing.BlockCalls, b.part.file.budget)
	}
	return begin, times, nil
}

// CodedTimes are the times of a thread whose first blocks are in parts. It is a TimingSource.
type CodedTimes struct {
	// Of is the trace of the process that the blocks were coded with.
	Of   *Content
	Root int
	// Blocks have the times of the first timing.BlockCalls·len(Blocks) calls, in order.
	Blocks []PartBlock
	// Ticks is the sum of all gaps and durations in Blocks.
	Ticks int64
	// Rest has the times of the calls that follow; nil if there are none.
	Rest TimingSource
}

// OpenTiming returns a reader at the first call.
func (s *CodedTimes) OpenTiming() (TimingReader, error) {
	plan, err := planTiming(s.Of.Signatures, &s.Of.Meta, s.Of.Functions)
	if err != nil {
		return nil, err
	}
	return &codedReader{from: s, left: s.Blocks, plan: plan, walk: s.Of.Grammar.Walk(s.Root)}, nil
}

type codedReader struct {
	from *CodedTimes
	left []PartBlock // blocks that were not started
	plan *timing.Plan
	walk *grammar.Walk
	part timingPart // the current block
	of   *codec.Budget
	rest TimingReader // after the blocks
}

func (r *codedReader) ReadTiming(gaps, durations []int64) (n int, err error) {
	for ; n < len(gaps) && r.rest == nil; n++ {
		if r.part.calls == 0 {
			if more, err := r.next(); !more {
				if err != nil || r.rest == nil {
					return n, err
				}
				break
			}
		}
		terminal, ok := r.walk.Next()
		if ok {
			gaps[n], durations[n], ok = r.part.next(terminal)
		}
		if !ok {
			return n, fmt.Errorf("trace: %w", timing.ErrDamaged)
		}
		r.part.calls--
	}
	if r.rest == nil || n == len(gaps) {
		return n, nil
	}
	more, err := r.rest.ReadTiming(gaps[n:], durations[n:])
	return n + more, err
}

// next moves to the next block, or to Rest after the last one.
func (r *codedReader) next() (more bool, err error) {
	if r.of != nil {
		r.part.release(r.of)
		r.part, r.of = timingPart{}, nil
	}
	if len(r.left) == 0 {
		if r.from.Rest != nil {
			r.rest, err = r.from.Rest.OpenTiming()
		}
		return false, err
	}
	b := r.left[0]
	r.left = r.left[1:]
	_, part, err := b.open(r.plan)
	if err != nil {
		return false, err
	}
	r.part, r.of = part, b.part.file.budget
	return true, nil
}

// OrderBlocks sorts the blocks of parts by thread and number, without duplicates, up to the first
// missing one.
func OrderBlocks(parts []*Part) map[int][]PartBlock {
	found := map[int]map[uint64]PartBlock{}
	for _, p := range parts {
		p.Blocks(func(b PartBlock) {
			of := found[b.Thread()]
			if of == nil {
				of = map[uint64]PartBlock{}
				found[b.Thread()] = of
			}
			if _, twice := of[b.Number()]; !twice {
				of[b.Number()] = b
			}
		})
	}
	ordered := map[int][]PartBlock{}
	for thread, of := range found {
		for {
			b, there := of[uint64(len(ordered[thread]))]
			if !there {
				break
			}
			ordered[thread] = append(ordered[thread], b)
		}
	}
	return ordered
}

// JoinParts returns the end of a file that is the concatenation of the unchanged parts and this
// end. The end lists the contents of all parts, so that many parts that are stored elsewhere need
// one index only. OpenPart opens the file; it reads only the blocks of the parts.
func JoinParts(parts []*Part) ([]byte, error) {
	all := &codec.Index{}
	at, skipped := int64(headerSize), int64(0)
	add := func(e codec.Entry) {
		e.Offset = at
		at += e.Size
		all.Add(e)
	}
	var chunks []partChunk
	var chapters []*Chapter
	for i, p := range parts {
		if i > 0 {
			skipped += int64(headerSize)
		}
		t := &p.file
		for row := range t.index.Len() {
			e := t.index.At(row)
			if e.Offset >= p.end {
				break // the list of contents
			}
			if e.Kind == blockSkipped {
				skipped += e.Size
				continue
			}
			if skipped > 0 {
				add(codec.Entry{Kind: blockSkipped, Size: skipped})
				skipped = 0
			}
			add(e)
		}
		skipped += t.size - p.end
		chunks, chapters = append(chunks, p.chunks...), append(chapters, p.chapters...)
	}
	if skipped > 0 {
		add(codec.Entry{Kind: blockSkipped, Size: skipped})
	}
	var b bytes.Buffer
	w := PartWriter{file: &fileWriter{w: &b, purpose: codec.Fastest, chain: &Chain{}, index: *all, written: at}, chunks: chunks, chapters: chapters}
	err := w.Close()
	return b.Bytes(), err
}

// A chain is a trace in pieces: parts, which are stored once, and a tail, which is rewritten as the
// trace grows. Concatenated they are a file as written by Write, except for the heads and ends of
// the parts: the index, in the tail, skips these (blockSkipped).

// A Chain records the positions of parts in a chain, starting at offset 0.
type Chain struct {
	locations map[*Part][]location
	size      int64
}

// A location is a range of bytes [from, to) of a part, and its offset in the chain.
type location struct{ from, to, at int64 }

// Place records that a part begins at an offset of the object that the next Add appends.
func (c *Chain) Place(p *Part, at int64) { c.PlaceBytes(p, 0, p.Size(), at) }

// PlaceBytes is Place for a range of bytes of a part: a part that was joined from others
// (JoinParts) is in several places.
func (c *Chain) PlaceBytes(p *Part, from, bytes, at int64) {
	if c.locations == nil {
		c.locations = map[*Part][]location{}
	}
	c.locations[p] = append(c.locations[p], location{from, from + bytes, c.size + at})
}

// find returns the offset of a block of a part in the chain; false if it is not in the chain.
func (c *Chain) find(p *Part, e codec.Entry) (at int64, there bool) {
	for _, in := range c.locations[p] {
		if e.Offset >= in.from && e.Offset+e.Size <= in.to {
			return in.at + e.Offset - in.from, true
		}
	}
	return 0, false
}

// Add appends an object with concatenated parts to the chain. Parts in it that were not placed are
// not used by the trace.
func (c *Chain) Add(bytes int64) { c.size += bytes }

// Size is the size of all objects in bytes.
func (c *Chain) Size() int64 { return c.size }

// WriteTail writes the tail of a chain: the trace c without the blocks that are in parts of the
// chain.
func WriteTail(w io.Writer, c *Content, chain *Chain) error { return write(w, c, chain) }

// chained adds a block of a part, with this key and number, to the index if it is in the chain. It
// reports whether it is.
func (f *fileWriter) chained(p *Part, e codec.Entry, key, number int64) bool {
	at, there := f.chain.find(p, e)
	if there {
		f.before = append(f.before, codec.Entry{Kind: e.Kind, Offset: at, Size: e.Size, Key: key, Part: number})
	}
	return there
}

// chainIndex returns the index of the whole chain: the blocks in parts that the trace uses, and
// those in the tail.
func (f *fileWriter) chainIndex() (*codec.Index, error) {
	slices.SortFunc(f.before, func(a, b codec.Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	all := &codec.Index{}
	at := int64(headerSize)
	skip := func(to int64) {
		if to > at {
			all.Add(codec.Entry{Kind: blockSkipped, Offset: at, Size: to - at})
			at = to
		}
	}
	for _, e := range f.before {
		if e.Offset < at {
			return nil, fmt.Errorf("trace: chain: two blocks at byte %d", e.Offset)
		}
		skip(e.Offset)
		all.Add(e)
		at += e.Size
	}
	skip(f.chain.size + int64(headerSize))
	for i := range f.index.Len() {
		e := f.index.At(i)
		e.Offset += f.chain.size
		all.Add(e)
	}
	return all, nil
}
