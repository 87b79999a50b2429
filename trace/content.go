package trace

import (
	"cmp"
	"math"
	"slices"
	"strings"

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
	Allocations   []Allocation // what pointers lead to, where that is kept
	Signatures    []Signature  // index = terminal
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
	// Marks are how many calls the thread had made by each of Meta.Clustering.Votes; Extrapolations say between which of them the
	// times are another rank's, by vote. Gaps and Durations are 0 there.
	Marks          []uint64
	Extrapolations []Extrapolation
	// Overheads are where the tracer held the thread for longer than it takes to record a call, by call: at votes. Gaps are
	// without them.
	Overheads []Overhead
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

// timed reports whether the times of each call are known.
func (t *Thread) timed() bool { return len(t.Gaps) > 0 || t.Timing != nil }

// A StreamRef says which value sequence a stream of a signature has on this thread.
type StreamRef struct {
	Terminal int32
	Number   int32
	Sequence int32 // index into Content.Sequences
}

// Evidence is what the operating system counted for a thread while a computation between two calls, or a call, was long (from
// 1 ms on, more where readings would cost too much; docs/evidence.md): whether the thread ran, waited for a CPU, or was blocked
// in the kernel. It is summed up by where in the program that was, and only the largest instances are there one by one, so
// it does not grow with the run. A trace holds it rounded, counts as Rounded and times as RoundedNS. A finished one has the
// largest instances of all ranks together.

// Unknown is the value of a count that was not to be had: never zero.
const Unknown = -1

// A CallSite is an MPI function and where it was called from.
type CallSite struct {
	Function uint16 // Function.ID; 0: no call
	Site     uint32 // 1 + index into the table of call sites; 0: unknown
}

// An EvidenceKey is where in the program time passed: between After and Before, or inside of the call Before if After is
// zero.
type EvidenceKey struct {
	Thread        int // number of the thread in its rank, as in Thread.Thread
	After, Before CallSite
}

// Compare orders places by thread, then by the calls.
func (p EvidenceKey) Compare(other EvidenceKey) int {
	return cmp.Or(cmp.Compare(p.Thread, other.Thread), p.After.compare(other.After), p.Before.compare(other.Before))
}

func (c CallSite) compare(other CallSite) int {
	return cmp.Or(cmp.Compare(c.Function, other.Function), cmp.Compare(c.Site, other.Site))
}

// An EvidenceRow is what passed on one thread of a rank in all the long instances of one place. Rows that take less than 0.5%
// of the rank's run are left out.
type EvidenceRow struct {
	EvidenceKey
	Count      uint64 // long instances
	WallNS     int64  // their time
	CPUNS      int64  // of it the thread was on a CPU
	RunDelayNS int64  // of it the thread was ready to run and waited for a CPU; Unknown where the kernel does not count it
	// OtherCPUNS is the CPU time that the other threads of the process took meanwhile, without the tracer's own. It may be
	// more than WallNS. Unknown where it was not read.
	OtherCPUNS int64
	// IOBytes and IOCalls are what the thread read and wrote with system calls (files, pipes, terminals; sockets that are
	// used like files), of instances in which it was blocked for a millisecond or more; 0 where there are none, Unknown where
	// the kernel does not tell.
	IOBytes, IOCalls int64
	// DataNS is for how long the thread was blocked in those of these instances in which it read or wrote DataBytes and more: in
	// one of many that says nothing about the others. Unknown as IOBytes.
	DataNS int64
}

// BlockedNS is for how long the thread neither ran nor waited for a CPU: blocked in the kernel. Without the run delay that is
// not known.
func (r *EvidenceRow) BlockedNS() (ns int64, known bool) {
	return blocked(r.WallNS, r.CPUNS, r.RunDelayNS)
}

// An EvidenceInstance is a single one of a row's instances.
type EvidenceInstance struct {
	Row        int   // index into Rank.Evidence
	BeginNS    int64 // as Event.Enter and Event.Exit, which see; in a trace off by 33 µs at most
	WallNS     int64 // this and all that follows as in an EvidenceRow
	CPUNS      int64
	RunDelayNS int64
	IOBytes    int64
}

// EndNS is where the instance ends.
func (e *EvidenceInstance) EndNS() int64 { return e.BeginNS + e.WallNS }

// BlockedNS is as that of an EvidenceRow.
func (e *EvidenceInstance) BlockedNS() (ns int64, known bool) {
	return blocked(e.WallNS, e.CPUNS, e.RunDelayNS)
}

func blocked(wall, cpu, delay int64) (ns int64, known bool) {
	if delay < 0 {
		return 0, false
	}
	return max(wall-cpu-delay, 0), true
}

// A ThreadUsage is what a thread of a process, also one that never calls MPI, had used by the last sample of the rank's
// context.
type ThreadUsage struct {
	TID        int    // in a finished trace the tracer's threads are one, with the rank's PID
	Name       string // as the kernel has it, 15 bytes at most
	CPUNS      int64
	RunDelayNS int64 // Unknown where the kernel does not count it
	CallsMPI   bool
	Tool       bool // the tracer's own
}

// DataBytes is from how many bytes on reading and writing is of data: a runtime wakes its own threads through pipes, a few
// bytes at a time.
const DataBytes = 4 << 10

// MaxInstances and MaxThreadUsages bound the lists of a rank.
const (
	MaxInstances    = 32
	MaxThreadUsages = 16
)

// An End says how a process ended that did not get through MPI_Finalize.
type End struct {
	Ticks    int64 // the latest moment at which it is known to have lived, of the rank's clock
	Signal   int   // the signal by which it crashed, 0 where none is known: what kills a process unasked leaves no note
	ExitCode int   // what exit was called with, −1 where it was not or that is not known
}

// Running is the EndedEarly of a rank whose process still lived when what there is of it was taken: nobody has seen how it
// ended, as when its pod is lost.
const Running = "running"

const endColumns = 3

// appendEnds writes how ranks ended: how many rows each has (none or one), then the rows.
func appendEnds(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.ends.Counts())
	for k := range endColumns {
		s.Numbers(&t.ends.Columns[k])
	}
	return s.Body
}

