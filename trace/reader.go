package trace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// An Option changes how a trace is opened.
type Option func(*Reader)

// WithMemoryLimit bounds the memory of a reader and its cursors, in bytes; default: 64 MiB + 32 × the file's size.
// What needs more fails with an error that names this option.
func WithMemoryLimit(bytes int64) Option {
	return func(r *Reader) { r.budget = newBudget(bytes) }
}

const (
	memoryLimitBase = 64 << 20
	// A symbol of a grammar takes 16 bytes, in the file one or two, or less.
	memoryLimitFactor = 32
	// tailRead is what Open reads first: most often the index is in it.
	tailRead = 64 << 10
)

// A Reader reads a trace in pieces. Its methods may be called by several goroutines; what they return is shared and
// must not be changed.
type Reader struct {
	r       io.ReaderAt
	size    int64
	budget  *budget
	version int
	index   []indexEntry
	ahead   []extent // of the file, read already; only while it is opened
	shared  Content  // without sequences and timing
	plans   []callPlan
	timed   []uint8 // which timing the threads have

	sequenceCount  int
	sequenceBlocks []indexEntry
	timing         []indexEntry // sorted by thread and part
	aggregates     []indexEntry // sorted by thread
	timingPlan     *timingPlan

	mu        sync.Mutex
	sequences map[int]sequenceBlock    // by position in sequenceBlocks
	grammars  map[int]*sequenceGrammar // of sequences that are one; all cursors share it
}

// An extent is a part of the file.
type extent struct {
	offset int64
	bytes  []byte
}

// A sequenceBlock holds the encodings of consecutive sequences.
type sequenceBlock struct {
	bytes []byte
	ends  []int64
}

// Open reads the index and what all ranks share. r is read at offsets below size, later too, when more is asked for.
func Open(r io.ReaderAt, size int64, options ...Option) (*Reader, error) {
	t := &Reader{r: r, size: size, sequences: map[int]sequenceBlock{}, grammars: map[int]*sequenceGrammar{}}
	limit := int64(memoryLimitBase)
	if size > 0 && size < (math.MaxInt64-limit)/memoryLimitFactor {
		limit += memoryLimitFactor * size
	}
	t.budget = newBudget(limit)
	for _, option := range options {
		option(t)
	}
	if err := t.open(); err != nil {
		return nil, fmt.Errorf("trace: open: %w", err)
	}
	return t, nil
}

var errNoTrace = errors.New("this is no Cairn trace")

func (t *Reader) open() error {
	if t.size < int64(headerSize+trailerSize) {
		return errNoTrace
	}
	if err := t.readAhead(max(0, t.size-tailRead), t.size); err != nil {
		return err
	}
	head, err := t.read(0, int64(headerSize))
	if err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return errNoTrace
	}
	if t.version = int(head[len(magic)]); t.version != FormatVersion {
		return fmt.Errorf("format version %d is unknown (this is Cairn for version %d)", t.version, FormatVersion)
	}
	if err := t.openIndex(); err != nil {
		return err
	}
	if err := t.openShared(); err != nil {
		return err
	}
	for _, e := range t.ahead {
		t.budget.give(int64(len(e.bytes)))
	}
	t.ahead = nil
	t.plans = planCalls(&t.shared)
	return nil
}

// openIndex reads the index.
func (t *Reader) openIndex() error {
	mark, err := t.read(t.size-int64(trailerSize), int64(trailerSize))
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(mark))
	end := t.size - int64(trailerSize) - length
	if string(mark[4:]) != endMark || end < int64(headerSize) {
		return errors.New("the end of the trace is missing: it is truncated or still being written")
	}
	block, err := t.read(end, length)
	if err != nil {
		return err
	}
	content, err := openBlock(block, blockIndex, t.budget)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if t.index, err = decodeIndex(content, end, t.budget); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// openShared reads and decodes the sections that all ranks share. They stand together in files of this writer and are
