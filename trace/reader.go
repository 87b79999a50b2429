package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"weak"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// An Option changes how a trace is opened.
type Option func(*Reader)

// WithMemoryLimit bounds the memory of a reader and its cursors, in bytes. The default is 64 MiB +
// 8 × the file's size. Beyond it, methods fail with an error that names this option.
func WithMemoryLimit(bytes int64) Option {
	return func(r *Reader) { r.budget = codec.NewBudget(bytes) }
}

const (
	memoryLimitBase = 64 << 20
	// What grows with the number of calls needs less (TestMemoryPerByte), except grammars without
	// regularity: the base is enough for five million symbols of them.
	memoryLimitFactor = 8
	// tailRead is the number of bytes that Open reads first: mostly they include the index.
	tailRead = 64 << 10
)

// A Reader reads a trace piece by piece. It is safe for concurrent use. Its results are shared and
// must not be changed.
type Reader struct {
	r       io.ReaderAt
	size    int64
	budget  *codec.Budget
	version int
	index   *codec.Index
	ahead   []extent              // parts of the file that were read already; only while it is opened
	shared  Content               // without sequences and timing
	means   []*semantics.Function // by index in shared.Functions
	plans   []callPlan
	timed   codec.Numbers // kind of timing of each thread

	sequenceCount  int
	sequenceBlocks []codec.Entry
	clockBlocks    []codec.Entry
	inline         sequenceBlock   // value sequences in a small section
	timing         codec.BlockList // by thread and part
	summed         bool            // some of them have sums
	aggregates     codec.BlockList // by thread
	chunkBlocks    codec.BlockList // by part
	chunks         []codec.Chunk
	chapterBlocks  codec.BlockList        // by thread and number
	long           map[int][]*codec.Chunk // of the sequences that begin with chunks
	timingPlan     *timing.Plan

	mu        sync.Mutex
	sequences map[int64]sequenceBlock             // by file offset
	grammars  map[int]*codec.SequenceGrammar      // of sequences that are grammars; shared by all cursors
	made      map[int]weak.Pointer[rankCreations] // by rank, as long as it has cursors
}

// An extent is a part of the file.
type extent struct {
	offset int64
	bytes  []byte
}

// Open reads the index and everything that all ranks share. Other data is read from r, at offsets
// below size, when it is needed.
func Open(r io.ReaderAt, size int64, options ...Option) (*Reader, error) {
	t := &Reader{
		r: r, size: size, sequences: map[int64]sequenceBlock{}, grammars: map[int]*codec.SequenceGrammar{},
		made: map[int]weak.Pointer[rankCreations]{},
	}
	t.budget = codec.NewBudget(defaultMemoryLimit(size))
	for _, option := range options {
		option(t)
	}
	if err := t.open(); err != nil {
		return nil, fmt.Errorf("trace: open: %w", err)
	}
	return t, nil
}

func defaultMemoryLimit(size int64) int64 {
	return memoryLimitBase + memoryLimitFactor*min(max(size, 0), math.MaxInt64/(2*memoryLimitFactor))
}

var errNoTrace = errors.New("this is no Cairn trace")

func (t *Reader) open() error {
	if err := t.openHead(); err != nil {
		return err
	}
	if t.version == HistogramsVersion {
		return ErrHistograms
	}
	if t.version != FormatVersion && t.version != ListsVersion {
		return versionError(t.version)
	}
	if err := t.openIndex(); err != nil {
		return err
	}
	if err := t.openShared(); err != nil {
		return err
	}
	for _, e := range t.ahead {
		t.budget.Give(int64(len(e.bytes)))
	}
	t.ahead = nil
	if !t.budget.Take(int64(len(t.shared.Functions)) * bytesOfSemantics) {
		return codec.ErrMemory
	}
	t.means = semanticsOf(t.shared.Functions)
	t.plans = planCalls(&t.shared, t.means)
	return nil
}

// openHead reads the version.
func (t *Reader) openHead() error {
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
	t.version = int(head[len(magic)])
	return nil
}

// lastOfVersions1And2 is the last commit that read versions 1 and 2 of the format.
const lastOfVersions1And2 = "0feb64e"

