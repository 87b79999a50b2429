package accounts

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An Activity is what the tables are keyed by: a function at a call site, or the computation between two such calls.
type Activity struct {
	Function uint16 // of the call, or of the call before the computation
	Next     uint16 // of the call after the computation; 0 for a call
	Site     uint32
	NextSite uint32
}

// Computes reports whether it is computation between two calls, and no call.
func (a Activity) Computes() bool { return a.Next != 0 }

// Hash is for package recent.
func (a Activity) Hash() uint32 {
	return uint32(a.Function)<<8 ^ uint32(a.Next) ^ a.Site<<16 ^ a.NextSite<<20
}

// kindOf is the kind of calls that mean f.
func kindOf(f *semantics.Function) Kind {
	switch {
	case f.Operation == semantics.Initialize:
		return Initialization
	case f.Operation == semantics.Finalize:
		return Finalization
	case f.IsFileOperation():
		return InputOutput
	}
	return Communication
}

// A Tally is how much time one rank, or all, spent on an activity.
type Tally struct {
	Count   uint64
	Ns      int64
	Waited  int64
	Path    int64
	squares float64 // of durations in seconds
	Spread  Histogram
	First   []float32 // the first durations of a computation, in seconds
}

func (t *Tally) add(o *Tally) {
	t.Count += o.Count
	t.Ns += o.Ns
	t.Waited += o.Waited
	t.Path += o.Path
	t.squares += o.squares
}

// Undisturbed is how long all would have taken if each had taken the time that a fifth of them did not exceed, and the
// variance of that: of a quantile it is p(1−p) / (n f²), with the density f estimated from the quantiles 0.05 and 0.35.
// On a machine that has fewer cores than ranks, most of the others are disturbed; the fastest fifth shows the work.
// A few say nothing of a distribution: only what repeats counts.
func (t *Tally) Undisturbed() (seconds, variance float64) {
	n := float64(t.Count)
	if n < Repeated {
		return 0, 0
	}
	width := (t.Spread.Quantile(0.35) - t.Spread.Quantile(0.05)) / 0.30 / 1e9
	return n * t.Spread.Quantile(0.2) / 1e9, n * 0.16 * width * width
}

// Typical is the same for the median, of whose variance the interquartile range tells: (0.93 IQR)² / n.
func (t *Tally) Typical() (seconds, variance float64) {
	n := float64(t.Count)
	if n < Repeated {
		return 0, 0
	}
	width := (t.Spread.Quantile(0.75) - t.Spread.Quantile(0.25)) / 1e9
	return n * t.Spread.Quantile(0.5) / 1e9, n * (0.93 * width) * (0.93 * width)
}

// Longest is by how much, in nanoseconds, one instance of what repeats took longer than undisturbed.
func (t *Tally) Longest() int64 {
	if t.Count < Repeated {
		return 0
	}
	return max(0, int64(lower(t.Spread[len(t.Spread)-1].index)-t.Spread.Quantile(0.2)))
}

// Spent is the time itself.
func (t *Tally) Spent() (seconds, variance float64) {
	return float64(t.Ns) / 1e9, float64(t.Count) * t.Variance()
}

// Variance is that of one duration, in s².
func (t *Tally) Variance() float64 {
	if t.Count < 2 {
		return 0
	}
	n, sum := float64(t.Count), float64(t.Ns)/1e9
	return max(0, (t.squares-sum*sum/n)/(n-1))
}

// Repeated is from how many times on a computation repeats.
const Repeated = 10

// Less orders activities.
func (a Activity) Less(b Activity) bool {
	switch {
	case a.Function != b.Function:
		return a.Function < b.Function
	case a.Site != b.Site:
		return a.Site < b.Site
	case a.Next != b.Next:
		return a.Next < b.Next
	}
	return a.NextSite < b.NextSite
}

// CompareActivities is −1, 0 or 1 as x is before y, is y, or is after it.
func CompareActivities(x, y Activity) int {
	switch {
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}
