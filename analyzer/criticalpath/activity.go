package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An activity is what the tables are keyed by: a function at a call site, or the computation between two such calls.
type activity struct {
	function uint16 // of the call, or of the call before the computation
	next     uint16 // of the call after the computation; 0 for a call
	site     uint32
	nextSite uint32
}

func (a activity) computes() bool { return a.next != 0 }

// hash is for package recent.
func (a activity) hash() uint32 {
	return uint32(a.function)<<8 ^ uint32(a.next) ^ a.site<<16 ^ a.nextSite<<20
}

// kindOf is the kind of calls that mean f.
func kindOf(f *semantics.Function) accounts.Kind {
	switch {
	case f.Operation == semantics.Initialize:
		return accounts.Initialization
	case f.Operation == semantics.Finalize:
		return accounts.Finalization
	case f.IsFileOperation():
		return accounts.InputOutput
	}
	return accounts.Communication
}

// A tally is how much time one rank, or all, spent on an activity.
type tally struct {
	count   uint64
	ns      int64
	waited  int64
	path    int64
	squares float64 // of durations in seconds
	spread  histogram
	first   []float32 // the first durations of a computation, in seconds
}

func (t *tally) add(o *tally) {
	t.count += o.count
	t.ns += o.ns
	t.waited += o.waited
	t.path += o.path
	t.squares += o.squares
}

// undisturbed is how long all would have taken if each had taken the time that a fifth of them did not exceed, and the
// variance of that: of a quantile it is p(1−p) / (n f²), with the density f estimated from the quantiles 0.05 and 0.35.
// On a machine that has fewer cores than ranks, most of the others are disturbed; the fastest fifth shows the work.
// A few say nothing of a distribution: only what repeats counts.
func (t *tally) undisturbed() (seconds, variance float64) {
	n := float64(t.count)
	if n < repeated {
		return 0, 0
	}
	width := (t.spread.quantile(0.35) - t.spread.quantile(0.05)) / 0.30 / 1e9
	return n * t.spread.quantile(0.2) / 1e9, n * 0.16 * width * width
}

// typical is the same for the median, of whose variance the interquartile range tells: (0.93 IQR)² / n.
func (t *tally) typical() (seconds, variance float64) {
	n := float64(t.count)
	if n < repeated {
		return 0, 0
	}
	width := (t.spread.quantile(0.75) - t.spread.quantile(0.25)) / 1e9
	return n * t.spread.quantile(0.5) / 1e9, n * (0.93 * width) * (0.93 * width)
}

// longest is by how much, in nanoseconds, one instance of what repeats took longer than undisturbed.
func (t *tally) longest() int64 {
	if t.count < repeated {
		return 0
	}
	return max(0, int64(lower(t.spread[len(t.spread)-1].index)-t.spread.quantile(0.2)))
}

// spent is the time itself.
func (t *tally) spent() (seconds, variance float64) {
	return float64(t.ns) / 1e9, float64(t.count) * t.variance()
}

// variance is that of one duration, in s².
func (t *tally) variance() float64 {
	if t.count < 2 {
		return 0
	}
	n, sum := float64(t.count), float64(t.ns)/1e9
	return max(0, (t.squares-sum*sum/n)/(n-1))
}

// repeated is from how many times on a computation repeats.
const repeated = 10

// less orders activities.
func (a activity) less(b activity) bool {
	switch {
	case a.function != b.function:
		return a.function < b.function
	case a.site != b.site:
		return a.site < b.site
	case a.next != b.next:
		return a.next < b.next
	}
	return a.nextSite < b.nextSite
}

// compareActivities is −1, 0 or 1 as x is before y, is y, or is after it.
func compareActivities(x, y activity) int {
	switch {
	case x.less(y):
		return -1
	case y.less(x):
		return 1
	}
	return 0
}
