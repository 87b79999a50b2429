package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// The thresholds of all causes. Those of the statistical test of ranks are in package outliers.

// leastGain is the gain of a cause, as a fraction of the run, below which it is not named.
// docs/verdict.md has this table. For ranks that stand out in a statistical test it is small; for
// losses that every run has it is large.
var leastGain = []struct {
	kind verdict.Kind
	form verdict.Form // "": all others
	gain float64
}{
	{verdict.Excess, verdict.Preempted, 0.1},
	{verdict.Excess, verdict.ByThreads, 0.1},
	{verdict.Excess, verdict.SysCalls, 0.1},
	{verdict.Excess, verdict.Stolen, 0.1},
	{verdict.Excess, verdict.Halted, 0.1},
	{verdict.Excess, verdict.BySignal, 0.05},
	{verdict.Excess, verdict.NoForm, 0.02},
	{verdict.Imbalance, verdict.NoForm, 0.05},
	{verdict.Variation, verdict.Once, 0.05},
	{verdict.Variation, verdict.Sometimes, 0.05},
	{verdict.Variation, verdict.NoForm, 0.1},
	{verdict.Serialization, verdict.Master, minSerial},
	{verdict.Serialization, verdict.Lock, 0.05},
	{verdict.Serialization, verdict.NoForm, 0.1},
	{verdict.LateReceiver, verdict.NoForm, 0.05},
	{verdict.Messages, verdict.NoForm, 0.08},
	{verdict.Collectives, verdict.NoForm, 0.08},
	{verdict.Network, verdict.NoForm, 0.08},
	{verdict.IO, verdict.NoForm, 0.05},
	{verdict.Local, verdict.NoForm, 0.05},
	{verdict.Kernel, verdict.NoForm, 0.1},
	{verdict.CPUs, verdict.NoForm, 0.1},
	{verdict.StartEnd, verdict.NoForm, 0.05},
	{verdict.Tracer, verdict.NoForm, 0.05},
}

// leastGainOf returns the minimum gain of a cause, as a fraction of the run.
func leastGainOf(kind verdict.Kind, form verdict.Form) float64 {
	for _, l := range leastGain {
		if l.kind == kind && (l.form == form || l.form == verdict.NoForm) {
			return l.gain
		}
	}
	return 1
}

// Which hypotheses are replayed, and which of them are causes.
const (
	maxHypotheses = 8    // besides those of equal work
	minOfRanks    = 2    // of these, about ranks
	maxRegions    = 5    // that are tested for ranks that stand out
	maxCauses     = 3    // that are named
	worthAsking   = 0.02 // of the run that a rank spends on the subject of a hypothesis
	keeps         = 0.9  // of a wider hypothesis's gain: a narrower one with at least this gain is the cause
	severally     = 0.8  // of the gain of a set of ranks: if its parts gain this one by one, they are several causes
	// MinPromise is the gain, as a fraction of the run, from which on the table of what-ifs has a
	// hypothesis.
	MinPromise = 0.01
)

// Ranks that compute longer than the others.
const (
	minInRegion = 0.01 // of the run: the minimum excess of a rank over the mean for a region to be tested
	muchLonger  = 0.05 // of the run: minimum excess of a rank that is reported even if it is harmless
	explains    = 0.5  // of an excess: the minimum for something to be its reason
	longer      = 1.5  // times the usual duration: an instance that stands out
	beyond      = 3.0  // interquartile ranges above it: required as well
	fewestSeen  = 2    // looks at a rank that see it suspended: one is accidental
	minLong     = 3    // instances that stand out: fewer are accidental
	maxLong     = 0.6  // of the instances of a rank: more are not an exception
)

// Two ranks: what one computes longer than the other by chance, as a part (leastRatio).
const (
	chanceSeconds = 2.75 // divided by the seconds that they compute
	mostByChance  = 0.9  // at most
	leastByChance = 0.25 // at least
)

