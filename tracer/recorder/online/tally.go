package online

import (
	"iter"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// An Interval summarizes the calls of a thread between two markers.
type Interval struct {
	calls      uint64
	behavior   uint64 // hash of functions and call sites, in order
	exact      uint64 // hash of terminals, in order
	gap        int64  // sums
	duration   int64
	nested     bool // some call was nested in another one
	overflowed bool // it has too many calls for the lead's times to be used: its own are not buffered any more
}

// repeat extends an interval to factor repetitions of itself.
func (n *Interval) repeat(factor int) {
	n.behavior, n.exact = repeated(n.behavior, n.calls, factor), repeated(n.exact, n.calls, factor)
	n.calls *= uint64(factor)
}

// A Tally is the state of a thread that is compared between ranks and between intervals: the
// current interval, the closed one that a vote is under way on, and the one before it.
type Tally struct {
	now, closed, before Interval
	// broken reports that before, or an earlier interval, differed from its predecessor, and that
	// the votes since then decided nothing.
	broken         bool
	stride         uint64   // hash of the calls since the last blocking collective of all processes
	marks          []uint64 // by vote: number of calls before it
	extrapolations []trace.Extrapolation
	holds          []trace.Overhead // overhead of the tracer
}

// A Thread is a thread of a process with its tally. Lists of threads are ordered by number.
type Thread struct {
	Number uint32
	Calls  uint64
	Tally  *Tally
}

// A TimesAction is what the recorder must do with the times of a call.
type TimesAction uint8

// The actions on times.
const (
	Keep     TimesAction = iota
	Wait                 // buffer until the outcome of the next vote
	Overflow             // keep, together with all buffered times: the interval has become too long
)

// Add adds a call to the thread's interval and returns what to do with its times. code is the code
// of its terminal; marker reports that the call is a blocking collective of all processes.
func (c *Clustering) Add(y *Tally, terminal int32, code uint64, marker bool, gap, duration int64) TimesAction {
	n := &y.now
	n.calls++
	n.behavior = Mix(n.behavior, code)
	n.exact = Mix(n.exact, uint64(terminal))
	n.gap += gap
	n.duration += duration
	n.nested = n.nested || gap < 0
	y.stride = Mix(y.stride, code)
	if marker {
		if len(c.strides) == maxStrides {
			c.strides = c.strides[:copy(c.strides, c.strides[maxStrides/2:])]
		}
		c.strides = append(c.strides, y.stride)
		y.stride = 0
	}
	if !c.follows && !c.pending || n.overflowed {
		return Keep
	}
	if n.calls > trace.MaxExtrapolatedCalls {
		n.overflowed = true
		return Overflow
	}
	return Wait
}

// AddArguments adds arguments of the last added call that are not part of its terminal. They are
// compared as well.
func (y *Tally) AddArguments(hash uint64) { y.now.exact = Mix(y.now.exact, hash) }

// AddOverhead adds tracer overhead in ticks after the thread's first calls calls.
func (y *Tally) AddOverhead(calls uint64, ticks int64) {
	if n := len(y.holds); n > 0 && y.holds[n-1].Call == calls {
		y.holds[n-1].Ticks += ticks
		return
	}
	y.holds = append(y.holds, trace.Overhead{Call: calls, Ticks: ticks})
}

// Extrapolated returns the ranges of calls whose times are extrapolated from the lead's:
// first call, end.
func (y *Tally) Extrapolated() iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		for i := range y.extrapolations {
			if vote := y.extrapolations[i].Vote; !yield(y.marks[vote-1], y.marks[vote]) {
				return
			}
		}
	}
}

// AddTo adds the state of clustering after a number of votes to a thread of a trace.
func (y *Tally) AddTo(to *trace.Thread, votes int) {
	// the outcome of a further vote may be pending
	to.CallsAtVotes = slices.Clone(y.marks[:min(len(y.marks), votes)])
	to.Extrapolations, to.Overheads = slices.Clone(y.extrapolations), slices.Clone(y.holds)
}
