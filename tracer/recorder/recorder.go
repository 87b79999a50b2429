package recorder

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Recorder is the compressed form of all records of a process that were given to it. It is not safe for concurrent
// use.
type Recorder struct {
	process *Process

	handles       [256]*handles   // by kind; nil for kinds that are no handles
	constants     [256]*constants // by kind; nil for kinds without named values
	sentinels     [256]*constants // by kind: what may stand in the place of an array
	requests      *requests
	communicators *communicators
	signatures    *signatures
	families      families
	widening      widening
	generality    generality
	generalizing  generalizing
	memoryLimit   int // memoryLimit but in tests
	grown         int // by how much since the recorder looked at what it holds
	written       writtenTables
	sites         *sites
	repeats       *repeats
	clustering    *clustering // nil: this process is recorded by itself
	threads       []*thread   // by order of first sight

	rank, worldSize int // −1: not known yet
	finalized       bool
	off             bool // MPI_Pcontrol, or from the start: only lives of handles are recorded
	stopped         bool // tracing ended before the process did
	whyStopped      string
	sessions        int // open sessions
	samples         []timing.ClockSample
	chaptersApart   bool // Content has those that are in parts by themselves
	lost            lost
	notes           []string

	life life // of a process that is gone

	blockCalls   uint64      // of times: timing.BlockCalls but in tests
	full         []*block    // blocks that are in no log yet
	grammarBytes int         // of a thread, from which on a grammar becomes a chapter: mostGrammarBytes but in tests
	spare        [][]byte    // memory of blocks that are
	blocks       *blockIndex // of the log, where somebody else reads it; nil: there is none

	grids *timingGrids

	root, undefinedRoot uint64 // raw MPI_ROOT and whether there is one
	inStatus            uint64 // raw MPI_ERR_IN_STATUS, 0: unknown
	scratch             scratch
}

// lost counts what could not be recorded.
type lost struct {
	Dropped   uint64 // inside the shim: no room, or inside a signal handler
	Malformed uint64 // records that are none
	Truncated uint64 // calls whose arguments did not fit
	Abandoned uint64 // calls that never returned although their thread went on (longjmp, C++ exceptions)
}

// A thread is what is known of one thread.
type thread struct {
	number     uint32
	grammar    *grammar.Sequitur // of the calls that are in no chapter
	inChapters uint64
	results    []results // by terminal
	latest     *repeat   // the call before was this one; nil: it was no known repeat
	loop       loop

	untraced        bool // tracing was off at some time since the last call
	calls           uint64
	firstTick       int64
	lastExit        int64
	lastFunction    uint16
	inFlight        uint16 // function of the call that had not returned when the process went, 0: none
	entered         int64  // when it was entered
	gaps, durations column // what is in no full block yet
	blockTimes      uint64 // how many gaps, and durations, are in full blocks
	blockTicks      int64  // their sum
	rounder         timing.Rounder
	end             int64              // latest exit of a call up to MPI_Finalize
	inside          int64              // ticks inside of these calls
	ended           bool               // MPI_Finalize has been there
	aggregates      []timing.Aggregate // by terminal, when timing is aggregated
	grids           *timingGrids       // of the recorder
	recorder        *Recorder
	tally           *tally // nil: there is no clustering

	// how far its segments have been worked off
	sequence uint64 // of the first segment that is not finished
	offset   int    // words of it that are
}

// constants are the named values of a kind.
type constants struct {
	table    *rawTable // raw -> −1 − index
	min, max int64     // no name is outside
}

func newConstants(table *rawTable) *constants {
	c := &constants{table: table, min: math.MaxInt64, max: math.MinInt64}
	table.each(func(key uint64, _ int32) { c.min, c.max = min(c.min, int64(key)), max(c.max, int64(key)) })
	return c
}

func (c *constants) lookup(raw uint64) (int32, bool) {
	if c == nil || int64(raw) < c.min || int64(raw) > c.max {
		return 0, false
	}
	return c.table.get(raw)
}

// New starts a recorder for a process.
func New(p *Process) *Recorder {
	r := &Recorder{
		process: p, off: p.StartOff != 0, rank: none, worldSize: none, blockCalls: timing.BlockCalls, grammarBytes: mostGrammarBytes,
		memoryLimit: memoryLimit,
		signatures:  newSignatures(), families: newFamilies(), sites: newSites(p), grids: newTimingGrids(p.Timing), repeats: newRepeats(),
		clustering: newClustering(p.Mode),
	}
	r.communicators = newCommunicators(&r.repeats.generation)
	tables, sentinels := p.constantTables()
	for _, kind := range mpi.Kinds() {
		table := tables[kind]
		switch {
		case dense(kind):
			if table == nil {
				table = newRawTable()
			}
			r.handles[kind] = &handles{table: table, generation: &r.repeats.generation}
		case kind == mpi.KindRequest:
			r.requests = newRequests(table)
		case table != nil:
			r.constants[kind] = newConstants(table)
		}
		if table := sentinels[kind]; table != nil {
			r.sentinels[kind] = newConstants(table)
		}
	}
	r.communicators.world, r.communicators.self = none-len32(p.Constants), none-len32(p.Constants)
	for i, c := range p.Constants {
		switch c.Name {
		case worldName:
			r.communicators.world = int32(-1 - i)
		case selfName:
			r.communicators.self = int32(-1 - i)
		case "MPI_ROOT":
			r.root, r.undefinedRoot = uint64(c.Value), 1
		case "MPI_ERR_IN_STATUS":
			r.inStatus = uint64(c.Value)
		}
	}
	r.scratch.start()
	r.sites.moved = r.repeats.forget
	return r
}

func len32(c []Constant) int32 { return int32(len(c)) }

// thread finds or starts the thread with this number.
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

// rankFromEnvironment is for processes that died before MPI_Init returned, or never called it (sessions).
func (p *Process) rankFromEnvironment() (rank, size int) {
	number := func(names ...string) int {
		for _, name := range names {
			if v, err := strconv.Atoi(p.Environment[name]); err == nil && v >= 0 {
				return v
			}
		}
		return none
	}
	return number("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"), number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
}

// addNote adds a note once.
func (r *Recorder) addNote(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	for _, n := range r.notes {
		if n == note {
			return
		}
	}
	r.notes = append(r.notes, note)
}

// Calls is the number of calls recorded so far.
func (r *Recorder) Calls() uint64 {
	var n uint64
	for _, t := range r.threads {
		n += t.calls
	}
	return n
}

// bootID is the id of the running kernel.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return string(b)
}
