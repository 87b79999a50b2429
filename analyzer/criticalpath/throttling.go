package criticalpath

import "github.com/cairn-mpi/cairn/trace"

// A rank that its CPU limit stops looks like one that computes more: the pauses are between its calls. What the kernel
// counted for its container (trace.ContextSample) tells them apart.

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
