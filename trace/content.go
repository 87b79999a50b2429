package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Content is everything that a trace file holds, in memory: what Write takes and Read gives back. A shard is a
// Content with fewer ranks than its world.
type Content struct {
	Meta          Meta
	Functions     []Function
	Sites         []Site
	Segments      []Segment   // what pointers lead to, where that is kept
	Signatures    []Signature // index = terminal
	Communicators []Communicator
	Grammar       grammar.Grammar  // rules of all threads; Thread.Root names each one's root
	Columns       []codec.Numbers  // values that differ from rank to rank: see Column and Cases
	Sequences     []codec.Sequence // distinct value sequences; Thread.Streams refer to them
	Ranks         RankTable
	Threads       ThreadTable
	// Leads says for each thread the position of that which stands for it, its own for those that have their calls in the
	// trace; nil: all have.
	Leads []int
}

// Meta is about the whole trace.
type Meta struct {
	Final          bool   // written by the final merge: peers are relative, sites and communicators are global
	World          string // id of the MPI world
	WorldSize      int
	Implementation string // "Open MPI", "MPICH"
	Version        string
	ABI            string // "openmpi", "mpich"
	CreatedBy      string // version of Cairn
	CallSites      string // "none", "caller", "path"
	Timing         timing.Settings
	Clustering     *Clustering // nil: every rank was recorded by itself
	Attempt, Run   int
	MissingRanks   RankList
	Excluded       []string // groups of functions that were not recorded, but for calls that give or end handles; sorted
	Notes          []string // what a reader must know: degraded tracing, dropped records
}

// A Rank is one MPI process.
type Rank struct {
	Rank             int // in MPI_COMM_WORLD
	Host             string
	Pod, Node        string // "" outside Kubernetes
	BootID           string // equal boot ids share a clock
	PID              int
	Executable       string
	StartRealtimeNS  int64 // in a finished trace rounded to StartUnit from the first rank's
	Clock            timing.Clock
	EndedEarly       string // "" when MPI_Finalize returned; else what was in flight: "killed in MPI_Recv", "after MPI_Send"; see TracingStopped
	End              *End   // of a rank that ended early: how; nil where nothing is known of that
	Dropped          uint64 // calls that were made and not recorded, also those after tracing had stopped
	Context          []ContextSample
	Evidence         []EvidenceRow      // nil: none was taken, or nothing was long
	Outliers         []EvidenceInstance // the largest instances of Evidence, in order of BeginNS
	Threads          []ThreadUsage      // of the process, by falling CPU time
	Tracer           *TracerUsage       // what tracing took of it; nil: not known, as of a short run, which needs no core
	CommunicatorsOwn []uint32           // instances in the order in which this rank got them, indices into Content.Communicators
}

// StartedAt reports whether the rank may have started then, in ns of CLOCK_REALTIME: its start may be rounded.
func (r *Rank) StartedAt(ns int64) bool {
	off := ns - r.StartRealtimeNS
	return off <= StartUnit/2 && off >= -StartUnit/2
}

// A Thread is the sequence of calls of one thread of one rank.
type Thread struct {
	Rank, Thread int
	Root         int // rule in Content.Grammar
	// Threads of one shape make the same calls, up to what is elastic and to the exponents of the grammar. Place is the
	// thread's position among those of its shape, in the order of Content.Threads. Both are 0 before a merge.
	Shape, Place int
	Calls        uint64
	Streams      []StreamRef // sorted by terminal, then number
	FirstTick    int64       // enter of the first call
	EndTick      int64       // latest exit of a call up to MPI_Finalize
	InsideTicks  int64       // ticks inside of these calls, those of nested ones once; exact in every mode of timing
	// Gaps and Durations are in ticks, one a call: gap is the time since the previous call's exit on the same thread
	// (0 for the first) less Holds, duration is exit − enter. A nested call's gap is negative: it enters before its
	// predecessor, the enclosing call, exits. In a lossy trace they are rounded.
	Gaps, Durations []int64
	// Timing is where gaps and durations are when they are not in memory; they are read when they are needed.
	Timing TimingSource
	// SignaturesJoined: calls that Timing tells apart by their signatures have the same one here.
	SignaturesJoined bool
	// Marks are how many calls the thread had made by each of Meta.Clustering.Votes; StandIns say between which of them the
	// times are another rank's, by vote. Gaps and Durations are 0 there.
	Marks    []uint64
	StandIns []StandIn
	// Holds are where the tracer held the thread for longer than it takes to record a call, by call: at votes. Gaps are
	// without them.
	Holds []Hold
	// Chapters have the first calls of the thread, nil: Root has all. Else Root begins with symbols that stand for them, in
	// another order (Chapter).
	Chapters *Chapters
	// Aggregates are all that is known of times when timing is aggregated, sorted by terminal.
	Aggregates []timing.Aggregate
}

// A TimingSource has the gaps and durations of a thread.
type TimingSource interface {
	// OpenTiming begins to read at the first call.
	OpenTiming() (TimingReader, error)
}

// A TimingReader reads gaps and durations in order: as many as there is room for, fewer only at the end. The two have
// the same length.
type TimingReader interface {
	ReadTiming(gaps, durations []int64) (int, error)
}

// timed tells whether the times of each call are known.
func (t *Thread) timed() bool { return len(t.Gaps) > 0 || t.Timing != nil }

// A StreamRef says which value sequence a stream of a signature has on this thread.
type StreamRef struct {
	Terminal int32
	Number   int32
	Sequence int32 // index into Content.Sequences
}