// read at once: over a network one request takes longer than many bytes.
func (t *Reader) openShared() error {
	byType := map[blockType]indexEntry{}
	first, last, total := t.size, int64(0), int64(0)
	for _, e := range t.index {
		switch e.kind {
		case blockTiming:
			t.timing = append(t.timing, e)
		case blockAggregates:
			t.aggregates = append(t.aggregates, e)
		case blockSequences:
			t.sequenceBlocks = append(t.sequenceBlocks, e)
		default:
			if _, twice := byType[e.kind]; twice {
				return fmt.Errorf("two blocks of type %d", e.kind)
			}
			byType[e.kind] = e
			first, last, total = min(first, e.offset), max(last, e.offset+e.size), total+e.size
		}
	}
	if last-first == total {
		if err := t.readAhead(first, last); err != nil {
			return err
		}
	}
	slices.SortFunc(t.timing, func(a, b indexEntry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.part, b.part))
	})
	slices.SortFunc(t.aggregates, func(a, b indexEntry) int { return cmp.Compare(a.key, b.key) })
	slices.SortFunc(t.sequenceBlocks, func(a, b indexEntry) int { return cmp.Compare(a.key, b.key) })

	c := &t.shared
	var lengths []uint64
	sections := []struct {
		kind   blockType
		name   string
		plain  bool // no string table in front
		decode func(d *decoder)
	}{
		{blockMeta, "metadata", false, func(d *decoder) { c.Meta = d.meta() }},
		{blockFunctions, "functions", false, func(d *decoder) { c.Functions = d.functions() }},
		{blockSites, "call sites", false, func(d *decoder) { c.Sites = d.sites() }},
		{blockSegments, "segments", true, func(d *decoder) { c.Segments = d.segments() }},
		{blockSignatures, "signatures", false, func(d *decoder) { c.Signatures = d.signatures() }},
		{blockCommunicators, "communicators", false, func(d *decoder) { c.Communicators = d.communicators() }},
		{blockGrammar, "grammar", true, func(d *decoder) {
			c.Grammar = d.rules()
			if d.err == nil {
				lengths, d.err = c.Grammar.Lengths()
			}
		}},
		{blockRanks, "ranks", false, func(d *decoder) { c.Ranks = d.ranks() }},
		{blockRankMap, "rank map", false, func(d *decoder) { d.rankMap(c, lengths) }},
		{blockColumns, "columns", true, func(d *decoder) { c.Columns = d.lists() }},
		{blockStreams, "streams", false, func(d *decoder) { t.sequenceCount = d.streams(c) }},
		{blockTimingStart, "start of timing", false, func(d *decoder) { t.timed = d.timingStart(c) }},
		{blockContext, "context", false, func(d *decoder) { d.context(c) }},
	}
	for _, section := range sections {
		e, ok := byType[section.kind]
		if !ok {
			if section.kind == blockSites || section.kind == blockContext || section.kind == blockSegments || section.kind == blockColumns {
				continue
			}
			return fmt.Errorf("%s: missing", section.name)
		}
		content, err := t.block(e)
		if err == nil {
			d := &decoder{b: content, budget: t.budget}
			if !section.plain {
				d = sectionDecoder(content, t.budget)
			}
			section.decode(d)
			if err = d.err; err == nil && len(d.b) > 0 {
				err = fmt.Errorf("%d bytes too many", len(d.b))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
		t.budget.give(int64(len(content))) // nothing that was decoded refers to it
	}
	if err := c.validateShared(); err != nil {
		return err
	}
	var err error
	t.timingPlan, err = planTiming(c.Signatures, &c.Meta, c.Functions)
	return err
}

// readAhead reads a part of the file that read will then find.
func (t *Reader) readAhead(from, to int64) error {
	if t.have(from, to-from) != nil {
		return nil
	}
	b, err := t.read(from, to-from)
	t.ahead = append(t.ahead, extent{from, b})
	return err
}

// have is a part of the file that has been read ahead, else nil.
func (t *Reader) have(offset, n int64) []byte {
	for _, e := range t.ahead {
		if offset >= e.offset && offset-e.offset <= int64(len(e.bytes)) && n <= int64(len(e.bytes))-(offset-e.offset) {
			return e.bytes[offset-e.offset:][:n:n]
		}
	}
	return nil
}

// read reads bytes of the file; they are booked on the budget.
func (t *Reader) read(offset, n int64) ([]byte, error) {
	if !t.budget.take(n) {
		return nil, errMemory
	}
	if b := t.have(offset, n); b != nil {
		return b, nil
	}
	b := make([]byte, n)
	if k, err := t.r.ReadAt(b, offset); k < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, offset, err)
	}
	return b, nil
}

