package causes

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// sometimesSlow is ranks that compute longer than usual in some instances of a region.
type sometimesSlow struct{}

func (sometimesSlow) suggest(e *evidence) (list []Hypothesis) {
	regions := e.unevenRegions()
	for _, what := range regions {
		if h := intermittent(e, what, len(regions)+1); h != nil {
			list = append(list, *h)
		}
	}
	return list
}

// intermittent returns the hypothesis that the instances of a region that take unusually long on a
// few ranks take as long as usual. If ranks share CPUs and single computations were not measured,
// it does not apply, because preempted ranks look the same.
func intermittent(e *evidence, what accounts.Activity, questions int) *Hypothesis {
	evident := e.HasEvidence()
	if e.shared && !evident {
		return nil
	}
	all := e.Workers(outliers.Typical, outliers.Only(what))
	var medians, widths []float64
	for _, w := range all {
		if t := e.TallyOf(w, what); t.Count >= accounts.Repeated {
			medians = append(medians, t.Spread.Quantile(0.5))
			widths = append(widths, t.Spread.Quantile(0.75)-t.Spread.Quantile(0.25))
		}
	}
	if len(medians) < 2 {
		return nil
	}
	slices.Sort(medians)
	slices.Sort(widths)
	usual := medians[(len(medians)-1)/2]
	limit := standsOut(usual, widths[(len(widths)-1)/2])
	// a mean of few that take very long and others that are a little late describes neither
	if raised := besideLongest(usual, longestInstance(e, all, what)); lostAbove(e, all, what, raised, usual) >= nearlyAll*lostAbove(e, all, what, limit, usual) {
		limit = max(limit, raised)
	}
	counts := map[int]int{}
	tails := make([]outliers.Worker, 0, len(all))
	for _, w := range all {
		t := e.TallyOf(w, what)
		n, ns := t.Spread.Above(limit)
		tail := ns - float64(n)*usual - float64(e.lacks.DelayedIn(w.Row, what))
		counts[w.Row] = n
		tails = append(tails, outliers.Worker{Row: w.Row, Useful: (max(0, tail) + usual*float64(t.Count)) / 1e9})
	}
	set, mean := e.Outliers(tails, outliers.Doubtful/float64(questions), 1+outliers.MinSpread)
	if len(tails) == 2 { // no scatter of others to compare with: the number of instances decides
		set, mean = longerOf(tails)
	}
	if set == nil || !e.AreFew(&outliers.Suspicion{Set: set}) {
		return nil
	}
	long := 0
	for _, n := range counts {
		long += n
	}
	for _, w := range set {
		n, of := counts[w.Row], int(e.TallyOf(w, what).Count)
		if n < minLong || oftenByChance(n, long, len(all)) > outliers.Significance || float64(n) > maxLong*float64(of) || e.Share(int64((w.Useful-mean)*1e9)) < leastGainOf(verdict.Excess, verdict.NoForm) {
			return nil
		}
	}
	locations := map[int]bool{}
	for _, w := range set {
		locations[e.MainOf[w.Row]] = true
	}
	region := regionOf(what)
	worst := set[0]
	t := e.TallyOf(worst, what)
	n, ns := t.Spread.Above(limit)
	h := Hypothesis{width: someInstances, promise: worst.Useful - mean, Cause: e.causeOf(verdict.Excess, set, what)}
	h.Cause.Form, h.Cause.Instances, h.Cause.Of = verdict.Sometimes, n, int(t.Count)
	h.Cause.EachSeconds, h.Cause.OthersSeconds = ns/float64(n)/1e9, new(usual/1e9)
	o := e.LongOffCPU(worst.Row, what, limit, n)
	if o == nil {
		o = e.Each[e.MainOf[worst.Row]].OffCPU[what]
	}
	switch tail := ns - float64(n)*usual; {
	case o == nil || float64(o.Blocked+o.Stolen) < explains*tail:
		h.Cause.Bytes = movedIn(e, worst.Row, what, limit, tail/float64(n))
	case isStolen(e, set, outliers.Except(all, set), float64(o.Blocked+o.Stolen), float64(o.Stolen)):
		h.Cause.Form, h.Cause.StolenSeconds = verdict.Stolen, float64(o.Stolen)/1e9
	default:
		h.Cause.BlockedSeconds = min(float64(o.Blocked), ns) / 1e9
		setWait(e, &h.Cause, set[:1], outliers.Except(all, set), float64(o.Blocked), o.Moved())
	}
	if stopped := throttledLonger(e, set, outliers.Except(all, set), computing); stopped > 0 && !evident {
		h.Cause.Form, h.Cause.StoppedSeconds = verdict.Stopped, stopped
	}
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if r == region && locations[location] && float64(ns) > limit {
			return int64(usual)
		}
		return ns
	}}
	h.What = fmt.Sprintf("%s took no longer than usual in %d of %d times %s", h.Cause.Who(), n, t.Count, verdict.Between(h.Cause.After, h.Cause.Before))
	h.Assumes = "Each of these computations takes as long as it usually does; calls keep their own cost, waiting follows."
	return &h
}

// longerOf returns that of two ranks that computes longer, and how long the other one does.
func longerOf(two []outliers.Worker) (set []outliers.Worker, other float64) {
	if two[0].Useful < two[1].Useful {
		return two[1:], two[0].Useful
	}
	return two[:1], two[1].Useful
}

// standsOut returns the duration from which on an instance stands out from those that take as long
// as usual, with this interquartile range.
func standsOut(usual, width float64) float64 { return max(longer*usual, usual+beyond*width) }

// besideLongest returns the duration from which on an instance counts beside the longest one: what
// is long only by comparison with the usual duration is noise beside much longer ones.
func besideLongest(usual, longest float64) float64 { return usual + likeLongest*(longest-usual) }

// longestInstance returns the duration in ns of the longest instance of a region on any rank.
func longestInstance(e *evidence, all []outliers.Worker, what accounts.Activity) (longest float64) {
	for _, w := range all {
		if top := e.TallyOf(w, what).Series.Top; len(top) > 0 {
			longest = max(longest, 1e9*top[0].Seconds)
		}
	}
	return longest
}

// lostAbove returns by how much the instances above a limit exceed the usual duration, in ns.
func lostAbove(e *evidence, all []outliers.Worker, what accounts.Activity, limit, usual float64) (lost float64) {
	for _, w := range all {
		n, ns := e.TallyOf(w, what).Spread.Above(limit)
		lost += ns - float64(n)*usual
	}
	return lost
}
