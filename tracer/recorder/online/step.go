package online

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// StepFunction stands in the place of a function in the records of the steps of a vote: MPI has none with this number.
const StepFunction = rawlayout.VoteRecord

// A StepKind is the first word of such a record after its header.
type StepKind uint64

// The steps of a vote. The words that follow are those of the shim (tracer/shim/cluster/cluster.c).
const (
	StepCut      StepKind = rawlayout.VoteCut      // an interval ends: the number of the vote on it
	StepOverhead StepKind = rawlayout.VoteOverhead // the tracer kept the thread since its last call: ticks
	StepOutcome  StepKind = rawlayout.VoteOutcome  // what the ranks decided
)

// The words of an outcome.
const (
	outcomeVote     = rawlayout.OutcomeNumberAt / 8   // number of the vote, from 0
	outcomeExplicit = rawlayout.OutcomeKindAt / 8     // 1: at MPI_Pcontrol(100)
	outcomeOrdinal  = rawlayout.OutcomeOrdinalAt / 8  // of the marker
	outcomeState    = rawlayout.OutcomeStateAt / 8    // trace.VoteState
	outcomeLeads    = rawlayout.OutcomeStandsAt / 8   // 1: the lead's times may stand for those of the interval
	outcomeFactor   = rawlayout.OutcomeFactorAt / 8   // the next interval is so many times as long
	outcomeLead     = rawlayout.OutcomeLeadAt / 8     // of this rank, −1: none
	outcomeOverhead = rawlayout.OutcomeOverheadAt / 8 // ticks that the thread was kept
	outcomeCount    = rawlayout.OutcomeLeadsAt / 8    // number of lead ranks, which follow
	outcomeWords    = rawlayout.OutcomeBytes / 8
)

// Limits of what is believed of a damaged record.
const (
	maxVotes   = 1 << 32
	maxFactor  = 1 << 8
	maxMissing = 1 << 16
)

// A Step is one of a vote, in which a thread took part for its rank.
type Step struct {
	Kind     StepKind
	Vote     uint64  // of StepCut and StepOutcome: its number
	Overhead int64   // ticks that the tracer kept the thread
	Outcome  Outcome // of StepOutcome
}

// An Outcome is what the ranks decided in a vote.
type Outcome struct {
	Vote      trace.Vote
	Lead      int  // of this rank from now on, −1: none
	LeadTimes bool // the lead's times may stand for those of the interval
	Factor    int  // the next interval is so many times as long
}

// noOutcome is that of a vote of which there is no record.
var noOutcome = Outcome{Lead: none, Factor: 1}

// ParseStep reads the words of a record after its header; false if they are no step.
func ParseStep(w []uint64) (Step, bool) {
	if len(w) < 2 {
		return Step{}, false
	}
	switch kind := StepKind(w[0]); {
	case kind == StepOverhead && len(w) == 2 && w[1] <= math.MaxInt64:
		return Step{Kind: kind, Overhead: int64(w[1])}, true
	case kind == StepCut && len(w) == 2:
		return Step{Kind: kind, Vote: w[1]}, true
	case kind == StepOutcome && len(w) >= outcomeWords && w[outcomeCount] == uint64(len(w)-outcomeWords) &&
		w[outcomeState] <= uint64(trace.VoteEnded) && w[outcomeOverhead] <= math.MaxInt64 && w[outcomeFactor] <= maxFactor:
		return Step{Kind: kind, Vote: w[outcomeVote], Overhead: int64(w[outcomeOverhead]), Outcome: parseOutcome(w)}, true
	}
	return Step{}, false
}

func parseOutcome(w []uint64) Outcome {
	o := Outcome{
		Vote: trace.Vote{Explicit: w[outcomeExplicit] != 0, Ordinal: w[outcomeOrdinal], State: trace.VoteState(w[outcomeState])},
		Lead: none, LeadTimes: w[outcomeLeads] != 0, Factor: max(1, int(w[outcomeFactor])),
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
