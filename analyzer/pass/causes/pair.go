package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
)

// Two ranks. There is no third one that tells how much equal ranks differ, and they do without any
// fault: threads of one core share its units, so that a CPU of a shared machine computes up to 1.8
// times as long, for seconds, while its neighbor is busy. The kernel does not count that. Over a
// longer time it evens out (make bench-cpus measures it).

// leastRatio returns how much longer one of two ranks has to compute than the other, so that more
// than chance is behind it, if they computed side by side for some seconds.
func leastRatio(seconds float64) float64 {
	return 1 + min(mostByChance, max(leastByChance, chanceSeconds/max(seconds, 1e-9)))
}

// byChance reports whether two ranks differ in a scope by no more than equal CPUs may in such a
// time: that of the run if the scope is mostly computations that repeat, otherwise their own.
func byChance(e *evidence, workers []outliers.Worker, in outliers.Scope) bool {
	if len(workers) != 2 {
		return false
	}
	longer, other := workers[0], workers[1]
	if longer.Useful < other.Useful {
		longer, other = other, longer
	}
	all, repeated := int64(0), int64(0)
	for what, t := range e.Each[e.MainOf[longer.Row]].Tallies {
		if !in.Has(what) {
			continue
		}
		if all += t.Ns; t.Count >= accounts.Repeated {
			repeated += t.Ns
		}
	}
	seconds := accounts.Seconds(all)
	if 2*repeated >= all {
		seconds = accounts.Seconds(e.Run() - e.startAndEnd())
	}
	return longer.Useful < leastRatio(seconds)*other.Useful
}
