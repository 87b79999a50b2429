package causes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Hypotheses are causes that the accounts make likely. Each says what would be otherwise without it, and the replay says
// how long the run would take then: all in one pass, and what comes next given those before in another.
const (
	maxHypotheses = 8
	minOfRanks    = 2
	maxCauses     = 3
	keeps         = 0.9  // of a wider hypothesis's gain: a narrower one that keeps so much is the cause
	severally     = 0.8  // of what ranks gain together, that they gain one by one: they are several causes
	MinPromise    = 0.01 // of the run: what is worth a row in the table of what-ifs
)

// minGain is the part of the run from which on a cause is blamed. Who stands out by a test needs to gain little; what every
// run loses something to needs to gain much.
var minGain = map[verdict.Kind]float64{
	verdict.Excess: 0.02, verdict.Imbalance: 0.05, verdict.Serialization: 0.1, verdict.LateReceiver: 0.05, verdict.Messages: 0.08,
	verdict.Collectives: 0.08, verdict.Network: 0.08, verdict.IO: 0.05, verdict.StartEnd: 0.05, verdict.CPUs: 0.1, verdict.Tracer: 0.05,
}

// Widths of hypotheses, from narrow to wide.
const (
	someInstances = iota
	oneRegion
	allRegions
	allRanks
	ofMessages
	ofCalls
	ofCPUs
	ofAll
)

// A Hypothesis is a cause, and what is otherwise without it.
type Hypothesis struct {
	Cause  verdict.Cause
	change change
	width  int
	// promise is by how many seconds ranks compute longer, to screen hypotheses by.
	promise float64
	// joins and partOf number a set of ranks that compute longer in different places, and its parts; 0: none.
	joins, partOf int
	// estimated is the gain in ns by a rule of thumb, where that is more than the replay can tell; 0: the replay tells.
	estimated int64
	// doubt is asked after the replay whether the gain is something else's; nil: there is no doubt.
	doubt func(h *Hypothesis, p *played) bool
	What  string // in words, for the table of what-ifs: "rank 3 computes as fast as the others"
	// assumes is what the prediction rests on.
	Assumes string
	length  int64 // that the run would have, in ns
	// least is how long the run would take at least with the CPUs that there are. It bounds what is promised, and does not decide
	// what the cause is: more CPUs would help where these are scarce, whatever is wrong.
	least int64
}

// Promised is the length that the run would have with the CPUs that there are.
func (h *Hypothesis) Promised() int64 { return max(h.length, h.least) }

// played is how long the run takes under conditions that several hypotheses are judged by, in ns.
type played struct {
	Ideal int64 // calls cost nothing but what they wait for others
	// even: on the ideal network, with equal work each time; alone: when besides nobody waits for anybody
	even, alone int64
	Marks       predict.Marks // when the marks are there on the ideal network
	Also        []int64       // in the scenarios of others
}

// judge replays hypotheses, and puts those first that are the causes, in order: given the first, the second gains most of the
// rest, and so on.
func (a *search) judge(ctx context.Context, marks predict.Marks, also []predict.Scenario) (p played, causes, all []Hypothesis, err error) {
	if a.Run() <= 0 {
		return played{}, nil, nil, nil
	}
	inTotal, eachTime := a.evenly()
	all = a.hypotheses(inTotal, eachTime)
	nobodyWaits := change{ignores: a.isBetween}
	scenarios := []predict.Scenario{together(change{ideal: true}), together(change{ideal: true}, eachTime), together(change{ideal: true}, eachTime, nobodyWaits)}
	for i := range all {
		scenarios = append(scenarios, together(all[i].change))
	}
	found, err := predict.PlayMarks(ctx, a.matched.Log, append(scenarios, also...), marks)
	if err != nil {
		return played{}, nil, nil, err
	}
	lengths, cpus := found.Runs, a.scarceCPUs()
	p = played{Ideal: lengths[0], even: lengths[1], alone: lengths[2], Marks: found.Marks, Also: lengths[len(scenarios):]}
	for i := range all {
		h := &all[i]
		h.least = cpus.least(h, found.Longer[3+i])
		if h.length = lengths[3+i]; h.estimated > a.Run()-h.length {
			h.length, h.Cause.Estimate = a.Run()-h.estimated, true
		}
	}
	var left []Hypothesis
	for i := range all {
		if h := &all[i]; h.doubt == nil || !h.doubt(h, &p) {
			left = append(left, *h)
		}
	}
	left = a.exceptSumsOf(a.apart(left))
	before, promised := a.Run(), a.Run()
	for len(causes) < maxCauses {
		best := a.narrowest(left, before)
		if best < 0 {
			break
		}
		h := left[best]
		h.Cause.GainSeconds = new(accounts.Seconds(max(0, promised-h.Promised())))
		causes, before, promised = append(causes, h), h.length, min(promised, h.Promised())
		left = slices.DeleteFunc(slices.Delete(left, best, best+1), func(o Hypothesis) bool { return h.covers(&o) })
		if len(causes) == maxCauses || !a.worthAnother(left) {
			break
		}
		if err := a.playGiven(ctx, causes, left, cpus); err != nil {
			return played{}, nil, nil, err
		}
	}
	return p, causes, all, nil
}