func versionError(version int) error {
	if version > FormatVersion {
		return fmt.Errorf("format version %d is unknown to this Cairn, which reads versions %d and %d: read the file with a newer one",
			version, FormatVersion, ListsVersion)
	}
	return fmt.Errorf("format version %d is older than what this Cairn reads, version %d: read the file with the Cairn that wrote it, "+
		"or with %s, the last that reads versions 1 and 2", version, FormatVersion, lastOfVersions1And2)
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
	content, err := codec.OpenBlock(block, blockIndex, t.budget)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if t.index, err = codec.DecodeIndex(content, int64(headerSize), end, t.budget); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// openShared reads and decodes the sections that all ranks share. In files of this writer they are
// adjacent and are read at once: over a network one request takes longer than many bytes.
func (t *Reader) openShared() error {
	found, err := t.openBlocks()
	if err != nil {
		return err
	}
	c := &t.shared
	var lengths []uint64
	err = found.decode([]sectionDecoding{
		{blockMeta, "metadata", false, false, func(d *decoder) { c.Meta = d.meta() }},
		{blockFunctions, "functions", false, false, func(d *decoder) { c.Functions = d.functions() }},
		{blockSites, "call sites", false, true, func(d *decoder) { c.Sites = d.sites() }},
		{blockAllocations, "segments", true, true, func(d *decoder) { c.Allocations = d.allocations() }},
		{blockSignatures, "signatures", false, false, func(d *decoder) { c.Signatures = d.signatures(c.Functions, t.version == ListsVersion) }},
		{blockCommunicators, "communicators", false, false, func(d *decoder) { c.Communicators = d.communicators() }},
		{blockGrammar, "grammar", true, false, func(d *decoder) {
			c.Grammar = d.Rules()
			if d.Err == nil {
				lengths, d.Err = c.Grammar.Lengths()
			}
		}},
		{blockRanks, "ranks", false, false, func(d *decoder) { c.Ranks = d.ranks() }},
		{blockRankMap, "rank map", false, false, func(d *decoder) { d.rankMap(c, lengths) }},
		{blockChapters, "chapters", true, true, func(d *decoder) { t.openChapters(d, lengths) }},
		{blockColumns, "columns", true, true, func(d *decoder) { c.Columns = d.Columns() }},
		{blockStreams, "streams", false, false, func(d *decoder) { t.sequenceCount = d.streams(c) }},
		{blockLongSequences, "long sequences", true, true, func(d *decoder) { t.long = d.longSequences(t.chunks, t.sequenceCount) }},
		{blockTimingStart, "start of timing", false, false, func(d *decoder) { t.timed = d.timingStart(c) }},
		{blockContext, "context", false, true, func(d *decoder) { d.context(c) }},
		{blockEvidence, "evidence", false, true, func(d *decoder) { d.evidence(c) }},
		{blockUsage, "usage", true, true, func(d *decoder) { d.usage(c) }},
		{blockEnds, "ends", true, true, func(d *decoder) { d.ends(c) }},
		{blockDeaths, "deaths", true, true, func(d *decoder) { d.deaths(c) }},
		{blockLooks, "looks", true, true, func(d *decoder) { d.looks(c) }},
		{blockTracers, "what tracing took", true, true, func(d *decoder) { d.tracers(c) }},
		{blockCompressors, "CPU time of the compressor", true, true, func(d *decoder) { d.compressors(c) }},
		{blockPressures, "pressures", true, true, func(d *decoder) { d.pressures(c) }},
		{blockSuspensions, "suspensions", true, true, func(d *decoder) { d.suspensions(c) }},
		{blockLeads, "leads", true, true, func(d *decoder) { d.leads(c) }},
		{blockClustering, "clustering", false, true, func(d *decoder) { d.clustering(c) }},
	})
	if err != nil {
		return err
	}
	if err := c.validateShared(); err != nil {
		return err
	}
	t.extrapolation()
	t.timingPlan, err = planTiming(c.Signatures, &c.Meta, c.Functions)
	return err
}

// readAhead reads a part of the file, which later reads will use.
func (t *Reader) readAhead(from, to int64) error {
	if t.cached(from, to-from) != nil {
		return nil
	}
	b, err := t.read(from, to-from)
	t.ahead = append(t.ahead, extent{from, b})
	return err
}

// cached returns a part of the file that was read ahead, else nil.
func (t *Reader) cached(offset, n int64) []byte {
	for _, e := range t.ahead {
		if offset >= e.offset && offset-e.offset <= int64(len(e.bytes)) && n <= int64(len(e.bytes))-(offset-e.offset) {
			return e.bytes[offset-e.offset:][:n:n]
		}
	}
	return nil
}

// read reads bytes of the file. Their memory is taken from the budget.
func (t *Reader) read(offset, n int64) ([]byte, error) {
	if !t.budget.Take(n) {
		return nil, codec.ErrMemory
	}
	if b := t.cached(offset, n); b != nil {
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
func (t *Reader) block(e codec.Entry) ([]byte, error) {
	b, err := t.read(e.Offset, e.Size)
	if err != nil {
		return nil, err
	}
	content, err := codec.OpenBlock(b, e.Kind, t.budget)
	if err != nil {
		return nil, err
	}
	t.budget.Give(e.Size)
	return content, nil
}

// Version returns the format version of the file.
func (t *Reader) Version() int { return t.version }

// Meta returns the description of the whole trace.
func (t *Reader) Meta() *Meta { return &t.shared.Meta }

// Functions returns all MPI functions that the trace uses, sorted by id.
func (t *Reader) Functions() []Function { return t.shared.Functions }

// Function returns the function with this id, nil if there is none.
func (t *Reader) Function(id uint16) *Function { return t.shared.function(id) }

// Sites returns the call sites; Signature.Site is 1 + an index into them.
func (t *Reader) Sites() []Site { return t.shared.Sites }

// Signatures returns the call signature table; the index is the terminal.
func (t *Reader) Signatures() []Signature { return t.shared.Signatures }

// Communicators returns all communicator instances.
func (t *Reader) Communicators() []Communicator { return t.shared.Communicators }

// Grammar returns the rules of all threads.
func (t *Reader) Grammar() grammar.Grammar { return t.shared.Grammar }

// Ranks returns the ranks, sorted by number.
func (t *Reader) Ranks() *RankTable { return &t.shared.Ranks }

// Rank returns the rank with this number, nil if it is not in the trace.
func (t *Reader) Rank(rank int) *Rank { return t.shared.rank(rank) }

// Threads returns the threads, sorted by rank and thread. Their Gaps and Durations are nil (see
// Timing).
func (t *Reader) Threads() *ThreadTable { return &t.shared.Threads }

// Sequences returns the number of value sequences.
func (t *Reader) Sequences() int { return t.sequenceCount }

// Sequence decodes one value sequence. The memory limit must allow for its size, but the values
// belong to the caller and do not count against it later.
func (t *Reader) Sequence(i int) ([]int64, error) {
	values, booked, err := t.sequence(i)
	if err == nil && len(t.inline.sequence(i)) == 0 {
		err = t.resolveReadings(func(sequence int) []int64 {
			if sequence == i {
				return values
			}
			return nil
		})
	}
	t.budget.Give(booked)
	return values, err
}

// sequence decodes a value sequence. Its memory stays booked on the budget.
func (t *Reader) sequence(i int) (values []int64, booked int64, err error) {
	if values, booked, err = t.rest(i); err != nil || len(t.long[i]) == 0 {
		return values, booked, err
	}
	all := codec.Sequence{Chunks: t.long[i], Values: values}
	more := 8 * int64(all.Len())
	if !t.budget.Take(more) {
		err = codec.ErrMemory
	} else {
		booked += more
		values, err = all.All()
	}
	if err != nil {
		t.budget.Give(booked)
		return nil, 0, fmt.Errorf("trace: value sequence %d: %w", i, err)
	}
	return values, booked, nil
}

// rest decodes the values of a sequence after its chunks.
func (t *Reader) rest(i int) (values []int64, booked int64, err error) {
	b, reading, err := t.sequenceBytes(i)
	if err == nil && reading.form != plainReadings && t.long[i] != nil {
		err = fmt.Errorf("trace: value sequence %d: %w", i, errReadings)
	}
	if err != nil {
		return nil, 0, err
	}
	d := newDecoder(b, t.budget)
	values = d.Sequence()
	if d.Err != nil {
		d.Release()
		return nil, 0, fmt.Errorf("trace: value sequence %d: %w", i, d.Err)
	}
	return values, d.Scratch, nil
}

// Aggregates returns the aggregated timing of Threads()[thread]; nil if the trace has none.
func (t *Reader) Aggregates(thread int) ([]timing.Aggregate, error) {
	if t.timed.At(thread) != timingAggregates {
		return nil, nil
	}
	entry, ok := t.aggregates.Find(int64(t.shared.timingRow(thread)), 0)
	where := t.shared.Threads.At(thread)
	if !ok {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: missing", where.Rank, where.Thread)
	}
	content, err := t.block(entry)
	if err != nil {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: %w", where.Rank, where.Thread, err)
	}
	d := newDecoder(content, t.budget)
	list := timing.ReadAggregates(d.Decoder, len(t.shared.Signatures))
	d.Release()
	t.budget.Give(int64(len(content)))
	if d.Err == nil && len(d.Rest) > 0 {
		d.Fail(codec.ErrNumber)
	}
	if d.Err != nil {
		return nil, fmt.Errorf("trace: aggregates of rank %d thread %d: %w", where.Rank, where.Thread, d.Err)
	}
	return list, nil
}

// stream opens a value sequence.
func (t *Reader) stream(sequence int) (codec.ValueStream, clockReading, error) {
	b, reading, err := t.sequenceBytes(sequence)
	if err == nil && reading.form != plainReadings && t.long[sequence] != nil {
		err = errReadings
	}
	if err != nil {
		return codec.ValueStream{}, reading, err
	}
	rest := codec.NewValueStream(b, t.budget)
	if err := t.shareGrammar(sequence, &rest); err != nil {
		return rest, reading, err
	}
	return codec.NewSequenceStream(codec.Sequence{Chunks: t.long[sequence]}, &rest), reading, nil
}

// shareGrammar decodes the grammar of a sequence when the first cursor needs it. It may be much
// larger than its encoding, so cursors share it.
func (t *Reader) shareGrammar(sequence int, s *codec.ValueStream) error {
	if !s.IsGrammar() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g, err := s.UseGrammar(t.grammars[sequence])
	if err != nil {
		return fmt.Errorf("value sequence %d: %w", sequence, err)
	}
	t.grammars[sequence] = g
	return nil
}

// memory is the budget for cursors.
func (t *Reader) memory() *codec.Budget { return t.budget }

func (t *Reader) hasTimes(thread int) bool { return t.timed.At(thread) == timingOfCalls }

func (t *Reader) sibling(int) source { return t }

func (t *Reader) creations(rank int) *rankCreations {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.made[rank].Value()
	if c == nil {
		c = &rankCreations{}
		t.made[rank] = weak.Make(c)
	}
	return c
}

// Content reads everything.
func (t *Reader) Content() (*Content, error) {
	c, err := t.StreamedContent()
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	c.Threads = ThreadTable{}
	for i, thread := range threads.All() {
		thread.Timing = nil
		if thread.Gaps, thread.Durations, err = t.Timing(i); err != nil {
			return nil, err
		}
		c.Threads.Append(thread)
	}
	for i := range t.long {
		var values []int64
		if values, _, err = t.sequence(i); err != nil {
			return nil, err
		}
		c.Sequences[i] = codec.Sequence{Values: values}
	}
	return c, nil
}

// StreamedContent reads everything but the times of calls and the chunks of long value sequences.
// These are checked, but are read from the file, which must stay open, when the content is written
// again or a cursor needs them.
func (t *Reader) StreamedContent() (*Content, error) {
	c := t.shared
	if len(c.Leads) > 0 {
		return nil, ErrLeads
	}
	if t.sequenceCount > 0 {
		if !t.budget.Take(48 * int64(t.sequenceCount)) {
			return nil, fmt.Errorf("trace: value sequences: %w", codec.ErrMemory)
		}
		c.Sequences = make([]codec.Sequence, t.sequenceCount)
	}
	if err := t.checkChunks(); err != nil {
		return nil, err
	}
	for i := range c.Sequences {
		var err error
		if c.Sequences[i].Values, _, err = t.rest(i); err != nil {
			return nil, err
		}
		c.Sequences[i].Chunks = t.long[i]
	}
	if err := t.resolveReadings(func(i int) []int64 { return c.Sequences[i].Values }); err != nil {
		return nil, err
	}
	if !t.aggregates.Empty() {
		c.Threads.aggregates = make([][]timing.Aggregate, c.Threads.Len())
		for i := range c.Threads.aggregates {
			var err error
			if c.Threads.aggregates[i], err = t.Aggregates(i); err != nil {
				return nil, err
			}
		}
	}
	if err := t.storeTimings(&c.Threads); err != nil {
		return nil, err
	}
	return &c, nil
}
