package accounts

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An Activity is the key of the tables: a function at a call site, or the computation between two
// such calls.
type Activity struct {
	Function uint16 // of the call, or of the call before the computation
	Next     uint16 // of the call after the computation; 0 for a call
	Site     uint32
	NextSite uint32
}

// Computes reports whether it is a computation between two calls.
func (a Activity) Computes() bool { return a.Next != 0 }

// Hash returns a hash for package recent.
func (a Activity) Hash() uint32 {
	return uint32(a.Function)<<8 ^ uint32(a.Next) ^ a.Site<<16 ^ a.NextSite<<20
}

// kindOf returns the kind of calls with semantics f.
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

// A Tally is the time that one rank, or all, spent on an activity.
type Tally struct {
	Count   uint64
	Ns      int64
	Waited  int64
	Idle    int64  // of polls: between two of them
	Gaps    uint64 // of polls: the number of times
	Path    int64
	Beside  int64     // of a computation: while other threads of the process were inside MPI
	squares float64   // of durations in seconds
	Spread  Histogram // durations of a computation; of a call that does not poll, without waiting
	First   []float32 // the first durations of a computation, in seconds
	// Series is the durations of Spread in order. Of a call only the longest ones are kept.
	Series series.Series
}

// spread adds the duration of a call without waiting, in ns.
func (t *Tally) spread(ns int64) {
	t.Spread.add(ns)
	if t.Series.Count == 0 {
		t.Series = series.Of(2)
	}
	t.Series.Add(float64(ns) / 1e9)
}

func (t *Tally) add(o *Tally) {
	t.Count += o.Count
	t.Ns += o.Ns
	t.Waited += o.Waited
	t.Idle += o.Idle
	t.Gaps += o.Gaps
	t.Path += o.Path
	t.Beside += o.Beside
	t.squares += o.squares
}

// Own returns the time inside calls without waiting for other ranks.
func (t *Tally) Own() int64 { return t.Ns - max(t.Waited, t.Idle) }

// Late returns the time between polls, at least, in which what they ask for was there already.
func (t *Tally) Late() int64 { return max(0, t.Idle-t.Waited) }

// Undisturbed returns the total time if each instance had taken the lower fifth (quantile 0.2), and
// its variance: that of a quantile is p(1−p) / (n f²), with the density f estimated from the
// quantiles 0.05 and 0.35. On a machine with fewer cores than ranks most instances are disturbed;
// the fastest fifth shows the actual work. It returns 0 for a computation with less than Repeated
// instances, which are too few for a distribution.
func (t *Tally) Undisturbed() (seconds, variance float64) {
	n := float64(t.Count)
	if n < Repeated {
		return 0, 0
	}
	width := (t.Spread.Quantile(0.35) - t.Spread.Quantile(0.05)) / 0.30 / 1e9
	return n * t.Spread.Quantile(0.2) / 1e9, n * 0.16 * width * width
}

// Typical is the same for the median, with the variance estimated from the interquartile range:
// (0.93 IQR)² / n.
func (t *Tally) Typical() (seconds, variance float64) {
	n := float64(t.Count)
	if n < Repeated {
		return 0, 0
	}
	width := (t.Spread.Quantile(0.75) - t.Spread.Quantile(0.25)) / 1e9
	return n * t.Spread.Quantile(0.5) / 1e9, n * (0.93 * width) * (0.93 * width)
}

// Longest returns how much longer, in nanoseconds, the longest instance took than the lower fifth;
// 0 for a computation that does not repeat.
func (t *Tally) Longest() int64 {
	if t.Count < Repeated {
		return 0
	}
	return max(0, int64(lower(t.Spread[len(t.Spread)-1].index)-t.Spread.Quantile(0.2)))
}

// Varies reports whether instances differ so much that their mean is not typical: the mean is not
// near the median, or the middle half is wide.
func (t *Tally) Varies() bool {
	if t.Count < 2 || len(t.Spread) == 0 {
		return false
	}
	median, mean := t.Spread.Quantile(0.5), float64(t.Ns)/float64(t.Count)
	return math.Abs(mean-median) > atypical*median || t.Spread.Quantile(0.75)-t.Spread.Quantile(0.25) > 2*atypical*median
}

// atypical is the distance of a mean from the median, as a fraction, from which on it is not
// typical.
const atypical = 0.2

// Spent returns the total time and its variance.
func (t *Tally) Spent() (seconds, variance float64) {
	return float64(t.Ns) / 1e9, float64(t.Count) * t.Variance()
}

// Variance returns the variance of one duration in s².
func (t *Tally) Variance() float64 {
	if t.Count < 2 {
		return 0
	}
	n, sum := float64(t.Count), float64(t.Ns)/1e9
	return max(0, (t.squares-sum*sum/n)/(n-1))
}

// Repeated is the number of instances from which on a computation counts as repeated.
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

// CompareActivities returns −1, 0 or 1 if x is before, equal to or after y.
func CompareActivities(x, y Activity) int {
	switch {
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}
