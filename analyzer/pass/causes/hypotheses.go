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

// Hypotheses are possible causes that the accounts suggest. Each changes the run, and the replay
// predicts its duration: for all hypotheses in one pass, and in further passes for those that
// remain given the causes found so far.
const (
	maxHypotheses = 8
	minOfRanks    = 2
	maxCauses     = 3
	keeps         = 0.9 // of a wider hypothesis's gain: a narrower one with at least this gain is the cause
	// of the gain of a set of ranks: if its parts together gain this one by one, they
	// are several causes
	severally  = 0.8
	MinPromise = 0.01 // of the run: minimum for a row in the table of what-ifs
)

// minGain is the minimum gain of a cause as a fraction of the run. For ranks that stand out in a
// statistical test it is small; for losses that every run has it is large.
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

// A Hypothesis is a possible cause together with the change that removes it.
type Hypothesis struct {
	Cause  verdict.Cause
	change change
	width  int
	// promise is the excess computation in seconds, used to preselect hypotheses.
	promise float64
	// joins numbers a set of ranks that compute longer in different regions, and partOf is that
	// number in its parts; 0: none.
	joins, partOf int
	// estimated is an estimated gain in ns, for effects that the replay cannot predict; 0: the gain
	// comes from the replay.
	estimated int64
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

// Promised returns the predicted duration of the run with the available CPUs.
func (h *Hypothesis) Promised() int64 { return max(h.length, h.least) }

// played holds durations of the run, in ns, under conditions that several hypotheses refer to.
type played struct {
	Ideal int64 // calls take only the time that they wait for others
	// even: ideal network and, in each iteration, equal work. alone: in addition no rank waits for
	// another.
	even, alone int64
	Marks       predict.Marks // times of the marks on the ideal network
	Also        []int64       // durations of the additional scenarios
}

// judge replays the hypotheses and selects the causes in order: the first gains most, the second
// gains most given the first, and so on.
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

// apart decides for each set of ranks that compute longer in different regions whether it is one
// cause or several: several if the gains of the parts add up to nearly the gain of the set.
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

// exceptSumsOf drops unequal work if it is just the sum of a few ranks that gain by themselves.
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

// worthAnother reports whether one of the remaining hypotheses alone would gain enough.
func (a *search) worthAnother(left []Hypothesis) bool {
	return slices.ContainsFunc(left, func(h Hypothesis) bool { return a.gains(&h, a.Run()) })
}

// playGiven replays the remaining hypotheses with the given causes removed.
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

// narrowest returns the index of the narrowest hypothesis that gains nearly as much as the best
// one, −1 if none gains enough.
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

// covers reports whether another hypothesis has the same subject: unequal work, or the same ranks
// computing longer, in this region or another. Then it is not a cause in addition to h.
func (h *Hypothesis) covers(o *Hypothesis) bool {
	if h.Cause.Kind != o.Cause.Kind {
		return false
	}
	return h.Cause.Kind == verdict.Imbalance || h.Cause.Kind == verdict.Excess && h.Cause.Ranks == o.Cause.Ranks
}

// hypotheses returns the hypotheses that the accounts suggest: those about calls, then as many
// about ranks as fit into maxHypotheses (but at least two), and the two about equal work.
func (a *search) hypotheses(inTotal, eachTime change) []Hypothesis {
	list := a.excessHypotheses()
	if serial := a.serialHypothesis(); serial != nil {
		list = append(list, *serial)
	}
	calls := a.callHypotheses()
	list = append(list[:min(len(list), max(minOfRanks, maxHypotheses-len(calls)))], calls...)
	return append(list, a.balanceHypotheses(inTotal, eachTime)...)
}

// IsOfCalls reports whether a hypothesis is about calls at a call site.
func (h *Hypothesis) IsOfCalls() bool { return h.width == ofMessages || h.width == ofCalls }
