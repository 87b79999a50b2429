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

// A part is a file with some full blocks of the timing of one process, and chunks of its value sequences
// (docs/format-parts.md). They are coded while the process goes on, once; a trace that is written later takes them as they are.

// A PartWriter writes a part.
type PartWriter struct {
	file     *fileWriter
	grammar  grammar.Grammar
	lengths  []uint64
	plan     *timing.Plan
	chunks   []partChunk
	chapters []*Chapter
}

// NewPartWriter begins a part of the trace of a process. What c says of calls so far must stay true: their signatures, and
// what each thread's root expands to, up to the last call that is coded here. Times are not read from it.
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

// Timing codes the gaps and durations of a thread's calls from timing.BlockCalls·number on, timing.BlockCalls of each. The
// first begins so many ticks after the thread's first call.
func (p *PartWriter) Timing(t *Thread, number uint64, begin int64, gaps, durations []int64) error {
	at := number * timing.BlockCalls
	if at+timing.BlockCalls > p.lengths[t.Root] || len(gaps) != timing.BlockCalls || len(durations) != timing.BlockCalls {
		return fmt.Errorf("trace: block %d of thread %d: %d gaps, %d durations, %d calls of the thread are known", number, t.Thread, len(gaps), len(durations), p.lengths[t.Root])
	}
	walk, _ := p.grammar.Seek(t.Root, at, p.lengths)
	encoder := timing.NewEncoder(p.plan)
	for i := range gaps {
		terminal, _ := walk.Next()
		encoder.Call(terminal, gaps[i], durations[i])
	}
	p.file.block(blockTiming, int64(t.Thread), int64(number), encoder.Finish(binary.AppendVarint(nil, begin)))
	return p.file.err
}

// Sums writes sums over so many calls, ShortSums or LongSums, in the place of a block that was read from a part.
func (p *PartWriter) Sums(t *Thread, b PartBlock, per uint64) error {
	begin, times, err := b.open(p.plan)
	if err != nil {
		return err
	}
	defer times.release(b.part.file.budget)
	at := b.Number() * timing.BlockCalls
	if at+timing.BlockCalls > p.lengths[t.Root] {
		return fmt.Errorf("trace: block %d of thread %d: %d calls of the thread are known", b.Number(), t.Thread, p.lengths[t.Root])
	}
	walk, _ := p.grammar.Seek(t.Root, at, p.lengths)
	encoder := timing.NewSumsEncoder(per)
	for range uint64(timing.BlockCalls) {
		terminal, _ := walk.Next()
		gap, duration, ok := times.next(terminal)
		if !ok {
			return fmt.Errorf("trace: %w", timing.ErrDamaged)
		}
		encoder.Call(terminal, gap, duration)
	}
	p.file.block(sumsKind(per), int64(b.Thread()), int64(b.Number()), encoder.Finish(binary.AppendVarint(nil, begin)))
	return p.file.err
}

// Copy writes a block of another part as it is.
func (p *PartWriter) Copy(b PartBlock) error {
	content, err := b.content()
	if err != nil {
		return err
	}
	p.file.block(b.entry().Kind, int64(b.Thread()), int64(b.Number()), content)
	b.part.file.budget.Give(int64(len(content)))
	return p.file.err
}

// Close ends the part.
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

// A Part is a part that is read.
type Part struct {
	file     Reader
	end      int64 // where the last blocks begin that say what is in it
	chunks   []partChunk
	chapters []*Chapter
}

// OpenPart reads the index of a part. r is read later too, when blocks are asked for.
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

// lists finds the blocks that say what is in the part: the last ones before the index.
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
			return nil, fmt.Errorf("a block of type %d after those that say what is in the part", e.Kind)
		default:
			p.end += e.Size
		}
	}
	return lists, nil
}

// PartHead is how every part begins.
const PartHead = magic + string(rune(FormatVersion))

// Index is the end of the file, which says what is in it. With it, the head and the blocks that are asked for a part can be
// read.
func (p *Part) Index() ([]byte, error) {
	t := &p.file
	n := t.size - p.end
	t.budget.Give(n) // the caller's
	return t.read(p.end, n)
}

// Size is that of the file, in bytes.
func (p *Part) Size() int64 { return p.file.size }

// Blocks calls do with the threads and numbers of the blocks of timing, in the order of the file.
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

