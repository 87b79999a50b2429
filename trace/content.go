package trace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Content is everything that a trace file contains, in memory: the input of Write and the result of
// Reader.Content. A shard is a Content with fewer ranks than its world.
type Content struct {
	Meta          Meta
	Functions     []Function
	Sites         []Site
	Allocations   []Allocation // what pointers lead to, if recorded
	Signatures    []Signature  // index = terminal
	Communicators []Communicator
	Grammar       grammar.Grammar  // rules of all threads; Thread.Root is the root of each
	Columns       []codec.Numbers  // values that differ from rank to rank: see Column and Cases
	Sequences     []codec.Sequence // distinct value sequences; Thread.Streams refer to them
	Ranks         RankTable
	Threads       ThreadTable
	// Leads is, for each thread, the index of the thread whose calls it has: its own index if its
	// calls are in the trace. nil: this is so for all threads.
	Leads []int
}

// Meta describes the whole trace.
type Meta struct {
	Final          bool   // written by the final merge: peers are relative, and sites and communicators are global
	World          string // id of the MPI world
	WorldSize      int
	Implementation string // "Open MPI", "MPICH"
	Version        string
	ABI            string // "openmpi", "mpich"
	CreatedBy      string // version of Cairn
	CallSites      string // "none", "caller", "path"
	Timing         timing.Settings
	Clustering     *Clustering // nil: ranks were not clustered
	Attempt, Run   int
	MissingRanks   RankList
	Launcher       *Launcher // nil: how it ended is not known
	// groups of functions that were not recorded, except calls that create or free handles; sorted
	Excluded []string
	Notes    []string // warnings for the reader: degraded tracing, dropped records
}

// A Rank is one MPI process.
type Rank struct {
	Rank            int // in MPI_COMM_WORLD
	Host            string
	Pod, Node       string // "" outside Kubernetes
	BootID          string // ranks with equal boot ids share a clock
	PID             int
	Executable      string
	StartRealtimeNS int64 // in a finished trace rounded to a multiple of StartUnit after the first rank's start
	Clock           timing.Clock
	// "" if MPI_Finalize returned; else the last call: "killed in MPI_Recv", "after MPI_Send";
	// see TracingStopped
	EndedEarly string
	End        *End   // how a rank that ended early ended; nil: unknown
	Dropped    uint64 // calls that were not recorded, including those after tracing stopped
	Context    []ContextSample
	Evidence   []EvidenceRow      // nil: none was taken, or no interval was long
	Outliers   []EvidenceInstance // the largest instances of Evidence, in order of BeginNS
	Threads    []ThreadUsage      // of the process, by decreasing CPU time
	Tracer     *TracerUsage       // cost of tracing; nil: unknown, as for a short run that nobody compressed
	Pressure   *Pressure          // of its cgroup; nil: nothing is known
	TCP        *TCPUsage          // nil: unknown
	// of its first thread; zero if it never was seen suspended
	Suspensions Suspensions
	// instances in the order in which this rank got them, as indices into Content.Communicators
	CommunicatorsOwn []uint32
}

// StartedAt reports whether the rank may have started at ns, in ns of CLOCK_REALTIME. Its recorded
// start may be rounded.
func (r *Rank) StartedAt(ns int64) bool {
	off := ns - r.StartRealtimeNS
	return off <= StartUnit/2 && off >= -StartUnit/2
}

// A Thread is the sequence of calls of one thread of one rank.
type Thread struct {
	Rank, Thread int
	Root         int // rule in Content.Grammar
	// Threads of one shape make the same calls, except for elastic values and the exponents of the
	// grammar. InShape is the index of the thread among those of its shape, in the order of
	// Content.Threads. Both are 0 before a merge.
	Shape, InShape int
	Calls          uint64
	Streams        []StreamRef // sorted by terminal, then number
	FirstTick      int64       // enter of the first call
	EndTick        int64       // latest exit of a call up to MPI_Finalize
	// ticks inside of these calls, with those of nested calls counted once; exact in
	// every mode of timing
	InsideTicks int64
	// Gaps and Durations have one element per call, in ticks. The gap is the time since the
	// previous call's exit on the same thread (0 for the first call) minus the tracer overhead in
	// Overheads; the duration is exit − enter. A nested call's gap is negative: it enters before
	// its predecessor, the enclosing call, exits. In a lossy trace both are rounded.
	Gaps, Durations []int64
	// Timing reads gaps and durations that are not in memory.
	Timing TimingSource
	// SignaturesJoined reports that calls with different signatures in Timing may have the same one
	// here.
	SignaturesJoined bool
	// CallsAtVotes is the number of calls that the thread had made at each of
	// Meta.Clustering.Votes. Extrapolations are the intervals between votes whose times are
	// extrapolated from another rank, in order; their Gaps and Durations are 0.
	CallsAtVotes   []uint64
	Extrapolations []Extrapolation
	// Overheads are the times, by call, for which the tracer kept the thread in addition to
	// recording the call: at votes. Gaps do not include them.
	Overheads []Overhead
	// Chapters have the first calls of the thread. nil: Root has all calls. Otherwise Root begins
	// with symbols for the calls in chapters, in another order (Chapter).
	Chapters *Chapters
	// Aggregates are the only known times if timing is aggregated, sorted by terminal.
	Aggregates []timing.Aggregate
}

