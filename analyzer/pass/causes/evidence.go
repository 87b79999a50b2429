package causes

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/owntime"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// evidence is what is known of a run. Hypotheses are suggested from it.
type evidence struct {
	*outliers.Comparison                   // of the ranks, by their accounts
	matched              *matching.Result  // nil if only sums are known, like all that follows
	profile              *profile.Findings // sizes of messages
	lacks                *owntime.Lacks    // why calls do not proceed
	cpus                 *cpus.CPUs        // nil: not known
	shared               bool              // ranks waited for a CPU so often that single durations of computations are unreliable

	everyone      func() []outliers.Worker          // ranks to compare, by all that they compute
	alone         func() *Aloneness                 // computation that ranks do alone
	evenly        func() (inTotal, eachTime change) // equal work
	unevenRegions func() []accounts.Activity        // computations in which a rank exceeds the mean most
}

func newEvidence(a *accounts.Accounts, on *cpus.CPUs) *evidence {
	e := &evidence{Comparison: outliers.New(a), cpus: on}
	e.everyone = sync.OnceValue(func() []outliers.Worker { return e.Workers(outliers.Spent, nil) })
	e.alone = sync.OnceValue(func() *Aloneness { return findAlone(e) })
	e.evenly = sync.OnceValues(func() (inTotal, eachTime change) { return divideEvenly(e) })
	e.unevenRegions = sync.OnceValue(func() []accounts.Activity { return findUneven(e) })
	return e
}

// findUneven returns the computations in which a rank exceeds the mean most.
func findUneven(e *evidence) []accounts.Activity {
	type region struct {
		what   accounts.Activity
		beyond float64
	}
	var list []region
	for what := range e.Total {
		if !what.Computes() {
			continue
		}
		sum, most := 0.0, 0.0
		for _, i := range e.MainOf {
			if i < 0 {
				continue
			}
			if t := e.Each[i].Tallies[what]; t != nil {
				sum, most = sum+float64(t.Ns), max(most, float64(t.Ns))
			}
		}
		if beyond := most - sum/float64(len(e.Ranks)); beyond >= minInRegion*float64(e.Run()) {
			list = append(list, region{what, beyond})
		}
	}
	slices.SortFunc(list, func(x, y region) int {
		return cmp.Or(cmp.Compare(y.beyond, x.beyond), accounts.CompareActivities(x.what, y.what))
	})
	var regions []accounts.Activity
	for _, r := range list[:min(len(list), maxRegions)] {
		regions = append(regions, r.what)
	}
	return regions
}

// meanOf returns the mean time in ns that ranks compute in a region, without their waits for a CPU,
// and how many of them execute it.
func (e *evidence) meanOf(workers []outliers.Worker, what accounts.Activity) (mean float64, n int) {
	for _, w := range workers {
		account := &e.Each[e.MainOf[w.Row]]
		if account.Tallies[what] != nil {
			ns, _ := account.Undelayed(what)
			mean += float64(ns)
			n++
		}
	}
	return mean / float64(max(1, len(workers))), n
}

// sumOf returns the time that ranks compute in a region, in seconds and without waits for a CPU,
// and the number of its instances.
func (e *evidence) sumOf(workers []outliers.Worker, what accounts.Activity) (sum float64, count uint64) {
	for _, w := range workers {
		if t := e.TallyOf(w, what); t != nil {
			ns, _ := e.Each[e.MainOf[w.Row]].Undelayed(what)
			sum += accounts.Seconds(ns)
			count += t.Count
		}
	}
	return sum, count
}

