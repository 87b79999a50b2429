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
func judge(ctx context.Context, e *evidence, marks predict.Marks, also []predict.Scenario) (p played, causes, all []Hypothesis, err error) {
	if e.Run() <= 0 {
		return played{}, nil, nil, nil
	}
	_, eachTime := e.evenly()
	all = hypotheses(e)
	nobodyWaits := change{ignores: e.isBetween}
	scenarios := []predict.Scenario{together(change{ideal: true}), together(change{ideal: true}, eachTime), together(change{ideal: true}, eachTime, nobodyWaits)}
	for i := range all {
		scenarios = append(scenarios, together(all[i].change))
	}
	unclear := unclearOf(e, all)
	for _, i := range unclear {
		scenarios = append(scenarios, together(all[i].shared()))
	}
	found, err := predict.PlayMarks(ctx, e.matched.Log, e.Progressed, append(scenarios, also...), marks)
	if err != nil {
		return played{}, nil, nil, err
	}
	lengths, cpus := found.Runs, findScarce(e)
	p = played{Ideal: lengths[0], even: lengths[1], alone: lengths[2], Marks: found.Marks, Also: lengths[len(scenarios):]}
	for i := range all {
		h := &all[i]
		h.least = cpus.least(h, found.Longer[3+i])
		if h.length = lengths[3+i]; h.estimated > e.Run()-h.length {
			h.length, h.Cause.Estimate = e.Run()-h.estimated, true
		}
	}
	for k, i := range unclear {
		all[i].sharedGain = max(1, e.Run()-lengths[3+len(all)+k])
	}
	var left []Hypothesis
	for i := range all {
		if h := &all[i]; !h.chance && (h.doubt == nil || !h.doubt(h, &p)) {
			left = append(left, *h)
		}
	}
	left = exceptSumsOf(e, apart(e, left))
	before, promised := e.Run(), e.Run()
	for len(causes) < maxCauses {
		best := narrowest(e, left, before, false)
		if best < 0 && len(causes) == 0 {
			best = narrowest(e, left, before, true)
		}
		if best < 0 {
			break
		}
		best = seenBefore(e, left, placed(e, left, countedBefore(e, left, best, before), before), before)
		h := left[best]
		left = slices.Delete(left, best, best+1)
		gain := promised - h.Promised()
		if e.Share(gain) < MinPromise {
			continue // without more CPUs it gains next to nothing
		}
		h.Cause.GainSeconds = new(accounts.Seconds(gain))
		causes, before, promised = append(causes, h), h.length, h.Promised()
		left = slices.DeleteFunc(left, func(o Hypothesis) bool { return h.covers(&o) })
		if len(causes) == 1 {
			setShared(e, &causes[0], all)
		}
		if len(causes) == maxCauses || !worthAnother(e, left) {
			break
		}
		if err := playGiven(ctx, e, causes, left, cpus); err != nil {
			return played{}, nil, nil, err
		}
	}
	return p, causes, all, nil
}

// unclearOf returns which hypotheses are about one of two ranks that computes longer for no known
// reason: there is no third one to tell which of them is as usual.
func unclearOf(e *evidence, all []Hypothesis) (list []int) {
	for i := range all {
		c := &all[i].Cause
		if len(e.Ranks) == 2 && all[i].shared != nil && c.Form == verdict.Always && !hasReason(c) {
			list = append(list, i)
		}
	}
	return list
}

// hasReason reports whether the kernel counted why ranks compute longer.
func hasReason(c *verdict.Cause) bool {
	return c.BlockedSeconds+c.SystemSeconds+c.PageFaults > 0
}

// countedBefore returns the hypothesis to name instead of the best one, if that is about ranks that
// compute longer for no known reason: of those about time that the kernel counted, the one that
// gains most. Of two ranks one may just have more work; then it has to gain more than equal work
// would. Otherwise it has to be about the same ranks, and to explain what the best one gains.
func countedBefore(e *evidence, list []Hypothesis, best int, before int64) int {
	b := &list[best]
	if b.Cause.Kind != verdict.Excess || b.Cause.Form != verdict.Always || hasReason(&b.Cause) {
		return best
	}
	most := min(b.sharedGain, before-b.length)
	if most <= 0 {
		most = int64(explains * float64(before-b.length))
	}
	for i := range list {
		h := &list[i]
		if h.isCoarse() && !h.last && gainsEnough(e, h, before) && before-h.length > most && (b.sharedGain > 0 || h.Cause.Kind == verdict.Excess && h.Cause.Ranks == b.Cause.Ranks) {
			best, most = i, before-h.length
		}
	}
	return best
}

// placed returns the hypothesis to name instead of the best one, if that is about ranks that are
// stopped nobody knows where: that they take longer somewhere, about as much as they are stopped.
// Of two ranks one may have more work there, too.
func placed(e *evidence, list []Hypothesis, best int, before int64) int {
	h := &list[best].Cause
	if h.Form != verdict.Halted || h.Before.Function != "" || len(e.Ranks) == 2 {
		return best
	}
	for i := range list {
		c := &list[i].Cause
		if c.Kind != verdict.Excess || c.Form != verdict.Always || c.Ranks != h.Ranks || c.OthersSeconds == nil || !gainsEnough(e, &list[i], before) {
			continue
		}
		excess := (c.EachSeconds - *c.OthersSeconds) * float64(c.Of)
		if excess >= explains*h.BlockedSeconds && h.BlockedSeconds >= explains*excess {
			c.Form, c.BlockedSeconds = verdict.Blocked, min(h.BlockedSeconds, c.EachSeconds*float64(c.Of))
			return i
		}
	}
	return best
}

