package criticalpath

import "github.com/cairn-mpi/cairn/trace"

// A rank that its CPU limit stops looks like one that computes more: the pauses are between its calls. What the kernel
// counted for its container (trace.ContextSample) tells them apart.

// throttled is for how long, in seconds, the worst rank of a set was stopped by its CPU limit beyond the mean of the others.
// It is 0 where that does not explain most of the time that the rank computes more than they do in a region, or where it is
// not known.
func (a *analysis) throttled(set, others []worker) float64 {
	if a.window != nil || len(others) == 0 {
		return 0 // it is counted over all of the run
	}
	own, known := throttling(&a.ranks[set[0].row])
	if !known {
		return 0
	}
	usual, stopped, n := 0.0, 0.0, float64(len(others))
	for _, o := range others {
		usual += a.seconds(a.accounts[a.mainOf[o.row]].compute)
		other, _ := throttling(&a.ranks[o.row])
		stopped += other
	}
	more, excess := own-stopped/n, a.seconds(a.accounts[a.mainOf[set[0].row]].compute)-usual/n
	if more <= 0 || more < explains*excess {
		return 0
	}
	return more
}

// throttling is for how long a rank's container was stopped between its first and its last sample, in seconds.
func throttling(r *trace.Rank) (seconds float64, known bool) {
	if len(r.Context) < 2 {
		return 0, false
	}
	first, last := r.Context[0].ThrottledNS, r.Context[len(r.Context)-1].ThrottledNS
	if first < 0 || last < 0 {
		return 0, false
	}
	return float64(last-first) / 1e9, true
}