// block reads the block of an index entry.
func (t *Reader) block(e indexEntry) ([]byte, error) {
	b, err := t.read(e.offset, e.size)
	if err != nil {
		return nil, err
	}
	content, err := openBlock(b, e.kind, t.budget)
	if err != nil {
		return nil, err
	}
	t.budget.give(e.size)
	return content, nil
}

// Version is the format version of the file.
func (t *Reader) Version() int { return t.version }

// Meta is about the whole trace.
func (t *Reader) Meta() *Meta { return &t.shared.Meta }

// Functions are all MPI functions that the trace uses, sorted by id.
func (t *Reader) Functions() []Function { return t.shared.Functions }

// Function is the one with this id, nil if there is none.
func (t *Reader) Function(id uint16) *Function { return t.shared.function(id) }

// Sites are the call sites; Signature.Site is 1 + an index into them.
func (t *Reader) Sites() []Site { return t.shared.Sites }

// Signatures is the call signature table; the index is the terminal.
func (t *Reader) Signatures() []Signature { return t.shared.Signatures }

// Communicators are all communicator instances.
func (t *Reader) Communicators() []Communicator { return t.shared.Communicators }

// Grammar holds the rules of all threads.
func (t *Reader) Grammar() Grammar { return t.shared.Grammar }

// Ranks are sorted by rank.
func (t *Reader) Ranks() []Rank { return t.shared.Ranks }

// Rank is the one with this number, nil if it is not in the trace.
func (t *Reader) Rank(rank int) *Rank { return t.shared.rank(rank) }

// Threads are sorted by rank and thread; Gaps and Durations are nil (see Timing).
func (t *Reader) Threads() []Thread { return t.shared.Threads }

// Sequences is the number of value sequences.
func (t *Reader) Sequences() int { return t.sequenceCount }

// Sequence decodes one value sequence.
func (t *Reader) Sequence(i int) ([]int64, error) {
	b, err := t.sequenceBytes(i)
	if err != nil {
		return nil, err
	}
	d := decoder{b: b, budget: t.budget}
	values := d.sequence()
	if d.err != nil {
		return nil, fmt.Errorf("trace: value sequence %d: %w", i, d.err)
	}
	return values, nil
}