// apart decides of each set of ranks that compute longer in different places whether it is several causes or one: several, if
// these gain by themselves nearly what they gain together.
func (a *search) apart(list []Hypothesis) []Hypothesis {
	sums, several := map[int]int64{}, map[int]bool{}
	for i := range list {
		sums[list[i].partOf] += max(0, a.Run()-list[i].length)
	}
	for i := range list {
		if h := &list[i]; h.joins > 0 {
			several[h.joins] = float64(sums[h.joins]) >= severally*float64(a.Run()-h.length)
		}
	}
	return slices.DeleteFunc(list, func(h Hypothesis) bool { return h.joins > 0 && several[h.joins] || h.partOf > 0 && !several[h.partOf] })
}

// exceptSumsOf leaves out unequal work where it is no more than a few ranks, each of which gains by itself.
func (a *search) exceptSumsOf(list []Hypothesis) []Hypothesis {
	single := map[string]int64{}
	for i := range list {
		if c := &list[i].Cause; c.Kind == verdict.Excess || c.Kind == verdict.Serialization && c.Form == verdict.Master {
			single[c.Ranks] = max(single[c.Ranks], a.Run()-list[i].length)
		}
	}
	return slices.DeleteFunc(list, func(h Hypothesis) bool {
		ranks := strings.Split(h.Cause.Ranks, ",")
		if h.Cause.Form != verdict.Heavy || len(ranks) < 2 {
			return false
		}
		sum := int64(0)
		for _, r := range ranks {
			if single[r] <= 0 {
				return false
			}
			sum += single[r]
		}
		return float64(sum) >= severally*float64(a.Run()-h.length)
	})
}

// worthAnother reports whether one of the hypotheses alone would gain enough.
func (a *search) worthAnother(left []Hypothesis) bool {
	return slices.ContainsFunc(left, func(h Hypothesis) bool { return a.gains(&h, a.Run()) })
}

// playGiven gives hypotheses the length of the run with those causes gone, too.
func (a *search) playGiven(ctx context.Context, causes, left []Hypothesis, cpus scarceCPUs) error {
	gone := make([]change, 0, maxCauses)
	estimated := int64(0)
	for i := range causes {
		if gone = append(gone, causes[i].change); causes[i].Cause.Estimate {
			estimated += causes[i].estimated
		}
	}
	scenarios := []predict.Scenario{}
	for i := range left {
		scenarios = append(scenarios, together(append(slices.Clone(gone), left[i].change)...))
	}
	found, err := predict.PlayMarks(ctx, a.matched.Log, scenarios, nil)
	for i, length := range found.Runs {
		left[i].least = cpus.least(&left[i], found.Longer[i])
		if left[i].length = length - estimated; left[i].Cause.Estimate {
			left[i].length -= left[i].estimated
		}
	}
	return err
}

// gains reports whether a hypothesis shortens the run enough to be a cause.
func (a *search) gains(h *Hypothesis, before int64) bool {
	least := minGain[h.Cause.Kind]
	switch h.Cause.Form {
	case verdict.Master:
		least = minSerial
	case verdict.Preempted, verdict.Stolen:
		least = minGain[verdict.CPUs]
	}
	return a.Share(before-h.length) >= least
}

// narrowest is the index of the narrowest hypothesis that gains nearly as much as the one that gains most; −1: none gains
// enough.
func (a *search) narrowest(list []Hypothesis, before int64) int {
	most := int64(0)
	for i := range list {
		if a.gains(&list[i], before) {
			most = max(most, before-list[i].length)
		}
	}
	best := -1
	for i := range list {
		h := &list[i]
		if !a.gains(h, before) || float64(before-h.length) < keeps*float64(most) {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(h.width, list[best].width), cmp.Compare(h.length, list[best].length)) < 0 {
			best = i
		}
	}
	return best
}

// covers reports whether another hypothesis is about the same: unequal work, or the same ranks that compute longer, here or
// elsewhere. It is no cause beside this one.
func (h *Hypothesis) covers(o *Hypothesis) bool {
	if h.Cause.Kind != o.Cause.Kind {
		return false
	}
	return h.Cause.Kind == verdict.Imbalance || h.Cause.Kind == verdict.Excess && h.Cause.Ranks == o.Cause.Ranks
}

// hypotheses are those that the accounts make likely: of calls, as many of ranks as make maxHypotheses, but two at least, and
// the two of equal work.
func (a *search) hypotheses(inTotal, eachTime change) []Hypothesis {
	list := a.excessHypotheses()
	if serial := a.serialHypothesis(); serial != nil {
		list = append(list, *serial)
	}
	calls := a.callHypotheses()
	list = append(list[:min(len(list), max(minOfRanks, maxHypotheses-len(calls)))], calls...)
	return append(list, a.balanceHypotheses(inTotal, eachTime)...)
}

// IsOfCalls reports whether a hypothesis is about calls at a place.
func (h *Hypothesis) IsOfCalls() bool { return h.width == ofMessages || h.width == ofCalls }
