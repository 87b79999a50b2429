package recorder

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/callsite"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/repeat"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A Recorder is the compressed form of all records of a process so far. It is not safe
// for concurrent use.
type Recorder struct {
	process *record.Process
	processState
	threads threads // in the order of their first records

	objects    *identity.Objects
	sites      *callsite.Table
	keys       *key.Table
	repeats    *repeat.Table
	clustering *online.Clustering // nil: this process is recorded without clustering
	grids      *timingGrids

	blocks
	ChaptersApart bool // Content stores chapters that are in parts separately

	Limits Limits
	grown  int // bytes added since memory was last estimated
}

// none is the absence of a terminal, a rank or an offset.
const none = -1

// Limits are the thresholds for closing blocks and generalizing. Only tests change
// those that New sets.
type Limits struct {
	BlockCalls uint64 // calls of a thread per block of times
	Grammar    int    // bytes of a thread's grammar above which it becomes a chapter
	Memory     int    // bytes of memory
}

// A thread is the recorded state of one thread.
type thread struct {
	number     uint32
	grammar    *grammar.Sequitur // of the calls since the last chapter
	inChapters uint64
	streams    values.Streams
	repeats    *repeat.Thread
	loop       loopTimes

	untraced     bool // tracing was off at some time since the last call
	calls        uint64
	firstTick    int64
	lastExit     int64
	lastFunction uint16
	inFlight     uint16 // function of the call that the process ended in, 0: none
	entered      int64  // time of its entry
	columns             // times that are not in full blocks yet
	blockTimes   uint64 // number of gaps, and of durations, in full blocks
	blockTicks   int64  // their sum
	coarse       bool   // some of those that are not in full blocks are sums spread over several calls
	summed       bool   // the call that is recorded is one of a summed record
	rounder      timing.Rounder
	end          int64              // latest exit of a call up to MPI_Finalize
	inside       int64              // ticks in these calls
	ended        bool               // MPI_Finalize was called
	aggregates   []timing.Aggregate // by terminal, when timing is aggregated
	recorder     *Recorder
	tally        *tally // nil: no clustering

	// how much of its buffers was consumed
	sequence uint64 // of the first unfinished buffer
	offset   int    // words of it that were consumed
}

// New starts a recorder for a process.
func New(p *record.Process) *Recorder {
	r := &Recorder{
		process:      p,
		processState: processState{rank: none, worldSize: none, off: p.StartOff != 0},
		objects:      identity.New(p.Constants),
		sites:        callsite.New(p),
		clustering:   online.New(p.Mode),
		grids:        newTimingGrids(p.Timing),
		blocks:       blocks{Blocks: &BlockIndex{}},
		Limits:       Limits{BlockCalls: timing.BlockCalls, Grammar: maxGrammarBytes, Memory: memoryLimit},
	}
	r.keys = key.New(p.Constants, r.objects, r.sites)
	r.repeats = repeat.New(r.keys, r.objects)
	return r
}

// thread returns the thread with this number, and adds it at its first use.
func (r *Recorder) thread(number uint32) *thread {
	t := r.threads.find(number)
	if t != nil {
		return t
	}
	t = newThread(r)
	t.untraced = r.off
	t.start(number, grammar.NewSequitur())
	r.threads = append(r.threads, t)
	return t
}

func newThread(r *Recorder) *thread {
	t := &thread{recorder: r}
	if r.clustering != nil {
		t.tally = &tally{}
	}
	return t
}

// start continues a thread after the calls of a grammar.
func (t *thread) start(number uint32, calls *grammar.Sequitur) {
	t.number, t.grammar = number, calls
	t.repeats = t.recorder.repeats.Thread(number, calls, &t.streams)
}

// threads are the threads of a process.
type threads []*thread

// find returns the thread with this number; nil if there is none.
func (list threads) find(number uint32) *thread {
	if int(number) < len(list) && list[number].number == number { // as usual
		return list[number]
	}
	if i := slices.IndexFunc(list, func(t *thread) bool { return t.number == number }); i >= 0 {
		return list[i]
	}
	return nil
}

// byNumber returns the threads ordered by number.
func (list threads) byNumber() threads {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *thread) int { return cmp.Compare(a.number, b.number) })
	return list
}

// Calls returns the number of calls recorded so far.
func (r *Recorder) Calls() uint64 {
	var n uint64
	for _, t := range r.threads {
		n += t.calls
	}
	return n
}

// A Call is a call that is recorded without a shim, by a program that generates calls (a
// simulation). It is processed like a record of a buffer: signature, grammar, streams, timing.
type Call struct {
	Function    uint16 // mpi
	Enter, Exit int64  // ticks
	Address     uint64 // of the call site
	Result      int64  // return value
	// Words are record.HeaderWords words, which Record overwrites, then inputs, outputs and extras
	// as in a record (docs/decisions/0001-seams.md, "Raw records").
	Words []uint64
}

// Record records a call of a thread.
func (r *Recorder) Record(thread uint32, c *Call) {
	clear(c.Words[:record.HeaderWords])
	c.Words[record.AddressWord], c.Words[record.ReturnWord] = c.Address, uint64(c.Result)
	c.Words[record.LengthWord] = record.Join(uint32(len(c.Words)*8), uint32(c.Function))
	r.thread(thread).record(record.Record{Words: c.Words, Function: c.Function, Enter: uint64(c.Enter), Exit: uint64(c.Exit)})
}

// Dictionary returns the dictionary, to which the caller must give its file.
func (r *Recorder) Dictionary() *record.Dictionary { return &r.sites.Dictionary }

// SiteOf returns 1 + the index of the call site of a record's address word, 0 if it is not known.
func (r *Recorder) SiteOf(word uint64) int32 { return r.sites.Of(word) }
