package causes

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// slowRanks is ranks that compute longer than the others: in one region, or everywhere.
type slowRanks struct{}

func (slowRanks) suggest(e *evidence) (list []Hypothesis) {
	regions := e.unevenRegions()
	questions := len(regions) + 1
	for _, what := range regions {
		for _, s := range e.Suspect(outliers.Only(what), questions) {
			list = append(list, excessOf(e, s, &what))
		}
	}
	for _, s := range e.Suspect(nil, questions) {
		list = append(list, excessOf(e, s, nil))
		if parts := byRegion(e, s); len(parts) > 1 {
			list[len(list)-1].joins = len(list)
			joint := len(list)
			for _, part := range parts {
				h := excessOf(e, part, nil)
				h.partOf = joint
				list = append(list, h)
			}
		}
	}
	return list
}

// byRegion splits ranks that compute longer than the others by region: different regions have
// different reasons. All ranks of one pod or node stay together.
func byRegion(e *evidence, s *outliers.Suspicion) []*outliers.Suspicion {
	if e.ScopeOf(s.Set) != "" {
		return []*outliers.Suspicion{s}
	}
	var places []accounts.Activity
	byPlace := map[accounts.Activity][]outliers.Worker{}
	usual := e.UsualOf(outliers.Except(s.Workers, s.Set), nil)
	for _, w := range s.Set {
		where, _ := e.Where(w, usual, nil)
		if byPlace[where] == nil {
			places = append(places, where)
		}
		byPlace[where] = append(byPlace[where], w)
	}
	var list []*outliers.Suspicion
	for _, where := range places {
		one := *s
		one.Set, one.Workers = byPlace[where], outliers.Except(s.Workers, outliers.Except(s.Set, byPlace[where]))
		list = append(list, &one)
	}
	return list
}

// excessOf returns the hypothesis that a set of ranks computes as long as the others do, in one
// region or, if region is nil, in all.
func excessOf(e *evidence, s *outliers.Suspicion, region *accounts.Activity) Hypothesis {
	worst := s.Set[0]
	var in outliers.Scope
	if region != nil {
		in = outliers.Only(*region)
	}
	others := outliers.Except(s.Workers, s.Set)
	where, _ := e.Where(worst, e.UsualOf(others, in), in)
	h := Hypothesis{width: oneRegion, promise: worst.Useful - s.Mean, Cause: e.causeOf(verdict.Excess, s.Set, where)}
	h.Cause.Form = verdict.Always
	compareEach(e, &h.Cause, worst, others, where)
	if region == nil {
		h.width = allRegions
	}
	h.change = likeTheOthers(e, s.Set, others, in, false)
	h.shared = func() change { return sharedBy(e, s.Set, others, in) }
	setReason(e, &h.Cause, s.Set, others, where, false)
	h.takeOwnWaits(e, s.Set, others, where, in)
	h.ofWaits = h.Cause.Form == verdict.Preempted
	if h.Cause.Form == verdict.Always && h.Cause.EachSeconds == 0 {
		// all that it was longer is waits for a CPU, of which other causes say what they cost
		h.doubt = func(*Hypothesis, *played) bool { return true }
	}
	h.chance = h.Cause.Form == verdict.Always && !hasReason(&h.Cause) && byChance(e, s.Workers, in)
	if e.OfLeads {
		h.estimated = beyondOnPath(e, s.Set, others, in)
	}
	h.What = fmt.Sprintf("%s computed as long as the others", h.Cause.Who())
	if region != nil {
		h.What += " " + verdict.Between(h.Cause.After, h.Cause.Before)
	}
	h.Assumes = "Its computation takes as long as that of the other ranks on average; calls keep their own cost, waiting follows."
	return h
}

// likeTheOthers makes a set compute as long as the others, region by region. In regions where
// hardly any other rank computes, its excess is removed from the total instead. waits: without its
// waits for a CPU, too.
func likeTheOthers(e *evidence, set, others []outliers.Worker, in outliers.Scope, waits bool) change {
	factors, usual := map[int]map[accounts.Activity]float64{}, map[int]float64{}
	all := 0.0 // mean computation of the others
	type usually struct {
		mean float64
		n    int
	}
	usualIn := map[accounts.Activity]usually{}
	for _, what := range e.Sorted(in.Has, func(t *accounts.Tally) int64 { return t.Ns }) {
		mean, n := e.meanOf(others, what)
		usualIn[what] = usually{mean, n}
		all += mean
	}
	for _, w := range set {
		i := e.MainOf[w.Row]
		factors[i] = map[accounts.Activity]float64{}
		excess, elsewhere := -all, 0.0
		for _, what := range e.Each[i].Activities() {
			t := e.Each[i].Tallies[what]
			if !in.Has(what) || t.Ns == 0 {
				continue
			}
			mine := t.Ns
			if !waits {
				mine, _ = e.Each[i].Undelayed(what)
			}
			excess += float64(mine)
			u := usualIn[what]
			if 2*u.n < len(others) {
				elsewhere += float64(t.Ns)
				continue
			}
			excess -= float64(mine) - u.mean
			factors[i][what] = min(1, 1-(float64(mine)-u.mean)/float64(t.Ns))
		}
		if usual[i] = 1; elsewhere > 0 {
			usual[i] = max(0, min(1, 1-excess/elsewhere))
		}
	}
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		own, is := factors[location]
		what := activityOf(r)
		if !is || !in.Has(what) {
			return ns
		}
		if f, known := own[what]; known {
			return int64(f * float64(ns))
		}
		return int64(usual[location] * float64(ns))
	}}
}

// sharedBy makes a set and the others share, in total, what the set computes longer than the others
// in the regions of a scope. Regions that only some of them execute are treated as one, because
// ranks may do the same work in different regions. Waits for a CPU stay.
func sharedBy(e *evidence, set, others []outliers.Worker, in outliers.Scope) change {
	both := slices.Concat(set, others)
	factors, rest, spent := map[int]map[accounts.Activity]float64{}, map[int]float64{}, map[int]float64{}
	sum := 0.0
	for _, w := range both {
		factors[e.MainOf[w.Row]] = map[accounts.Activity]float64{}
	}
	for _, what := range e.Sorted(in.Has, func(t *accounts.Tally) int64 { return t.Ns }) {
		longer, there := e.meanOf(set, what)
		if usual, _ := e.meanOf(others, what); there > 0 && longer <= usual {
			continue
		}
		mean, n := e.meanOf(both, what)
		for _, w := range both {
			i, t := e.MainOf[w.Row], e.TallyOf(w, what)
			if t == nil || t.Ns == 0 {
				continue
			}
			mine, _ := e.Each[i].Undelayed(what)
			if n == len(both) {
				factors[i][what] = max(0, 1-(float64(mine)-mean)/float64(t.Ns))
				continue
			}
			rest[i], spent[i], sum = rest[i]+float64(mine), spent[i]+float64(t.Ns), sum+float64(mine)
			factors[i][what] = -1
		}
	}
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		f, is := factors[location][activityOf(r)]
		switch {
		case !is:
			return ns
		case f < 0:
			f = max(0, 1-(rest[location]-sum/float64(len(both)))/spent[location])
		}
		return int64(f * float64(ns))
	}}
}
