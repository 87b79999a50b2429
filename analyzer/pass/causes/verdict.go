package causes

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// decide makes the verdict of the selected causes, in order, among all hypotheses.
func decide(e *evidence, parallel *float64, causes, all []Hypothesis) verdict.Verdict {
	list := make([]verdict.Cause, len(causes))
	for i := range causes {
		list[i] = causes[i].Cause
	}
	facts := factsOf(e, parallel)
	facts.Harmless, facts.Yielding = harmless(e, all), yielding(e)
	facts.Chance = slices.ContainsFunc(all, func(h Hypothesis) bool { return h.chance && (e.Sums || gainsEnough(e, &h, e.Run())) })
	return verdict.Of(list, facts)
}

// harmless returns the ranks that exceed the others most, if the run would hardly be shorter
// without it; otherwise nil.
func harmless(e *evidence, all []Hypothesis) *verdict.Cause {
	var most *Hypothesis
	for i := range all {
		h := &all[i]
		if !e.Sums && h.Cause.Kind == verdict.Excess && h.promise >= muchLonger*accounts.Seconds(e.Run()) && (most == nil || h.promise > most.promise) {
			most = h
		}
	}
	if most == nil || e.Share(e.Run()-most.length) >= MinPromise {
		return nil
	}
	return &most.Cause
}

// factsOf returns the data of the sentence besides the causes.
func factsOf(e *evidence, parallel *float64) verdict.Facts {
	f := verdict.Facts{
		RunSeconds: accounts.Seconds(e.Run()), Ranks: len(e.Ranks), Parallel: parallel, SumsOnly: e.Sums,
		StartEnd: accounts.Seconds(e.startAndEnd()),
	}
	f.OneHost = !slices.ContainsFunc(e.Ranks, func(r trace.Rank) bool { return r.Host != e.Ranks[0].Host })
	workers := e.everyone()
	f.Ended = len(workers)
	for i, w := range workers {
		if i == 0 || w.Useful < f.Least {
			f.Least = w.Useful
		}
		f.Most = max(f.Most, w.Useful)
	}
	if where, share := costliestCall(e); where != (accounts.Activity{}) {
		place := e.Names.Call(where.Function, where.Site)
		f.Costliest, f.CostliestShare = &place, share
		if t := e.Total[where]; t.Ns > 0 && !e.Sums {
			f.CostliestWaits = new(float64(t.Waited) / float64(t.Ns))
		}
	}
	for i := range e.MainOf {
		l := e.MainOf[i]
		if l < 0 {
			continue
		}
		f.UntracedSeconds += accounts.Seconds(max(0, e.Each[l].Untraced))
		for _, o := range e.Each[l].OffCPU {
			share := 1 / float64(len(e.MainOf))
			f.Delayed, f.Blocked = f.Delayed+share*e.Share(o.Delayed+o.Stolen), f.Blocked+share*e.Share(o.Blocked)
			f.OwnThreads, f.InCalls = f.OwnThreads+share*e.Share(o.Threads), f.InCalls+share*e.Share(o.InCalls)
		}
	}
	return f
}

// costliestCall returns the call site with the largest total time over all ranks, and its fraction
// of the total.
func costliestCall(e *evidence) (where accounts.Activity, share float64) {
	most, all := int64(0), int64(0)
	for k, t := range e.Total {
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
func decideBySums(e *evidence, parallel, communication *float64) verdict.Verdict {
	var causes []Hypothesis
	enough := func(h *Hypothesis) bool {
		return h.estimated == 0 || e.Share(h.estimated) >= leastGainOf(h.Cause.Kind, verdict.NoForm)
	}
	if communication != nil && *communication < lowEfficiency {
		for _, h := range suggest(e, []cause{cpuLimits{}, fewCPUs{}}) {
			if enough(&h) {
				causes = append(causes, h)
			}
		}
	}
	if list := e.Suspect(nil, 1); len(list) > 0 {
		causes = append(causes, excessOf(e, list[0], nil))
	} else if list := (slowWorkers{}).suggest(e); len(list) > 0 {
		causes = append(causes, list[0])
	} else if workers := unequalRanks(e, false); workers != nil {
		causes = append(causes, Hypothesis{Cause: imbalance(e, workers, mostUnequal(e, workers), nil), chance: byChance(e, workers, nil)})
	}
	all := causes
	causes = slices.DeleteFunc(slices.Clone(all), func(h Hypothesis) bool { return h.chance })
	return decide(e, parallel, causes[:min(len(causes), maxCauses)], all)
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