// Regions that take longer at some times.
const (
	maxVarying  = 10   // regions that are tested
	likeLongest = 0.2  // of the excess of the longest instance: shorter ones are not counted beside it
	maxFirst    = 0.25 // of the instances: more are not just the first ones
	nearlyAll   = 0.8  // of the ranks, or of the instances
	maxRare     = 0.05 // of the instances: more are not rare
	timeSlice   = 20e6 // ns that a process may have to wait for a CPU without a reason of interest
	pageFault   = 1e3  // ns that a page fault takes, about,
	hugeFault   = 1e5  // and one that fills a huge page
	perByte     = 1.0  // ns that reading or writing a byte takes, about: 1 GB/s
	mentioned   = 0.1  // of what is lost: page faults and data that may take this are mentioned
	minQuarter  = 4    // samples in a quarter of a region's instances, for a trend
)

// Work that a rank does alone.
const (
	serialShare = 0.1  // of a rank's time in a region: ranks below it do not work there
	likeSerial  = 0.7  // of the regions' time by which the rank's total computation exceeds that of the others
	ownRegions  = 0.8  // of a rank's computation in regions of its own: a master
	minSerial   = 0.05 // of the run
)

// Work that is divided unequally.
const (
	fewCalls     = 0.3  // of the calls of ranks with work: those without make fewer
	equallyOften = 1.1  // times as often, at most: ranks execute a region equally often
	minExcess    = 0.03 // of the run: minimum excess of the busiest rank over the mean
	// minimum gain if only the spread of iterations excludes noise, which costs up to a tenth
	minScatterGain = 0.15
	// maximum variance of the sum of all ranks over the sum of their variances, if work moves
	// between ranks
	maxConserved      = 0.25
	conservedAlpha    = 0.001
	minIterations     = 8
	likeQueue         = 0.75 // of the waiting in a queue in which each waits for the one before it
	minOfMost         = 0.1  // of the time lost in the region where most is lost, for another to count
	unequalMiddle     = 0.3  // interquartile range over median of iterations, above which they are not noise
	minCorrelation    = 0.9
	minCorrelationFew = 0.97 // for few ranks, which may be in order by chance
	fewToCorrelate    = 8
	minExplained      = 0.9 // of the variance, by groups of ranks
)

// Calls and waiting.
const (
	smallMessage    = 8 << 10 // bytes: smaller messages cost per message, not per byte
	longSmall       = 1e6     // ns: a call that moves less is so long for another reason than its cost per call
	manyCalls       = 10      // of a call site, on a rank: fewer are not the reason of what they cost
	manyPieces      = 100     // in a message: fewer are not the reason of what it costs
	smallPiece      = 256     // bytes: larger ones are copied about as fast as contiguous data
	minWaitingShare = 0.9     // of the waiting that is caused by some ranks, for these to be named,
	maxRanks        = 0.6     // provided that they are at most this fraction of all ranks
	eachTimeAlike   = 0.6     // of the longest wait: the minimum of the mean wait in a chain
	finer           = 8       // times as many blocks in a pipeline: a division that programs can do
	// TCP segments that are sent again, and the part of all: fewer occur in sound networks
	fewRetransmits    = 10
	muchRetransmitted = 0.002
	latestStart       = 3.0   // times the usual distance between starts
	launchJitter      = 250e6 // ns: starts that differ by less are those of a busy machine
)

// CPUs.
const (
	muchDelayed   = 0.05 // of their computation that ranks wait for a CPU on average, for CPUs to be a cause
	waitsMore     = 1.2  // times the others' part of computation without a CPU: ranks of which something else takes the CPUs
	scarceDelay   = 0.05 // of the computation on a machine that ranks wait for a CPU, for its CPUs to be scarce
	lowEfficiency = 0.8  // of communication: below it CPUs can be a cause if there is no replay
	resolution    = 20e6 // ns: a gain below it is not resolved where it comes from time without a CPU;
	little        = 0.03 // of the run: elsewhere it is chance if it is below this, too
)
