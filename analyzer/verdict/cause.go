package verdict

import (
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// A Cause is one reason why a run takes longer than necessary: what, which ranks, where in the
// program, when, and how much shorter the run would be without it.
type Cause struct {
	Kind Kind `json:"kind"`
	Form Form `json:"form"`
	// Ranks are the ranks that the cause is about, as a list like "0-3,7"; "" if it is about no
	// rank in particular. Rank is the first to look at, otherwise null.
	Ranks string `json:"ranks"`
	Rank  *int   `json:"rank"`
	// Others is the number of ranks of the job that are not in Ranks; 0 if Ranks is "".
	Others int    `json:"others"`
	Pod    string `json:"pod"`  // of all of Ranks, "" if they are in several
	Node   string `json:"node"` // likewise
	Host   string `json:"host"` // likewise
	// Scope is "pod" or "node" if Ranks are all ranks of one, otherwise "".
	Scope string `json:"scope"`
	// After and Before are the calls around a computation; otherwise Before is the call itself. In
	// is the function that contains it, "" if it is not known.
	After  Call   `json:"after"`
	Before Call   `json:"before"`
	In     string `json:"in"`
	Phase  string `json:"phase"` // name of the phase that contains it, "" if it is in several
	// Regions is the number of regions, if the cause is about several of which Before ends the
	// costliest one; of a kind of calls, that of its call sites, if there are several. Otherwise 0.
	Regions int `json:"regions"`
	// Instances is the number of affected instances among the Of ones that a rank executed (all
	// ranks, for a Variation or calls that are Sometimes); both are 0 if not applicable.
	Instances int `json:"instances"`
	Of        int `json:"of"`
	// First is the number of the first affected instance, from 1, if they follow each other;
	// otherwise 0.
	First uint64 `json:"first"`
	// LongRanks are the ranks that had the affected instances, for a Variation that is Sometimes;
	// by chance that may be a single one.
	LongRanks string `json:"long_ranks"`
	// EachSeconds is the duration per instance (of Instances), OthersSeconds that on the other
	// ranks or in other instances; null if there are none.
	EachSeconds   float64  `json:"each_seconds"`
	OthersSeconds *float64 `json:"others_seconds"`
	// Varies reports that instances differ so much that EachSeconds is only their mean.
	Varies bool `json:"varies"`
	// OthersOf is the number of instances that one of the other ranks executed; 0 if there are no
	// others.
	OthersOf float64 `json:"others_of"`
	// StoppedSeconds is how much longer than the others a CPU limit stopped the rank,
	// BlockedSeconds how long it was blocked in the kernel there (for a Variation: in an instance);
	// 0 if that is not the reason.
	StoppedSeconds float64 `json:"stopped_seconds"`
	BlockedSeconds float64 `json:"blocked_seconds"`
	// StolenSeconds is how much longer than for the others the hypervisor took its CPU away there;
	// 0 if that is not the reason.
	StolenSeconds float64 `json:"stolen_seconds"`
	// MemorySeconds and DiskSeconds are how much longer than those of the others the containers of
	// blocked ranks waited for memory or for disks (of all ranks: how long); 0 if that is not the
	// reason. MemoryLimitHits is how often a container of these, or of ranks that wait for files,
	// reached its memory limit in the run; 0 if that is not known.
	MemorySeconds   float64 `json:"memory_seconds"`
	DiskSeconds     float64 `json:"disk_seconds"`
	MemoryLimitHits float64 `json:"memory_limit_hits"`
	// Looks is how often the ranks were looked at from outside, if they are BySignal, and Suspended
	// how often they were suspended then.
	Looks     uint64 `json:"looks"`
	Suspended uint64 `json:"suspended"`
	// SystemSeconds is how long the kernel worked for a rank in an instance, PageFaults how many
	// page faults it had; 0 if that hardly matters.
	SystemSeconds float64 `json:"system_seconds"`
	// KernelSeconds is how long the kernel worked for each of the ranks in all these regions, on
	// average, if they have SystemTime.
	KernelSeconds float64 `json:"kernel_seconds"`
	PageFaults    float64 `json:"page_faults"`
	// CompressorSeconds is the CPU time that the tracer's compressor took on the machines of ranks
	// that waited for a CPU, WaitedSeconds how long they did; both are 0 otherwise.
	CompressorSeconds float64 `json:"compressor_seconds"`
	WaitedSeconds     float64 `json:"waited_seconds"`
	// Spread describes an Imbalance, otherwise null.
	Spread *Spread `json:"spread"`
	// AtOnce is the average number of ranks that compute at the same time, for a Serialization;
	// otherwise 0.
	AtOnce float64 `json:"at_once"`
	// Calls and Bytes are for messages and collectives: the number of calls, and the mean size of
	// their messages. Calls is for SysCalls, too: their number in an instance, at least.
	Calls uint64  `json:"calls"`
	Bytes float64 `json:"bytes"`
	// PieceBytes is the mean size of the contiguous pieces that their derived datatypes describe,
	// if there are many and they are small; otherwise 0.
	PieceBytes float64 `json:"piece_bytes"`
	// Completes is set if the calls complete what other calls have started, on average AheadSeconds
	// before.
	Completes    bool    `json:"completes"`
	AheadSeconds float64 `json:"ahead_seconds"`
	// Retransmits is the number of TCP segments that the ranks sent again in the run, of Segments;
	// both are 0 if they are few, or not known.
	Retransmits uint64 `json:"tcp_retransmits"`
	Segments    uint64 `json:"tcp_segments"`
	// LostSeconds is the time that the ledger attributes to it, over all ranks.
	LostSeconds float64 `json:"lost_seconds"`
	// GainSeconds is how much shorter the run would be without it, given that the causes before it
	// in a list are removed; null if the times of single calls were not recorded.
	GainSeconds *float64 `json:"gain_seconds"`
	// SharedGainSeconds is how much shorter the run would be with equal work, of two ranks of which
	// one computes longer, or of ranks of which some are blocked longer; GainSeconds is for ranks
	// that are slow. null: not applicable.
	SharedGainSeconds *float64 `json:"shared_gain_seconds"`
	// Estimate is set if the gain is a rule of thumb and not from the replay alone.
	Estimate bool `json:"estimate"`

	oneHost bool // all ranks of the job are on Host: the sentence need not name it
}

// A Spread is how unequally ranks compute, in seconds.
type Spread struct {
	Ranks   string  `json:"ranks"`        // ranks that are compared: all, or those of one role
	Least   float64 `json:"min_seconds"`  // computation of the rank that computes least
	Mean    float64 `json:"mean_seconds"` // mean computation
	Most    float64 `json:"max_seconds"`  // computation of the busiest rank
	MaxRank int     `json:"max_rank"`
	// Shape is the pattern of the ranks' computation: "rank" if it increases or decreases with the
	// rank, "node" if ranks of one node are alike, "row" or "column" if adjacent ranks, or ranks at
	// a fixed distance, are; "iteration" if the totals are equal and another rank is the busiest
	// from iteration to iteration; "time" if one rank is the busiest at first, and another in the
	// end; "" for none of these.
	Shape Shape `json:"shape"`
	// Width is the number of ranks of a row, or the distance of those of a column; 0 for other
	// shapes.
	Width int `json:"width"`
	// Grows reports whether computation increases with the rank, for shape "rank"; otherwise it
	// decreases.
	Grows bool `json:"grows"`
	// FirstRank is the busiest rank at first, LastRank in the end, for shape "time"; otherwise
	// null.
	FirstRank *int `json:"first_rank"`
	LastRank  *int `json:"last_rank"`
}

// A Shape is the pattern of the ranks' computation.
type Shape string

// Patterns of computation.
const (
	ByRank      Shape = "rank"
	ByNode      Shape = "node"
	ByRow       Shape = "row"
	ByColumn    Shape = "column"
	ByIteration Shape = "iteration"
	ByTime      Shape = "time"
	Irregular   Shape = ""
)

// List returns Ranks as numbers.
func (c *Cause) List() []int {
	list, err := trace.ParseRankList(c.Ranks)
	if err != nil {
		return nil
	}
	return list.Ranks()
}

// Who returns the ranks of a cause in words: "rank 3", "ranks 4-7", "the ranks" if it is about none
// in particular.
func (c *Cause) Who() string {
	switch {
	case c.Ranks == "":
		return "the ranks"
	case strings.ContainsAny(c.Ranks, "-,"):
		return "ranks " + c.Ranks
	}
	return "rank " + c.Ranks
}

// A Call is a call in the program.
type Call struct {
	Function string `json:"function"`
	CallSite string `json:"call_site"`
}

// A Kind is a kind of reason for which a run is slow.
type Kind string

// Kinds of causes. Nobody means that there is no cause: the time is well spent, or nothing is worth
// naming.
const (
	Excess        Kind = "excess"        // ranks compute longer than others do
	Imbalance     Kind = "imbalance"     // work is divided unequally over all ranks
	Variation     Kind = "variation"     // regions take longer at some times, on no rank in particular
	Serialization Kind = "serialization" // ranks compute one after the other
	LateReceiver  Kind = "late-receiver" // senders wait until a receiver has posted its receive, or is inside MPI
	Messages      Kind = "messages"      // point-to-point messages themselves
	Collectives   Kind = "collectives"   // collective operations themselves
	IO            Kind = "io"            // files
	Local         Kind = "local-calls"   // calls that neither communicate nor wait for others
	StartEnd      Kind = "start-end"     // MPI_Init, MPI_Finalize, and the launch
	Kernel        Kind = "kernel"        // ranks are blocked in the kernel, all of them or many, or it works for them
	CPUs          Kind = "cpus"          // ranks lack CPUs, or are stopped by CPU limits
	Network       Kind = "network"       // messages between nodes
	Tracer        Kind = "tracer"        // the tracer itself
	Hang          Kind = "hang"          // the run did not end: ranks wait for an event that never happens
	Crash         Kind = "crash"         // a rank died
	Nobody        Kind = "nobody"
	Unknown       Kind = "unknown" // the analysis did not run, or failed
)

// A Form is a variant of a Kind.
type Form string

// Forms by kind:
//
//   - Excess: Always, Sometimes (in some iterations), InThread (another thread of the
//     process computes), InCalls (its other threads are inside MPI), SysCalls (it reads or
//     writes, and loses its CPU as often), Blocked (in the kernel, neither running nor runnable),
//     Halted (the same inside calls that poll, or nobody knows where: something stops it),
//     BySignal (the same, and it was seen suspended), Stopped
//     (by a CPU limit),
//     Preempted (others use its CPU), ByThreads (threads of the process use it), Stolen (the
//     hypervisor runs other machines on its CPU)
//   - Imbalance: Gradient, Classes, Heavy (a few ranks), Moving (from rank to rank), Idle (ranks
//     without work)
//   - Variation: WarmUp (at first), Drift (ever longer), Once, Sometimes (rarely, at different
//     times on different ranks)
//   - Serialization: Chain, Pipeline, Master (one rank works while others wait for it), Lock (ranks
//     wait for each other outside MPI)
//   - LateReceiver: NotPosted, NotInside (posted, but the receiver computes), Seldom (it is idle
//     between polls, for EachSeconds)
//   - Messages: TooMany (small ones), TooLarge, NoOverlap (started early, and yet completed in the
//     wait), none if they are few, or of unknown size
//   - Collectives: TooOften, TooLarge, NoOverlap, Barrier (in which ranks wait for whoever is
//     last, though in total they compute about equally long), Creation (of communicators or
//     windows, again and again), OwnOp (a reduction with an operation of the program), none if
//     they are few, or take long without moving much
//   - Local: Copies (of data), otherwise none
//   - Messages, Collectives, Network, Local, IO: WarmUp, Once, Sometimes, if a few calls of a call
//     site are long
//   - StartEnd: Start
//   - IO: Blocked (in the kernel, while data is read or written), otherwise none
//   - Kernel: SystemTime (it works for the ranks), otherwise none
//   - CPUs: TooFew, Limits
//   - Tracer: Compressor (it takes the CPUs that ranks wait for), otherwise none
//   - Hang: Cycle, Missing (a rank that never came), Mismatch
//   - Crash: none
const (
	Always     Form = "always"
	Sometimes  Form = "sometimes"
	InThread   Form = "thread"
	InCalls    Form = "thread-calls"
	Blocked    Form = "blocked"
	Halted     Form = "halted"
	BySignal   Form = "suspended"
	Stopped    Form = "stopped"
	Preempted  Form = "preempted"
	ByThreads  Form = "own-threads"
	SysCalls   Form = "system-calls"
	SystemTime Form = "system-time"
	Stolen     Form = "stolen"
	Gradient   Form = "gradient"
	Classes    Form = "classes"
	Heavy      Form = "heavy"
	Moving     Form = "moving"
	Idle       Form = "idle"
	WarmUp     Form = "warm-up"
	Drift      Form = "drift"
	Once       Form = "once"
	Chain      Form = "chain"
	Pipeline   Form = "pipeline"
	Master     Form = "master"
	Lock       Form = "lock"
	NotPosted  Form = "not-posted"
	NotInside  Form = "not-inside"
	TooMany    Form = "too-many"
	TooLarge   Form = "too-large"
	TooOften   Form = "too-often"
	NoOverlap  Form = "no-overlap"
	Barrier    Form = "barrier"
	Copies     Form = "copies"
	Creation   Form = "creation"
	OwnOp      Form = "own-operation"
	Seldom     Form = "seldom-polls"
	Start      Form = "start"
	TooFew     Form = "too-few"
	Limits     Form = "limits"
	Compressor Form = "compressor"
	Cycle      Form = "cycle"
	Missing    Form = "missing"
	Mismatch   Form = "mismatch"
	NoForm     Form = ""
)