// A TimingSource provides the gaps and durations of a thread.
type TimingSource interface {
	// OpenTiming returns a reader at the first call.
	OpenTiming() (TimingReader, error)
}

// A TimingReader reads gaps and durations in order. It fills both slices, which have the same
// length; it reads fewer values only at the end.
type TimingReader interface {
	ReadTiming(gaps, durations []int64) (int, error)
}

// timed reports whether the times of each call are known.
func (t *Thread) timed() bool { return len(t.Gaps) > 0 || t.Timing != nil }

// A StreamRef names the value sequence of a stream of a signature on a thread.
type StreamRef struct {
	Terminal int32
	Number   int32
	Sequence int32 // index into Content.Sequences
}

// Evidence is what the operating system counted for a thread during a long computation between two
// calls, or a long call (from 1 ms on, or more where readings would cost too much;
// docs/evidence.md): whether the thread ran, waited for a CPU, or was blocked in the kernel. It is
// summed by location in the program, and only the largest instances are kept one by one, so it does
// not grow with the run. A trace stores it rounded, counts as Rounded and times as RoundedNS. A
// finished trace has the largest instances of all ranks together.

// Unknown is the value of a count that was not available. It is not zero.
const Unknown = -1

// A CallSite is an MPI function and its call site.
type CallSite struct {
	Function uint16 // Function.ID; 0: no call
	Site     uint32 // 1 + index into the table of call sites; 0: unknown
}

// An EvidenceKey is the location in the program of an interval: the computation between the calls
// After and Before, or the call Before itself if After is zero.
type EvidenceKey struct {
	Thread        int // number of the thread in its rank, as in Thread.Thread
	After, Before CallSite
}

// Compare orders by thread, then by the calls.
func (p EvidenceKey) Compare(other EvidenceKey) int {
	return cmp.Or(cmp.Compare(p.Thread, other.Thread), p.After.compare(other.After), p.Before.compare(other.Before))
}

func (c CallSite) compare(other CallSite) int {
	return cmp.Or(cmp.Compare(c.Function, other.Function), cmp.Compare(c.Site, other.Site))
}

// An EvidenceRow sums up all long instances of one location on one thread of a rank. Rows with less
// than 0.5% of the rank's run are omitted.
type EvidenceRow struct {
	EvidenceKey
	Count      uint64 // number of long instances
	WallNS     int64  // their total time
	CPUNS      int64  // thereof on a CPU
	RunDelayNS int64  // thereof ready to run and waiting for a CPU; Unknown where the kernel does not count it
	// OtherCPUNS is the CPU time of the other threads of the process during the instances. It may
	// exceed WallNS. Unknown where it was not read.
	OtherCPUNS int64
	// IOBytes and IOCalls count what the thread read and wrote by system calls (files, pipes,
	// terminals; sockets used like files). Only instances in which it was blocked for 1 ms or more
	// count. 0 if there are none, Unknown where the kernel does not report it.
	IOBytes, IOCalls int64
	// DataNS is the time for which the thread was blocked in those of these instances that read or
	// wrote at least DataBytes. A single large transfer among many instances says nothing about the
	// others. Unknown where IOBytes is.
	DataNS int64
	Usage
}

// Usage is what getrusage counts for a thread, each Unknown where the kernel does not count it.
type Usage struct {
	MinorFaults         int64 // page faults that needed no I/O: first use of memory
	MajorFaults         int64 // page faults that waited for a file or for swap
	VoluntarySwitches   int64 // how often the thread blocked
	InvoluntarySwitches int64 // how often it was preempted
	// SystemNS is the part of the CPU time in the kernel. Kernels that count by ticks know it only
	// as an average over many ticks: see SystemTime.
	SystemNS int64
}

