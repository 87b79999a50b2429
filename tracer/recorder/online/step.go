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
	case kind == StepOutcome && len(w) >= outcomeWords:
		return parseOutcome(w)
	}
	return Step{}, false
}

const outcomeWords = rawlayout.OutcomeBytes / 8 // before the lead ranks

func parseOutcome(w []uint64) (Step, bool) {
	word := func(at int) uint64 { return w[at/8] }
	state, factor := word(rawlayout.OutcomeStateAt), word(rawlayout.OutcomeFactorAt)
	overhead, leads := word(rawlayout.OutcomeOverheadAt), w[outcomeWords:]
	if word(rawlayout.OutcomeLeadsAt) != uint64(len(leads)) || state > uint64(trace.VoteEnded) || overhead > math.MaxInt64 ||
		factor > maxFactor {
		return Step{}, false
	}
	o := Outcome{
		Vote: trace.Vote{
			Explicit: word(rawlayout.OutcomeKindAt) != 0, Ordinal: word(rawlayout.OutcomeOrdinalAt), State: trace.VoteState(state),
		},
		Lead: none, LeadTimes: word(rawlayout.OutcomeLeadTimesAt) != 0, Factor: max(1, int(factor)),
	}
	for _, lead := range leads {
		o.Vote.Leads = append(o.Vote.Leads, int(int32(lead)))
	}
	slices.Sort(o.Vote.Leads)
	if o.Vote.State == trace.VoteClustered || o.Vote.State == trace.VoteLead {
		o.Lead = int(int32(word(rawlayout.OutcomeLeadAt)))
	}
	return Step{Kind: StepOutcome, Vote: word(rawlayout.OutcomeNumberAt), Overhead: int64(overhead), Outcome: o}, true
}
