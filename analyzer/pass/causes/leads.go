package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
)

// In a trace of lead ranks (cairn reduce) a rank whose times are extrapolated from its lead keeps
// the recorded durations of its calls, whichever rank it waited for. The replay therefore finds
// none of these waits and keeps them all. The gain from less computation is estimated from the
// critical path instead, which goes through the ranks that the others wait for.

// beyondOnPath returns the time on the path, in ns, by which a set's computation exceeds the mean
// of others.
func beyondOnPath(e *evidence, set, others []outliers.Worker, in outliers.Scope) int64 {
	sum := 0.0
	for _, w := range set {
		for _, what := range e.Each[e.MainOf[w.Row]].Activities() {
			t := e.Each[e.MainOf[w.Row]].Tallies[what]
			if !in.Has(what) || t.Ns == 0 {
				continue
			}
			mean, _ := e.meanOf(others, what)
			sum += float64(t.Path) * max(0, 1-mean/float64(t.Ns))
		}
	}
	return int64(sum)
}

// unevenOnPath returns the computation on the path, in ns, beyond the mean of all ranks (Scalasca's
// critical-path imbalance). It is bounded by the excess of the busiest rank: in a pipeline the path
// contains the work of several ranks.
func unevenOnPath(e *evidence) int64 {
	sum, most, all := int64(0), int64(0), int64(0)
	for _, i := range e.MainOf {
		if i >= 0 {
			most, all = max(most, e.Each[i].Compute), all+e.Each[i].Compute
		}
	}
	for what, t := range e.Total {
		if what.Computes() {
			sum += max(0, t.Path-t.Ns/int64(max(1, len(e.Ranks))))
		}
	}
	return min(sum, most-all/int64(max(1, len(e.Ranks))))
}