// usual returns the median over the ranks of a computation's median duration, in ns; 0 if it does
// not repeat.
func (e *evidence) usual(what accounts.Activity) float64 {
	var medians []float64
	for _, i := range e.MainOf {
		if i >= 0 {
			if t := e.Each[i].Tallies[what]; t != nil && t.Count >= accounts.Repeated {
				medians = append(medians, t.Spread.Quantile(0.5))
			}
		}
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	return medians[(len(medians)-1)/2]
}

// isWorthIt reports whether ns of a rank are enough for a hypothesis.
func (e *evidence) isWorthIt(ns int64) bool { return float64(ns) >= worthAsking*float64(e.Run()) }

// longestWait returns the longest time that a rank spent in wait states of some kinds.
func (e *evidence) longestWait(kinds ...waitstate.Kind) int64 {
	most := int64(0)
	for i := range e.matched.Tables {
		ns := int64(0)
		for p, t := range e.matched.Tables[i].Sites {
			if slices.Contains(kinds, p.Kind) {
				ns += t.Ns
			}
		}
		most = max(most, ns)
	}
	return most
}

// waitedFor returns the call site with the most waiting of some kinds, and the ranks that were
// waited for if few of them caused most of it.
func (e *evidence) waitedFor(kinds ...waitstate.Kind) (set []outliers.Worker, where accounts.Activity) {
	causes, sites := map[int]int64{}, map[accounts.Activity]int64{}
	all := int64(0)
	for i := range e.matched.Tables {
		t := &e.matched.Tables[i]
		for p, tally := range t.Partners {
			if slices.Contains(kinds, p.Kind) {
				causes[e.Locations[p.Cause].Row] += tally.Ns
				all += tally.Ns
			}
		}
		for p, tally := range t.Sites {
			if slices.Contains(kinds, p.Kind) {
				sites[accounts.Activity{Function: p.Function, Site: p.Site}] += tally.Ns
			}
		}
	}
	where, _ = largest(sites)
	for row, ns := range causes {
		set = append(set, outliers.Worker{Row: row, Useful: float64(ns)})
	}
	slices.SortFunc(set, func(x, y outliers.Worker) int {
		return cmp.Or(cmp.Compare(y.Useful, x.Useful), cmp.Compare(x.Row, y.Row))
	})
	sum := 0.0
	for i, w := range set {
		if sum += w.Useful; sum >= minWaitingShare*float64(all) {
			if float64(i+1) > maxRanks*float64(len(e.Ranks)) {
				return nil, where
			}
			return set[:i+1], where
		}
	}
	return nil, where
}

// largest returns the activity with the most time, and that time in ns.
func largest(times map[accounts.Activity]int64) (where accounts.Activity, most int64) {
	most = -1
	for what, ns := range times {
		if ns > most || ns == most && what.Less(where) {
			where, most = what, ns
		}
	}
	return where, max(0, most)
}

// atLeastHalf returns the ranks with at least half of what the first of them has, that one first.
func atLeastHalf(set []outliers.Worker) []outliers.Worker {
	slices.SortStableFunc(set, func(x, y outliers.Worker) int { return cmp.Compare(y.Useful, x.Useful) })
	return slices.DeleteFunc(set, func(w outliers.Worker) bool { return 2*w.Useful < set[0].Useful })
}

// isBetween reports whether a call belongs neither to the start of MPI nor to its end.
func (e *evidence) isBetween(function uint16, site uint32) bool {
	return e.KindOfCall(accounts.Activity{Function: function, Site: site}) != verdict.StartEnd
}

// startAndEnd returns the time of the path in MPI_Init and MPI_Finalize.
func (e *evidence) startAndEnd() (ns int64) {
	for what, t := range e.Total {
		if e.Names.StartsOrEnds(what) {
			ns += t.Path
		}
	}
	return ns
}

// costOf returns the own time of calls, in ns, in which nobody lacked a CPU or was stopped.
func (e *evidence) costOf(call accounts.Activity) int64 {
	return int64((1 - e.lacks.OfAll(call, lacking)) * float64(e.Total[call].Own()))
}

// lacking is the part of the own time of calls that they do not cost.
func lacking(_ int, p *owntime.Part) float64 { return p.Sum() }