// ends reads what appendEnds wrote.
func (d *decoder) ends(c *Content) {
	ends := d.Ragged(c.Ranks.Len(), endColumns)
	if d.Err == nil && (!ends.Columns[1].Within(0, math.MaxInt32+1) || !ends.Columns[2].Within(-1, math.MaxInt32+1)) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err == nil {
		c.Ranks.ends = ends
	}
}

// What EndedEarly says of a rank whose tracing stopped before it ended: TracingStopped, the last call that was recorded,
// ": " and the reason. The rank itself came to MPI_Finalize, as far as anybody knows. Where it is known that it did not,
// the text begins with EndedUntraced.
const (
	TracingStopped = "tracing stopped after "
	EndedUntraced  = "before MPI_Finalize, " + TracingStopped
)

// TracingStopped reports whether all that ended early is the rank's tracing.
func (r *Rank) TracingStopped() bool { return strings.HasPrefix(r.EndedEarly, TracingStopped) }

// WhyTracingStopped is the reason, "" where none is known or tracing did not stop.
func (r *Rank) WhyTracingStopped() string {
	_, after, found := strings.Cut(r.EndedEarly, TracingStopped)
	if !found {
		return ""
	}
	_, why, _ := strings.Cut(after, ": ")
	return why
}

// A Loss is calls that were made and not recorded, for one reason.
type Loss struct {
	Calls uint64
	Ranks RankList
	Why   string // a clause: "the spool limit of 1048576 bytes was reached"
}

// Reasons for what was lost without a word from the tracer.
const (
	lostInPassing = "the tracer had no room for them, or was interrupted by a signal handler"
	lostUnknown   = "tracing stopped"
)

// Losses are the calls that were not recorded, by reason; those that cost most calls come first.
func (t *RankTable) Losses() []Loss {
	calls, ranks := map[string]uint64{}, map[string][]int{}
	for _, r := range t.All() {
		if r.Dropped == 0 {
			continue
		}
		why := lostInPassing
		if strings.Contains(r.EndedEarly, TracingStopped) {
			why = lostUnknown
			if reason := r.WhyTracingStopped(); reason != "" {
				why = strings.Replace(reason, " is reached", " was reached", 1)
			}
		}
		calls[why] += r.Dropped
		ranks[why] = append(ranks[why], r.Rank)
	}
	var losses []Loss
	for why, n := range calls {
		losses = append(losses, Loss{n, NewRankList(ranks[why]), why})
	}
	slices.SortFunc(losses, func(a, b Loss) int {
		if a.Calls != b.Calls {
			if a.Calls > b.Calls {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Why, b.Why)
	})
	return losses
}