// seenBefore returns the hypothesis to name instead of the best one, if that is about ranks that
// differ because they are blocked: that senders wait for receivers, if that gains more than equal
// time. The program may want to be blocked, but nobody wants senders to wait for it.
func seenBefore(e *evidence, list []Hypothesis, best int, before int64) int {
	c := &list[best].Cause
	if c.Kind != verdict.Imbalance || c.BlockedSeconds == 0 || c.Ranks == "" {
		return best
	}
	most := int64(0)
	for i := range list {
		if list[i].What == equalEachTime {
			most = before - list[i].length
		}
	}
	for i := range list {
		h := &list[i]
		if h.Cause.Kind == verdict.LateReceiver && gainsEnough(e, h, before) && before-h.length > most {
			best, most = i, before-h.length
		}
	}
	return best
}

// setShared sets what the run would gain if both ranks shared what one of two computes longer, for
// no known reason. If some ranks are blocked longer, nothing tells whether others could take a part
// of what they wait for.
func setShared(e *evidence, h *Hypothesis, all []Hypothesis) {
	c := &h.Cause
	if c.Kind == verdict.Imbalance && c.BlockedSeconds > 0 && c.Ranks != "" {
		for i := range all {
			if all[i].What == equalEachTime { // they may be blocked in some instances only
				c.SharedGainSeconds = new(accounts.Seconds(max(0, e.Run()-all[i].length)))
			}
		}
	}
	if h.sharedGain > 0 {
		c.SharedGainSeconds = new(accounts.Seconds(h.sharedGain))
	}
}

// apart decides for each set of ranks that compute longer in different regions whether it is one
// cause or several: several if the gains of the parts add up to nearly the gain of the set.
func apart(e *evidence, list []Hypothesis) []Hypothesis {
	sums, several := map[int]int64{}, map[int]bool{}
	for i := range list {
		sums[list[i].partOf] += max(0, e.Run()-list[i].length)
	}
	for i := range list {
		if h := &list[i]; h.joins > 0 {
			several[h.joins] = float64(sums[h.joins]) >= severally*float64(e.Run()-h.length)
		}
	}
	return slices.DeleteFunc(list, func(h Hypothesis) bool { return h.joins > 0 && several[h.joins] || h.partOf > 0 && !several[h.partOf] })
}

// exceptSumsOf drops unequal work if it is just the sum of a few ranks that gain by themselves.
func exceptSumsOf(e *evidence, list []Hypothesis) []Hypothesis {
	single := map[string]int64{}
	for i := range list {
		if c := &list[i].Cause; c.Kind == verdict.Excess || c.Kind == verdict.Serialization && c.Form == verdict.Master {
			single[c.Ranks] = max(single[c.Ranks], e.Run()-list[i].length)
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
		return float64(sum) >= severally*float64(e.Run()-h.length)
	})
}

// worthAnother reports whether one of the remaining hypotheses alone would gain enough.
func worthAnother(e *evidence, left []Hypothesis) bool {
	return slices.ContainsFunc(left, func(h Hypothesis) bool { return gainsEnough(e, &h, e.Run()) })
}

// playGiven replays the remaining hypotheses with the given causes removed.
func playGiven(ctx context.Context, e *evidence, causes, left []Hypothesis, cpus scarceCPUs) error {
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
	found, err := predict.PlayMarks(ctx, e.matched.Log, e.Progressed, scenarios, nil)
	for i, length := range found.Runs {
		left[i].least = cpus.least(&left[i], found.Longer[i])
		if left[i].length = length - estimated; left[i].Cause.Estimate {
			left[i].length -= left[i].estimated
		}
	}
	return err
}

// gainsEnough reports whether a hypothesis shortens the run enough to be a cause, and by more than
// its evidence can resolve.
func gainsEnough(e *evidence, h *Hypothesis, before int64) bool {
	gain, least := before-h.length, float64(resolution)
	if !h.isCoarse() {
		least = min(least, little*float64(e.Run()))
	}
	return e.Share(gain) >= leastGainOf(h.Cause.Kind, h.Cause.Form) && float64(gain) >= least
}

// isCoarse reports whether the gain of a hypothesis is time that the kernel counted for threads
// without a CPU, and not what calls show.
func (h *Hypothesis) isCoarse() bool { return h.ofWaits || h.Cause.IsCounted() }

// narrowest returns the index of the narrowest hypothesis that gains nearly as much as the best
// one, −1 if none gains enough. last selects those that are named only where there is no other
// cause.
func narrowest(e *evidence, list []Hypothesis, before int64, last bool) int {
	most := int64(0)
	for i := range list {
		if list[i].last == last && gainsEnough(e, &list[i], before) {
			most = max(most, before-list[i].length)
		}
	}
	best := -1
	for i := range list {
		h := &list[i]
		if h.last != last || !gainsEnough(e, h, before) || float64(before-h.length) < keeps*float64(most) {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(h.width, list[best].width), cmp.Compare(h.length, list[best].length)) < 0 {
			best = i
		}
	}
	return best
}

// covers reports whether another hypothesis has the same subject: unequal work, or the same ranks
// computing longer, in this region or another, or alone. Then it is not a cause in addition to h.
// That ranks wait for a CPU, or are blocked, is another subject than that they have more work.
func (h *Hypothesis) covers(o *Hypothesis) bool {
	if h.Cause.Form == verdict.Master && o.Cause.Kind == verdict.Excess {
		return h.Cause.Ranks == o.Cause.Ranks
	}
	if h.Cause.Kind != o.Cause.Kind {
		return false
	}
	return h.Cause.Kind == verdict.Imbalance ||
		h.Cause.Kind == verdict.Excess && h.Cause.Ranks == o.Cause.Ranks &&
			(h.takesWaits || o.takesWaits || h.ofWaits == o.ofWaits || h.Cause.BlockedSeconds > 0 && o.Cause.BlockedSeconds > 0)
}
