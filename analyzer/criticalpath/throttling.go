package criticalpath

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A rank that its CPU limit stops looks like one that computes more: the pauses are between its calls. What the kernel
// counted for its container (trace.ContextSample) tells them apart.

// explains is the part of a rank's excess from which on throttling is its reason.
const explains = 0.5

// throttled is for how long, in seconds, the worst rank of a set was stopped by its CPU limit beyond the mean of the ranks
// outside the set. It is 0 where that does not explain most of the time that the rank computes more than they do, or
// where it is not known.
func (a *analysis) throttled(set []worker) float64 {
	if a.window != nil {
		return 0 // it is counted over all of the run
	}
	worst := set[0].row
	own, known := throttling(&a.ranks[worst])
	if !known {
		return 0
	}
	spent, usual, stopped, n := 0.0, 0.0, 0.0, 0.0
	for _, w := range a.workers((*tally).spent) {
		switch {
		case w.row == worst:
			spent = w.useful
		case !slices.ContainsFunc(set, func(s worker) bool { return s.row == w.row }):
			usual += w.useful
			other, _ := throttling(&a.ranks[w.row])
			stopped += other
			n++
		}
	}
	if n == 0 {
		return 0
	}
	more, excess := own-stopped/n, spent-usual/n
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
