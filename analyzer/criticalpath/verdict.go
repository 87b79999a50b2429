package criticalpath

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

const (
	lowEfficiency = 0.8  // from where on CPUs are blamed where nothing can be replayed
	muchLonger    = 0.05 // of the run: what a rank computes beyond the others that is said even if it is harmless
)

// decide makes the verdict of the causes that were found, in order, among all hypotheses.
func (a *search) decide(parallel *float64, causes, all []hypothesis) verdict.Verdict {
	list := make([]verdict.Cause, len(causes))
	for i := range causes {
		list[i] = causes[i].cause
	}
	facts := a.facts(parallel)
	facts.Harmless = a.harmless(all)
	return verdict.Of(list, facts)
}

// harmless are the ranks that compute longest beyond the others, if the run would hardly be shorter otherwise; nil: there are
// none.
func (a *search) harmless(all []hypothesis) *verdict.Cause {
	var most *hypothesis
	for i := range all {
		h := &all[i]
		if h.cause.Kind == verdict.Excess && h.promise >= muchLonger*inSeconds(a.run()) && (most == nil || h.promise > most.promise) {
			most = h
		}
	}
	if most == nil || a.share(a.run()-most.length) >= minPromise {
		return nil
	}
	return &most.cause
}

// facts are what the sentence says beside the causes.
func (a *search) facts(parallel *float64) verdict.Facts {
	f := verdict.Facts{
		RunSeconds: inSeconds(a.run()), Ranks: len(a.ranks), Parallel: parallel, SumsOnly: a.sums,
		StartEnd: inSeconds(a.startAndEnd()),
	}
	workers := a.workers(spent, nil)
	f.Ended = len(workers)
	for i, w := range workers {
		if i == 0 || w.useful < f.Least {
			f.Least = w.useful
		}
		f.Most = max(f.Most, w.useful)
	}
	if where, share := a.costliestCall(); where != (activity{}) {
		place := a.names.place(where.function, where.site)
		f.Costliest, f.CostliestShare = &place, share
		if t := a.total[where]; t.ns > 0 && !a.sums {
			f.CostliestWaits = new(float64(t.waited) / float64(t.ns))
		}
	}
	for i := range a.mainOf {
		if l := a.mainOf[i]; l >= 0 && a.each[l].untraced > 0 {
			f.UntracedSeconds += inSeconds(a.each[l].untraced)
		}
	}
	return f
}

// costliestCall is the call site that costs all ranks together most time, and its part of that.
func (a *search) costliestCall() (where activity, share float64) {
	most, all := int64(0), int64(0)
	for k, t := range a.total {
		all += t.ns
		if !k.computes() && (t.ns > most || t.ns == most && k.less(where)) {
			most, where = t.ns, k
		}
	}
	if most == 0 {
		return activity{}, 0
	}
	return where, float64(most) / float64(all)
}

// decideBySums makes the verdict that sums suffice for. Nothing can be replayed, so that no gain is known.
func (a *search) decideBySums(parallel, communication *float64) verdict.Verdict {
	var causes []hypothesis
	enough := func(h *hypothesis) bool { return h.estimated == 0 || a.share(h.estimated) >= minGain[h.cause.Kind] }
	for _, h := range []*hypothesis{a.limits(), a.fewCPUs()} {
		if h != nil && enough(h) && communication != nil && *communication < lowEfficiency {
			causes = append(causes, *h)
		}
	}
	if list := a.suspect(nil, 1); len(list) > 0 {
		causes = append(causes, a.excess(list[0], nil))
	} else if h := a.slowestWorker(); h != nil {
		causes = append(causes, *h)
	} else if workers := a.unequal(false); workers != nil {
		causes = append(causes, hypothesis{cause: a.imbalance(workers, a.mostUnequal(workers), false)})
	}
	causes = causes[:min(len(causes), maxCauses)]
	return a.decide(parallel, causes, nil)
}

// slowestWorker is a rank that takes longer for each task than others, and is given fewer of them; nil: there is none.
func (a *search) slowestWorker() *hypothesis {
	regions := a.unevenRegions()
	for _, what := range regions {
		if h := a.slowWorker(what, len(regions)); h != nil {
			return h
		}
	}
	return nil
}

// inPhases says in which phase each cause is, where the program has several loops and one of them alone has its call.
func inPhases(causes []hypothesis, f *phases.Findings) []hypothesis {
	loops := slices.DeleteFunc(slices.Clone(f.Phases), func(p phases.Phase) bool { return !p.Loop })
	if len(loops) < 2 {
		return causes
	}
	causes = slices.Clone(causes)
	for i := range causes {
		c := &causes[i].cause
		at := slices.DeleteFunc(slices.Clone(loops), func(p phases.Phase) bool {
			return !slices.ContainsFunc(p.CallSites, func(site string) bool { return strings.Contains(site, c.Before.CallSite) })
		})
		if len(at) == 1 && c.Before.CallSite != "" {
			c.Phase = at[0].Name
		}
	}
	return causes
}
