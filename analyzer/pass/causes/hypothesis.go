package causes

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// A cause is one kind of reason why a run is slow. What it says and advises is in package verdict.
type cause interface {
	// suggest returns the hypotheses of this kind that the evidence suggests.
	suggest(e *evidence) []Hypothesis
}

// All causes, by their subject.
var (
	ofRanks = []cause{slowRanks{}, sometimesSlow{}, slowWorkers{}, throttledRanks{}, aloneRank{}}
	ofCalls = []cause{
		lateReceivers{}, seldomPolls{}, barriers{},
		callCost{verdict.Messages}, callCost{verdict.Collectives}, callCost{verdict.IO}, callCost{verdict.Local},
		oneAfterTheOther{}, lateStart{}, fewCPUs{}, haltedRanks{}, suspendedRanks{}, cpuLimits{}, blockedRanks{}, busyKernel{}, tracerOverhead{},
	}
	ofWork = []cause{unequalWork{}, movingWork{}, idleRanks{}, variation{}}
)

// suggest returns the hypotheses of some causes.
func suggest(e *evidence, causes []cause) (list []Hypothesis) {
	for _, c := range causes {
		list = append(list, c.suggest(e)...)
	}
	return list
}

// hypotheses returns the hypotheses that the evidence suggests: those about calls, then as many
// about ranks as fit into maxHypotheses (but at least minOfRanks), and those about how work is
// divided over ranks and time.
func hypotheses(e *evidence) []Hypothesis {
	list, calls := suggest(e, ofRanks), suggest(e, ofCalls)
	if slices.ContainsFunc(calls, func(h Hypothesis) bool { return h.Cause.Form == verdict.Compressor }) {
		list = exceptCompressor(e, list)
	}
	work := suggest(e, ofWork)
	if i := slices.IndexFunc(calls, func(h Hypothesis) bool { return h.Cause.Form == verdict.BySignal }); i >= 0 {
		suspended := calls[i].Cause
		list, calls, work = exceptSuspended(list, &suspended), exceptSuspended(calls, &suspended), exceptSuspended(work, &suspended)
	}
	slices.SortStableFunc(list, func(x, y Hypothesis) int { return cmp.Compare(y.promise, x.promise) })
	list = list[:min(len(list), max(minOfRanks, maxHypotheses-len(calls)))]
	return slices.Concat(list, calls, work)
}

// A Hypothesis is a possible cause together with the change that removes it. What is replayed is
// what its sentence names: these ranks, this region, these instances.
type Hypothesis struct {
	Cause  verdict.Cause
	change change
	width  int
	// shared returns the change that the ranks of an Excess and the others share it, nil for other
	// kinds.
	shared func() change
	// sharedGain is the gain of that in ns, if the ranks may just have more work; 0: not known.
	sharedGain int64
	// promise is the excess computation in seconds, used to preselect hypotheses.
	promise float64
	// joins numbers a set of ranks that compute longer in different regions, and partOf is that
	// number in its parts; 0: none.
	joins, partOf int
	// estimated is an estimated gain in ns, for effects that the replay cannot predict; 0: the gain
	// comes from the replay.
	estimated int64
	// ofWaits is set if its change only removes waits, for a CPU or blocked: the same ranks may
	// have more work, too. takesWaits is set if it removes them beside more work, since they are of
	// its own making.
	ofWaits, takesWaits bool
	// chance is set if it is about two ranks that differ by no more than equal CPUs may: it is no
	// cause.
	chance bool
	// last is set if it is named only where there is no other cause.
	last bool
	// doubt reports, after the replay, whether the gain is due to something else; nil: never.
	doubt func(h *Hypothesis, p *played) bool
	What  string // description for the table of what-ifs: "rank 3 computes as fast as the others"
	// Assumes describes the assumptions of the prediction.
	Assumes string
	length  int64 // predicted duration of the run, in ns
	// least is the minimum duration of the run with the available CPUs. It bounds the promised gain
	// but does not affect the choice of the cause: where CPUs are scarce, more of them would help
	// in any case.
	least int64
}

// Widths of hypotheses, from narrow to wide.
const (
	someInstances = iota
	oneRegion
	allRegions
	allRanks
	ofMessages
	ofCostlyCalls
	ofCPUs
	ofAll
)

// Promised returns the predicted duration of the run with the available CPUs.
func (h *Hypothesis) Promised() int64 { return max(h.length, h.least) }

// IsOfCalls reports whether a hypothesis is about calls at a call site.
func (h *Hypothesis) IsOfCalls() bool { return h.width == ofMessages || h.width == ofCostlyCalls }