// Thread is the thread's number in its process.
func (b PartBlock) Thread() int { return int(b.entry().Key) }

// Number says which of the thread's calls it has: those from timing.BlockCalls·Number on.
func (b PartBlock) Number() uint64 { return uint64(b.entry().Part) }

// content is the block as it stands in a trace. It is booked on the part's budget.
func (b PartBlock) content() ([]byte, error) { return b.part.file.block(b.entry()) }

// open begins to read the block, which begins so many ticks after the thread's first call.
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

// CodedTimes are the times of a thread of which the first blocks are in parts. They are a TimingSource.
type CodedTimes struct {
	// Of is the trace of the process: what the blocks were coded with.
	Of   *Content
	Root int
	// Blocks have the times of the first timing.BlockCalls·len(Blocks) calls, in order.
	Blocks []PartBlock
	// Ticks is the sum of all gaps and durations in Blocks.
	Ticks int64
	// Rest has the times of the calls that follow; nil if there are none.
	Rest TimingSource
}

// OpenTiming begins to read at the first call.
func (s *CodedTimes) OpenTiming() (TimingReader, error) {
	plan, err := planTiming(s.Of.Signatures, &s.Of.Meta, s.Of.Functions)
	if err != nil {
		return nil, err
	}
	return &codedReader{from: s, left: s.Blocks, plan: plan, walk: s.Of.Grammar.Walk(s.Root)}, nil
}

type codedReader struct {
	from *CodedTimes
	left []PartBlock // that were not begun
	plan *timing.Plan
	walk *grammar.Walk
	part timingPart // the block that is read
	of   *codec.Budget
	rest TimingReader // once the blocks are at their end
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

// next goes on to the next block, or to what follows on them.
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

// OrderBlocks sorts blocks of parts by thread and number, each once, up to the first that is missing.
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

// JoinParts gives the end of a file that is some parts, one after the other as they are, and then this end, which says what
// is in all of them: so that of many parts that are stored elsewhere one index is left. OpenPart reads the file; it asks for
// no more of the parts than their blocks.
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
				break // what says what is in it
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

// A chain is a trace in pieces: parts, which are stored once, and a tail, which is written anew as the trace grows. One
// after the other they are a file as Write makes it, but for the heads and ends of the parts: its index, in the tail, passes
// over these (blockSkipped).

// A Chain says where parts stand in a chain: one after the other, from its beginning on.
type Chain struct {
	locations map[*Part][]location
	size      int64
}

// A location is where bytes of a part are, from one on up to another one.
type location struct{ from, to, at int64 }

// Place says where a part begins: within what is added next.
func (c *Chain) Place(p *Part, at int64) { c.PlaceBytes(p, 0, p.Size(), at) }

// PlaceBytes says where so many bytes of a part begin, from one on: one that is joined of others (JoinParts) is in several
// places.
func (c *Chain) PlaceBytes(p *Part, from, bytes, at int64) {
	if c.locations == nil {
		c.locations = map[*Part][]location{}
	}
	c.locations[p] = append(c.locations[p], location{from, from + bytes, c.size + at})
}

// find is where a block of a part stands in the chain; false if it does not.
func (c *Chain) find(p *Part, e codec.Entry) (at int64, there bool) {
	for _, in := range c.locations[p] {
		if e.Offset >= in.from && e.Offset+e.Size <= in.to {
			return in.at + e.Offset - in.from, true
		}
	}
	return 0, false
}

// Add puts an object with parts, one after the other, at the end of the chain. Parts in it that have no place are of no use
// to the trace.
func (c *Chain) Add(bytes int64) { c.size += bytes }

// Size is that of all parts, in bytes.
func (c *Chain) Size() int64 { return c.size }

// WriteTail writes the tail of a chain: the trace c without the blocks that stand in parts of the chain.
func WriteTail(w io.Writer, c *Content, chain *Chain) error { return write(w, c, chain) }

// chained notes that a block of a part stands in the chain, with this key and number; false if it does not.
func (f *fileWriter) chained(p *Part, e codec.Entry, key, number int64) bool {
	at, there := f.chain.find(p, e)
	if there {
		f.before = append(f.before, codec.Entry{Kind: e.Kind, Offset: at, Size: e.Size, Key: key, Part: number})
	}
	return there
}

// chainIndex is the index of the whole chain: of the blocks in parts that the trace uses, and of those in the tail.
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