// UnknownUsage is the usage where nothing was counted.
var UnknownUsage = Usage{Unknown, Unknown, Unknown, Unknown, Unknown}

// minSystemCPU is the least CPU time in ns of which the part in the kernel is known: with 250 ticks
// a second it is then accurate to 3% of the CPU time.
const minSystemCPU = 1_000_000_000

// SystemTime returns the part of a CPU time in the kernel. It is not known of short times.
func (u *Usage) SystemTime(cpu int64) (ns int64, known bool) {
	if u.SystemNS < 0 || cpu < minSystemCPU {
		return 0, false
	}
	return min(u.SystemNS, cpu), true
}

// BlockedNS is the time for which the thread neither ran nor waited for a CPU: it was blocked in
// the kernel. It is not known without the run delay.
func (r *EvidenceRow) BlockedNS() (ns int64, known bool) {
	return blocked(r.WallNS, r.CPUNS, r.RunDelayNS)
}

// An EvidenceInstance is a single instance of a row.
type EvidenceInstance struct {
	Row        int   // index into Rank.Evidence
	BeginNS    int64 // on the scale of Event.Enter and Event.Exit; in a finished trace off by at most 33 µs
	WallNS     int64 // this and the following fields are as in EvidenceRow
	CPUNS      int64
	RunDelayNS int64
	IOBytes    int64
	Usage
}

// EndNS is the end of the instance.
func (e *EvidenceInstance) EndNS() int64 { return e.BeginNS + e.WallNS }

// BlockedNS is the same as in EvidenceRow.
func (e *EvidenceInstance) BlockedNS() (ns int64, known bool) {
	return blocked(e.WallNS, e.CPUNS, e.RunDelayNS)
}

func blocked(wall, cpu, delay int64) (ns int64, known bool) {
	if delay < 0 {
		return 0, false
	}
	return max(wall-cpu-delay, 0), true
}

// A ThreadUsage is what a thread of a process had used by the last sample of the rank's context.
// The thread may be one that never calls MPI.
type ThreadUsage struct {
	TID        int    // the kernel's number for it
	Name       string // the kernel's name, at most 15 bytes
	CPUNS      int64
	RunDelayNS int64 // Unknown where the kernel does not count it
	CallsMPI   bool
	Tool       bool // a thread of the tracer; today's has none
}

// DataBytes is the number of bytes from which on reading and writing is regarded as data transfer:
// a runtime wakes its own threads through pipes, a few bytes at a time.
const DataBytes = 4 << 10

// MaxInstances and MaxThreadUsages bound the lists of a rank.
const (
	MaxInstances    = 32
	MaxThreadUsages = 16
)

// Prefixes of EndedEarly of a rank whose tracing stopped before it ended. The text is the prefix,
// the last recorded call, ": " and the reason. With TracingStopped the rank itself reached
// MPI_Finalize, as far as is known. With EndedUntraced it is known that it did not.
const (
	TracingStopped = "tracing stopped after "
	EndedUntraced  = "before MPI_Finalize, " + TracingStopped
)

// ThenExecuted is in EndedEarly of a rank that executed another program in the end, before the name
// of that program.
const ThenExecuted = ", then as another program: "

// Executed returns the name of the program that the rank executed in the end; "" if it did not, as
// far as is known.
func (r *Rank) Executed() string {
	_, program, _ := strings.Cut(r.EndedEarly, ThenExecuted)
	return program
}

// TracingStopped reports whether the rank's tracing ended early, but not the rank, as far as is
// known.
func (r *Rank) TracingStopped() bool { return strings.HasPrefix(r.EndedEarly, TracingStopped) }

// WhyTracingStopped returns the reason; "" if it is unknown or tracing did not stop.
func (r *Rank) WhyTracingStopped() string {
	early, _, _ := strings.Cut(r.EndedEarly, ThenExecuted)
	_, after, found := strings.Cut(early, TracingStopped)
	if !found {
		return ""
	}
	_, why, _ := strings.Cut(after, ": ")
	return why
}

// A Loss counts the calls that were not recorded for one reason.
type Loss struct {
	Calls uint64
	Ranks RankList
	Why   string // a clause: "the spool limit of 1048576 bytes was reached"
}

// Reasons for losses that the tracer did not report.
const (
	lostInPassing = "the tracer had no room for them, or was interrupted by a signal handler"
	lostUnknown   = "tracing stopped"
)

// Losses returns the calls that were not recorded, by reason, in decreasing order of calls.
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