// sequenceBytes is the encoding of one value sequence.
func (t *Reader) sequenceBytes(i int) ([]byte, error) {
	if i < 0 || i >= t.sequenceCount {
		return nil, fmt.Errorf("trace: no value sequence %d", i)
	}
	k, exact := slices.BinarySearchFunc(t.sequenceBlocks, int64(i), func(e indexEntry, i int64) int {
		return cmp.Compare(e.key, i)
	})
	if !exact {
		k--
	}
	if k < 0 {
		return nil, fmt.Errorf("trace: value sequence %d: missing", i)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	block, loaded := t.sequences[k]
	if !loaded {
		var err error
		if block, err = t.loadSequences(t.sequenceBlocks[k]); err != nil {
			return nil, fmt.Errorf("trace: value sequences from %d: %w", t.sequenceBlocks[k].key, err)
		}
		t.sequences[k] = block
	}
	i -= int(t.sequenceBlocks[k].key)
	if i >= len(block.ends) {
		return nil, fmt.Errorf("trace: value sequence %d: missing", i)
	}
	start := int64(0)
	if i > 0 {
		start = block.ends[i-1]
	}
	return block.bytes[start:block.ends[i]], nil
}

func (t *Reader) loadSequences(e indexEntry) (sequenceBlock, error) {
	content, err := t.block(e)
	if err != nil {
		return sequenceBlock{}, err
	}
	d := decoder{b: content, budget: t.budget}
	ends := d.sequence()
	var end int64
	for i, n := range ends {
		if n < 0 || n > int64(len(d.b))-end {
			d.fail(errSequence)
			break
		}
		end += n
		ends[i] = end
	}
	return sequenceBlock{d.b, ends}, d.err
}

// Aggregates reads the aggregated timing of Threads()[thread]; nil when the trace has none.
func (t *Reader) Aggregates(thread int) ([]Aggregate, error) {
	if t.timed[thread] != timingAggregates {
		return nil, nil
	}
	i, ok := slices.BinarySearchFunc(t.aggregates, int64(thread), func(e indexEntry, k int64) int { return cmp.Compare(e.key, k) })
	where := &t.shared.Threads[thread]
	if !ok {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: missing", where.Rank, where.Thread)
	}
	content, err := t.block(t.aggregates[i])
	if err != nil {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: %w", where.Rank, where.Thread, err)
	}
	d := &decoder{b: content, budget: t.budget}
	list := d.aggregates(len(t.shared.Signatures))
	t.budget.give(int64(len(content)))
	if d.err == nil && len(d.b) > 0 {
		d.fail(errNumber)
	}
	if d.err != nil {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: %w", where.Rank, where.Thread, d.err)
	}
	return list, nil
}

// stream begins to read a value sequence.
func (t *Reader) stream(sequence int) (valueStream, error) {
	b, err := t.sequenceBytes(sequence)
	if err != nil {
		return valueStream{}, err
	}
	s := newValueStream(b, t.budget)
	return s, t.shareGrammar(sequence, s.encoded)
}

// shareGrammar decodes the grammar of a sequence that is one when the first cursor comes to it. It may be much larger
// than its encoding: with one for each cursor the memory would end.
func (t *Reader) shareGrammar(sequence int, r *sequenceReader) error {
	if !r.isGrammar() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.grammar = t.grammars[sequence]
	if !r.start() {
		return fmt.Errorf("value sequence %d: %w", sequence, r.d.err)
	}
	t.grammars[sequence] = r.grammar
	return nil
}

// memory is the budget for what cursors keep.
func (t *Reader) memory() *budget { return t.budget }

// Content reads everything.
func (t *Reader) Content() (*Content, error) {
	c, err := t.StreamedContent()
	if err != nil {
		return nil, err
	}
	for i := range c.Threads {
		c.Threads[i].Timing = nil
		if c.Threads[i].Gaps, c.Threads[i].Durations, err = t.Timing(i); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// StreamedContent reads everything but the times of calls. These are checked, but stay in the file, which must stay
// open, and are read when the content is written again or a cursor asks for them.
func (t *Reader) StreamedContent() (*Content, error) {
	c := t.shared
	if t.sequenceCount > 0 {
		if !t.budget.take(24 * int64(t.sequenceCount)) {
			return nil, fmt.Errorf("trace: value sequences: %w", errMemory)
		}
		c.Sequences = make([][]int64, t.sequenceCount)
	}
	for i := range c.Sequences {
		var err error
		if c.Sequences[i], err = t.Sequence(i); err != nil {
			return nil, err
		}
	}
	c.Threads = slices.Clone(c.Threads)
	timings := t.storedTimings()
	for i := range c.Threads {
		var err error
		if c.Threads[i].Aggregates, err = t.Aggregates(i); err != nil {
			return nil, err
		}
		if t.timed[i] == timingOfCalls {
			if err := timings[i].check(); err != nil {
				return nil, fmt.Errorf("trace: timing of rank %d thread %d %w", c.Threads[i].Rank, c.Threads[i].Thread, err)
			}
			c.Threads[i].Timing = &timings[i]
		}
	}
	return &c, nil
}
