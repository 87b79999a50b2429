package verdict

import (
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// A Cause is one reason for which a run takes longer than it has to: what, who, where in the program, when, and how much
// shorter the run would be without it.
type Cause struct {
	Kind Kind `json:"kind"`
	Form Form `json:"form"`
	// Ranks are who the cause is about, as a list like "0-3,7"; "" where it is about no rank in particular. Rank is the first
	// to look at, null likewise.
	Ranks string `json:"ranks"`
	Rank  *int   `json:"rank"`
	Pod   string `json:"pod"`  // of all of Ranks, "" if they are in several
	Node  string `json:"node"` // likewise
	Host  string `json:"host"` // likewise
	// Scope is what Ranks are, if they are all ranks of one pod or node: "pod", "node"; else "".
	Scope string `json:"scope"`
	// After and Before are the calls between which it is computed, for computation; the call itself is Before otherwise. In
	// is the function in which that is, "" where that is not known.
	After  Place  `json:"after"`
	Before Place  `json:"before"`
	In     string `json:"in"`
	Phase  string `json:"phase"` // the name of the phase that has it, "" where it is in several
	// Instances is in how many of the Of times that a rank came by it; both 0 where that means nothing.
	Instances int `json:"instances"`
	Of        int `json:"of"`
	// EachSeconds is what it takes each time (of Instances), OthersSeconds what it takes the others, or otherwise; null where
	// there are no others.
	EachSeconds   float64  `json:"each_seconds"`
	OthersSeconds *float64 `json:"others_seconds"`
	// OthersOf is how often one of the others came by it; 0 where there are no others.
	OthersOf float64 `json:"others_of"`
	// StoppedSeconds is for how long a CPU limit stopped the rank beyond the others, BlockedSeconds for how long it was blocked
	// in the kernel there; 0 where that is not the reason.
	StoppedSeconds float64 `json:"stopped_seconds"`
	BlockedSeconds float64 `json:"blocked_seconds"`
	// StolenSeconds is for how long the hypervisor took its CPU away there beyond the others; 0 where that is not the reason.
	StolenSeconds float64 `json:"stolen_seconds"`
	// Spread is how unequally ranks compute, of an Imbalance; else null.
	Spread *Spread `json:"spread"`
	// AtOnce is how many ranks compute at once, on average, of a Serialization; else 0.
	AtOnce float64 `json:"at_once"`
	// Calls and Bytes are of messages and collectives: how many calls, and the mean size of their messages.
	Calls uint64  `json:"calls"`
	Bytes float64 `json:"bytes"`
	// LostSeconds is what the ledger charges to it, of all ranks together.
	LostSeconds float64 `json:"lost_seconds"`
	// GainSeconds is by how much the run would be shorter without it, given the causes before it in a list; null where the
	// times of single calls were not kept.
	GainSeconds *float64 `json:"gain_seconds"`
	// Estimate is set where the gain comes from a rule of thumb, not from the replay alone.
	Estimate bool `json:"estimate"`
}

// A Spread is how unequally ranks compute, in seconds.
type Spread struct {
	Ranks   string  `json:"ranks"`        // that are compared: all, or those of one role
	Least   float64 `json:"min_seconds"`  // computation of the rank that computes least,
	Mean    float64 `json:"mean_seconds"` // on average,
	Most    float64 `json:"max_seconds"`  // and of the busiest one
	MaxRank int     `json:"max_rank"`
	// Shape is what the computation of ranks goes with: "rank" if it grows or falls with the rank, "node" if ranks of one
	// node are alike, "row" or "column" if neighbors, or every so many ranks, are; "iteration" if the totals are equal, and
	// another rank is the busiest from iteration to iteration; "" for none of these.
	Shape Shape `json:"shape"`
	// Width is how many ranks a row has, or how far apart those of a column are; 0 for other shapes.
	Width int `json:"width"`
	// Grows reports whether computation grows with the rank, of shape "rank"; it falls otherwise.
	Grows bool `json:"grows"`
}

// A Shape is what the computation of ranks goes with.
type Shape string

// What computation can go with.
const (
	ByRank      Shape = "rank"
	ByNode      Shape = "node"
	ByRow       Shape = "row"
	ByColumn    Shape = "column"
	ByIteration Shape = "iteration"
	Irregular   Shape = ""
)

// List is Ranks, one by one.
func (c *Cause) List() []int {
	list, err := trace.ParseRankList(c.Ranks)
	if err != nil {
		return nil
	}
	return list.Ranks()
}

// Who is the ranks of a cause in words: "rank 3", "ranks 4-7", "the ranks" where it is about none in particular.
func (c *Cause) Who() string {
	switch {
	case c.Ranks == "":
		return "the ranks"
	case strings.ContainsAny(c.Ranks, "-,"):
		return "ranks " + c.Ranks
	}
	return "rank " + c.Ranks
}

// IsComputation reports whether a cause is about what ranks compute, between two calls.
func (c *Cause) IsComputation() bool {
	return c.Kind == Excess || c.Kind == Imbalance || c.Kind == Serialization && c.Form == Master
}

// Place is a call in the program.
type Place struct {
	Function string `json:"function"`
	CallSite string `json:"call_site"`
}

// A Kind is what makes a run slow.
type Kind string

// What can make a run slow. Nobody is the kind of no cause: the time is well spent, or nothing is worth naming.
const (
	Excess        Kind = "excess"        // ranks compute longer than others do
	Imbalance     Kind = "imbalance"     // work is divided unequally over all ranks
	Serialization Kind = "serialization" // ranks compute one after the other
	LateReceiver  Kind = "late-receiver" // senders wait until a receiver is there, or inside MPI
	Messages      Kind = "messages"      // point-to-point messages themselves
	Collectives   Kind = "collectives"   // collective operations themselves
	IO            Kind = "io"            // files
	StartEnd      Kind = "start-end"     // MPI_Init, MPI_Finalize, and the launch
	CPUs          Kind = "cpus"          // ranks lack CPUs, or are stopped by CPU limits
	Network       Kind = "network"       // messages between nodes
	Tracer        Kind = "tracer"        // the tracer itself
	Hang          Kind = "hang"          // the run did not end: ranks wait for what never comes
	Crash         Kind = "crash"         // a rank died
	Nobody        Kind = "nobody"
	Unknown       Kind = "unknown" // the analysis that would say did not run, or failed
)

// A Form is the particular way of a Kind.
type Form string

// Forms of Excess: Always, Sometimes (in some iterations), InPhase, InThread (a thread that makes no MPI calls),
// Blocked (in the kernel, neither running nor ready to), Stopped (by a CPU limit), Preempted (others use its CPU),
// Stolen (the hypervisor runs other machines on its CPU). Of Imbalance: Gradient, Classes, Heavy (a few ranks),
// Moving (from rank to rank). Of Serialization: Chain, Pipeline, Master (one rank works while others wait for it). Of
// LateReceiver: NotPosted, NotInside (posted, but the receiver computes meanwhile). Of Messages: TooMany (small
// ones), TooLarge. Of Collectives: TooOften, TooLarge. Of StartEnd: Start, End. Of CPUs: TooFew, Limits. Of Hang:
// Cycle, Missing (a rank that never came), Mismatch. Of Crash: none.
const (
	Always    Form = "always"
	Sometimes Form = "sometimes"
	InPhase   Form = "phase"
	InThread  Form = "thread"
	Blocked   Form = "blocked"
	Stopped   Form = "stopped"
	Preempted Form = "preempted"
	Stolen    Form = "stolen"
	Gradient  Form = "gradient"
	Classes   Form = "classes"
	Heavy     Form = "heavy"
	Moving    Form = "moving"
	Chain     Form = "chain"
	Pipeline  Form = "pipeline"
	Master    Form = "master"
	NotPosted Form = "not-posted"
	NotInside Form = "not-inside"
	TooMany   Form = "too-many"
	TooLarge  Form = "too-large"
	TooOften  Form = "too-often"
	Start     Form = "start"
	End       Form = "end"
	TooFew    Form = "too-few"
	Limits    Form = "limits"
	Cycle     Form = "cycle"
	Missing   Form = "missing"
	Mismatch  Form = "mismatch"
	NoForm    Form = ""
)
