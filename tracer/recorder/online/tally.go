package online

import (
	"iter"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// An Interval is what a thread has called from one marker to the next.
type Interval struct {
	calls      uint64
	behavior   uint64 // hash of functions and call sites, in order
	exact      uint64 // hash of terminals, in order
	gap        int64  // sums
	duration   int64
	nested     bool // some call was nested in another one
	overflowed bool // it has too many calls for another rank's times to stand for: its own wait no more
}

// repeat makes of an interval what it is if it comes so many times.
func (n *Interval) repeat(factor int) {
	n.behavior, n.exact = repeated(n.behavior, n.calls, factor), repeated(n.exact, n.calls, factor)
	n.calls *= uint64(factor)
}

// A Tally is what of a thread is compared between ranks and between intervals: the interval that goes on, the one that a vote
// is under way on, and the one before, which that is compared with.
type Tally struct {
	now, closed, before Interval
	stride              uint64   // hash of what was called since the last blocking collective of all processes
	marks               []uint64 // by vote: calls before it
	extrapolations      []trace.Extrapolation
	holds               []trace.Hold // overhead of the tracer
}

// A Thread is one of a process, with its tally. Lists of threads are in the order of their numbers.
type Thread struct {
	Number uint32
	Calls  uint64
	Tally  *Tally
}

// What becomes of the times of a call.
type Fate uint8

// Fates of times.
const (
	Keep     Fate = iota
	Wait          // for the outcome of the next vote
	Overflow      // and so are all that wait: the interval has become too long
)

// Add adds a call to the thread's interval, and says what becomes of its times. code is that of its terminal, marker says
// that it is a blocking collective of all processes.
func (c *Clustering) Add(y *Tally, terminal int32, code uint64, marker bool, gap, duration int64) Fate {
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
	if !c.follows && !c.awaited || n.overflowed {
		return Keep
	}
	if n.calls > trace.MaxExtrapolatedCalls {
		n.overflowed = true
		return Overflow
	}
	return Wait
}

// AddArguments adds arguments of the call that was added last: those that its terminal does not tell. They are compared all
// the same.
func (y *Tally) AddArguments(hash uint64) { y.now.exact = Mix(y.now.exact, hash) }

// AddOverhead notes that the tracer kept the thread for some ticks after so many calls.
func (y *Tally) AddOverhead(calls uint64, ticks int64) {
	if n := len(y.holds); n > 0 && y.holds[n-1].Call == calls {
		y.holds[n-1].Ticks += ticks
		return
	}
	y.holds = append(y.holds, trace.Hold{Call: calls, Ticks: ticks})
}

// Extrapolated are the calls that another rank's times stand for: from one number to the one before another.
func (y *Tally) Extrapolated() iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		for i := range y.extrapolations {
			if vote := y.extrapolations[i].Vote; !yield(y.marks[vote-1], y.marks[vote]) {
				return
			}
		}
	}
}

// AddTo gives a thread of a trace what is known of clustering, after so many votes.
func (y *Tally) AddTo(to *trace.Thread, votes int) {
	to.Marks = slices.Clone(y.marks[:min(len(y.marks), votes)]) // the outcome of another one may be awaited
	to.Extrapolations, to.Holds = slices.Clone(y.extrapolations), slices.Clone(y.holds)
}
