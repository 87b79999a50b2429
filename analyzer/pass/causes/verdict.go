package causes

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

const (
	lowEfficiency = 0.8  // below it CPUs can be a cause if there is no replay
	muchLonger    = 0.05 // of the run: minimum excess of a rank that is reported even if it is harmless
)

// decide makes the verdict of the selected causes, in order, among all hypotheses.
func (a *search) decide(parallel *float64, causes, all []Hypothesis) verdict.Verdict {
	list := make([]verdict.Cause, len(causes))
	for i := range causes {
		list[i] = causes[i].Cause
	}
	facts := a.facts(parallel)
	facts.Harmless = a.harmless(all)
	return verdict.Of(list, facts)
}

// harmless returns the ranks that exceed the others most, if the run would hardly be shorter
// without it; otherwise nil.
func (a *search) harmless(all []Hypothesis) *verdict.Cause {
	var most *Hypothesis
	for i := range all {
		h := &all[i]
		if h.Cause.Kind == verdict.Excess && h.promise >= muchLonger*accounts.Seconds(a.Run()) && (most == nil || h.promise > most.promise) {
			most = h
		}
	}
	if most == nil || a.Share(a.Run()-most.length) >= MinPromise {
		return nil
	}
	return &most.Cause
}

// facts returns the data of the sentence besides the causes.
func (a *search) facts(parallel *float64) verdict.Facts {
	f := verdict.Facts{
		RunSeconds: accounts.Seconds(a.Run()), Ranks: len(a.Ranks), Parallel: parallel, SumsOnly: a.Sums,
		StartEnd: accounts.Seconds(a.startAndEnd()),
	}
	workers := a.workers(spent, nil)
	f.Ended = len(workers)
	for i, w := range workers {
		if i == 0 || w.useful < f.Least {
			f.Least = w.useful
		}
		f.Most = max(f.Most, w.useful)
	}
	if where, share := a.costliestCall(); where != (accounts.Activity{}) {
		place := a.Names.Call(where.Function, where.Site)
		f.Costliest, f.CostliestShare = &place, share
		if t := a.Total[where]; t.Ns > 0 && !a.Sums {
			f.CostliestWaits = new(float64(t.Waited) / float64(t.Ns))
		}
	}
	for i := range a.MainOf {
		if l := a.MainOf[i]; l >= 0 && a.Each[l].Untraced > 0 {
			f.UntracedSeconds += accounts.Seconds(a.Each[l].Untraced)
		}
	}
	return f
}

// costliestCall returns the call site with the largest total time over all ranks, and its fraction
// of the total.
func (a *search) costliestCall() (where accounts.Activity, share float64) {
	most, all := int64(0), int64(0)
	for k, t := range a.Total {
		all += t.Ns
		if !k.Computes() && (t.Ns > most || t.Ns == most && k.Less(where)) {
			most, where = t.Ns, k
		}
	}
	if most == 0 {
		return accounts.Activity{}, 0
	}
	return where, float64(most) / float64(all)
}

// decideBySums makes the verdict from sums alone. There is no replay, so no gain is known.
func (a *search) decideBySums(parallel, communication *float64) verdict.Verdict {
	var causes []Hypothesis
	enough := func(h *Hypothesis) bool { return h.estimated == 0 || a.Share(h.estimated) >= minGain[h.Cause.Kind] }
	for _, h := range []*Hypothesis{a.limits(), a.fewCPUs()} {
		if h != nil && enough(h) && communication != nil && *communication < lowEfficiency {
			causes = append(causes, *h)
		}
	}
	if list := a.suspect(nil, 1); len(list) > 0 {
		causes = append(causes, a.excess(list[0], nil))
	} else if h := a.slowestWorker(); h != nil {
		causes = append(causes, *h)
	} else if workers := a.unequal(false); workers != nil {
		causes = append(causes, Hypothesis{Cause: a.imbalance(workers, a.mostUnequal(workers), false)})
	}
	causes = causes[:min(len(causes), maxCauses)]
	return a.decide(parallel, causes, nil)
}

// slowestWorker returns the hypothesis about a rank that takes longer per task than others and gets
// fewer of them, nil if there is none.
func (a *search) slowestWorker() *Hypothesis {
	regions := a.unevenRegions()
	for _, what := range regions {
		if h := a.slowWorker(what, len(regions)); h != nil {
			return h
		}
	}
	return nil
}

// inPhases sets the phase of each cause if the program has several loops and only one of them
// contains its call.
func inPhases(causes []Hypothesis, f *phases.Findings) []Hypothesis {
	loops := slices.DeleteFunc(slices.Clone(f.Phases), func(p phases.Phase) bool { return !p.Loop })
	if len(loops) < 2 {
		return causes
	}
	causes = slices.Clone(causes)
	for i := range causes {
		c := &causes[i].Cause
		at := slices.DeleteFunc(slices.Clone(loops), func(p phases.Phase) bool {
			return !slices.ContainsFunc(p.CallSites, func(site string) bool { return strings.Contains(site, c.Before.CallSite) })
		})
		if len(at) == 1 && c.Before.CallSite != "" {
			c.Phase = at[0].Name
		}
	}
	return causes
}
