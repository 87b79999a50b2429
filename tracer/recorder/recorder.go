package recorder

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/clock"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Recorder is the compressed form of all records of a process so far. It is not safe
// for concurrent use.
type Recorder struct {
	process *record.Process

	objects      *identity.Objects
	signatures   *signatures
	families     families
	widening     widening
	generality   generality
	generalizing generalizing
	Limits       Limits
	grown        int // bytes added since memory was last estimated
	written      writtenTables
	sites        *sites
	repeats      *repeats
	clustering   *online.Clustering // nil: this process is recorded without clustering
	threads      []*thread          // in the order of their first records

	rank, worldSize int // −1: not known yet
	finalized       bool
	off             bool // MPI_Pcontrol, or from the start: only lifetimes of handles are recorded
	stopped         bool // tracing ended before the process did
	whyStopped      string
	sessions        int // open sessions
	samples         []timing.ClockSample
	ChaptersApart   bool // Content stores chapters that are in parts separately
	lost            lost
	notes           []string

	life observed.Life // of a process that has ended

	full   []*Block    // full blocks that are not in a log yet
	spare  [][]byte    // memory of blocks that were written
	Blocks *BlockIndex // of the log, for other processes that read it; nil: none

	grids *timingGrids

	inStatus uint64 // raw MPI_ERR_IN_STATUS, 0: unknown
	scratch  scratch
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

// lost counts what could not be recorded.
type lost struct {
	Dropped   uint64 // by the shim: no room, or in a signal handler
	Malformed uint64 // records that could not be decoded
	Truncated uint64 // calls whose arguments did not fit
	Abandoned uint64 // calls that never returned although their thread continued (longjmp, C++ exceptions)
}

// A thread is the recorded state of one thread.
type thread struct {
	number     uint32
	grammar    *grammar.Sequitur // of the calls since the last chapter
	inChapters uint64
	results    []results // by terminal
	latest     *repeat   // repeat of the previous call; nil: it was none
	loop       loop

	untraced        bool // tracing was off at some time since the last call
	calls           uint64
	firstTick       int64
	lastExit        int64
	lastFunction    uint16
	inFlight        uint16 // function of the call that the process ended in, 0: none
	entered         int64  // time of its entry
	gaps, durations column // not in full blocks yet
	blockTimes      uint64 // number of gaps, and of durations, in full blocks
	blockTicks      int64  // their sum
	rounder         timing.Rounder
	end             int64              // latest exit of a call up to MPI_Finalize
	inside          int64              // ticks in these calls
	ended           bool               // MPI_Finalize was called
	aggregates      []timing.Aggregate // by terminal, when timing is aggregated
	grids           *timingGrids       // of the recorder
	recorder        *Recorder
	tally           *tally // nil: no clustering

	// how much of its buffers was consumed
	sequence uint64 // of the first unfinished buffer
	offset   int    // words of it that were consumed
}

// New starts a recorder for a process.
func New(p *record.Process) *Recorder {
	r := &Recorder{
		process: p, off: p.StartOff != 0, rank: none, worldSize: none,
		Limits:     Limits{BlockCalls: timing.BlockCalls, Grammar: maxGrammarBytes, Memory: memoryLimit},
		signatures: newSignatures(), families: newFamilies(), sites: newSites(p), grids: newTimingGrids(p.Timing), repeats: newRepeats(),
		clustering: online.New(p.Mode),
	}
	r.objects = identity.New(p.Constants, &r.repeats.generation)
	for _, c := range p.Constants {
		if c.Name == "MPI_ERR_IN_STATUS" {
			r.inStatus = uint64(c.Value)
		}
	}
	r.scratch.start()
	r.sites.moved = r.repeats.forget
	return r
}

// thread returns the thread with this number, and adds it at its first use.
func (r *Recorder) thread(number uint32) *thread {
	for _, t := range r.threads {
		if t.number == number {
			return t
		}
	}
	t := r.newThread()
	t.untraced, t.number, t.grammar = r.off, number, grammar.NewSequitur()
	r.threads = append(r.threads, t)
	return t
}

func (r *Recorder) newThread() *thread {
	t := &thread{grids: r.grids, recorder: r}
	if r.clustering != nil {
		t.tally = &tally{}
	}
	return t
}

// AddNote adds a note unless it was added before.
func (r *Recorder) AddNote(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	for _, n := range r.notes {
		if n == note {
			return
		}
	}
	r.notes = append(r.notes, note)
}

// NoteStopped adds a note that the process stopped tracing, and why.
func (r *Recorder) NoteStopped(why string) {
	r.AddNote("tracing stopped: %s", why)
	r.stopped, r.whyStopped = true, why
}

// LostCalls returns the number of calls that are known to be missing.
func (r *Recorder) LostCalls() uint64 { return r.lost.Dropped + r.lost.Malformed }

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
	r.record(r.thread(thread), record.Record{Words: c.Words, Function: c.Function, Enter: uint64(c.Enter), Exit: uint64(c.Exit)})
}

// Sample records a sample of the clocks, as in the header of a buffer.
func (r *Recorder) Sample(s timing.ClockSample) { r.samples = clock.Append(r.samples, s) }
