package online

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// StepFunction is the function number in the records of the steps of a vote; no MPI
// function has it.
const StepFunction = rawlayout.VoteRecord

// A StepKind is the kind of a step: the first word of its record after the header.
type StepKind uint64

// The kinds of steps. cluster.c defines the words that follow (tracer/shim/cluster).
const (
	StepCut      StepKind = rawlayout.VoteCut      // an interval ends: number of the vote on it
	StepOverhead StepKind = rawlayout.VoteOverhead // tracer overhead since the last call: ticks
	StepOutcome  StepKind = rawlayout.VoteOutcome  // the ranks' decision
)

// The words of an outcome.
const (
	outcomeVote      = rawlayout.OutcomeNumberAt / 8    // number of the vote, from 0
	outcomeExplicit  = rawlayout.OutcomeKindAt / 8      // 1: at MPI_Pcontrol(100)
	outcomeOrdinal   = rawlayout.OutcomeOrdinalAt / 8   // of the marker
	outcomeState     = rawlayout.OutcomeStateAt / 8     // trace.VoteState
	outcomeLeadTimes = rawlayout.OutcomeLeadTimesAt / 8 // 1: the lead's times may be used for those of the interval
	outcomeFactor    = rawlayout.OutcomeFactorAt / 8    // length of the next interval relative to this one
	outcomeLead      = rawlayout.OutcomeLeadAt / 8      // of this rank, −1: none
	outcomeOverhead  = rawlayout.OutcomeOverheadAt / 8  // tracer overhead in ticks
	outcomeLeadCount = rawlayout.OutcomeLeadsAt / 8     // number of lead ranks, which follow
	outcomeWords     = rawlayout.OutcomeBytes / 8
)

// Limits of values that are accepted from a record, which may be damaged.
const (
	maxVotes   = 1 << 32
	maxFactor  = 1 << 8
	maxMissing = 1 << 16
)

// A Step is a step of a vote, in which a thread took part for its rank.
type Step struct {
	Kind     StepKind
	Vote     uint64  // of StepCut and StepOutcome: number of the vote
	Overhead int64   // tracer overhead in ticks
	Outcome  Outcome // of StepOutcome
}

// An Outcome is the ranks' decision in a vote.
type Outcome struct {
	Vote      trace.Vote
	Lead      int  // of this rank from now on, −1: none
	LeadTimes bool // the lead's times may be used for those of the interval
	Factor    int  // length of the next interval relative to this one
}

// noOutcome is the outcome of a vote whose record is missing.
var noOutcome = Outcome{Lead: none, Factor: 1}

// ParseStep parses the words of a record after its header; ok is false if they are no step.
func ParseStep(w []uint64) (Step, bool) {
	if len(w) < 2 {
		return Step{}, false
	}
	switch kind := StepKind(w[0]); {
	case kind == StepOverhead && len(w) == 2 && w[1] <= math.MaxInt64:
		return Step{Kind: kind, Overhead: int64(w[1])}, true
	case kind == StepCut && len(w) == 2:
		return Step{Kind: kind, Vote: w[1]}, true
	case kind == StepOutcome && len(w) >= outcomeWords && w[outcomeLeadCount] == uint64(len(w)-outcomeWords) &&
		w[outcomeState] <= uint64(trace.VoteEnded) && w[outcomeOverhead] <= math.MaxInt64 && w[outcomeFactor] <= maxFactor:
		return Step{Kind: kind, Vote: w[outcomeVote], Overhead: int64(w[outcomeOverhead]), Outcome: parseOutcome(w)}, true
	}
	return Step{}, false
}

func parseOutcome(w []uint64) Outcome {
	o := Outcome{
		Vote: trace.Vote{Explicit: w[outcomeExplicit] != 0, Ordinal: w[outcomeOrdinal], State: trace.VoteState(w[outcomeState])},
		Lead: none, LeadTimes: w[outcomeLeadTimes] != 0, Factor: max(1, int(w[outcomeFactor])),
	}
	for _, lead := range w[outcomeWords:] {
		o.Vote.Leads = append(o.Vote.Leads, int(int32(lead)))
	}
	slices.Sort(o.Vote.Leads)
	if o.Vote.State == trace.VoteClustered || o.Vote.State == trace.VoteLead {
		o.Lead = int(int32(w[outcomeLead]))
	}
	return o
}
