package causes

// In a trace of lead ranks (cairn reduce) a rank that another one stands for is in its calls for as long as that was, whoever
// it waited for. So the replay finds none of these waits, and keeps them all. What less computation would save is estimated by
// the critical path there: it goes through the ranks that the others wait for.

// beyondOnPath is what the path has, in ns, of what a set computes beyond the mean of others.
func (a *search) beyondOnPath(set, others []worker, in scope) int64 {
	sum := 0.0
	for _, w := range set {
		for _, what := range a.Each[a.MainOf[w.row]].Activities() {
			t := a.Each[a.MainOf[w.row]].Tallies[what]
			if !in.has(what) || t.Ns == 0 {
				continue
			}
			mean, _ := a.meanOf(others, what)
			sum += float64(t.Path) * max(0, 1-mean/float64(t.Ns))
		}
	}
	return int64(sum)
}

// unevenOnPath is what the path has of computations, in ns, beyond the mean of all ranks (Scalasca's critical-path imbalance),
// and no more than the busiest rank has: in a pipeline the path has the work of several ranks.
func (a *search) unevenOnPath() int64 {
	sum, most, all := int64(0), int64(0), int64(0)
	for _, i := range a.MainOf {
		if i >= 0 {
			most, all = max(most, a.Each[i].Compute), all+a.Each[i].Compute
		}
	}
	for what, t := range a.Total {
		if what.Computes() {
			sum += max(0, t.Path-t.Ns/int64(max(1, len(a.Ranks))))
		}
	}
	return min(sum, most-all/int64(max(1, len(a.Ranks))))
}
