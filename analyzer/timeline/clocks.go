package timeline

import (
	"math"
	"sort"
)

// Clocks synchronize the clocks of a run's nodes. Package clock computes them, and all analyses of
// a run use the same ones. Nil leaves all times unchanged.
type Clocks struct {
	Of      []int   `json:"of"` // domain by row (index into Trace.Ranks)
	Domains []Clock `json:"domains"`
	// Window is the analyzed part of the run, nil for all of it.
	Window *Window `json:"-"`
	// Moves returns a Mover that additionally moves the times of single calls of a location; nil:
	// none. It must not be combined with a window that has a Begin, because it must see every call.
	// Package analyzer/export/causality uses it.
	Moves func(location int) Mover `json:"-"`
}

// A Mover moves the times of a thread's calls, on the common clock. It is called in program order,
// for each call first Enter, then Exit.
type Mover interface {
	Enter(ns int64) int64
	Exit(call uint64, ns int64) int64
}

// mover returns the Mover of a location, nil if there is none.
func (c *Clocks) mover(location int) Mover {
	if c == nil || c.Moves == nil {
		return nil
	}
	return c.Moves(location)
}

// A Clock maps the clock of one node, CLOCK_MONOTONIC in nanoseconds, to the common one:
//
//	t + Offset + Rate·(t − Origin) + step
//
// where step is that of the last entry of Steps before t, less Decay for every nanosecond since,
// but not less than 0. Rate is at most some 10⁻⁵ and Decay is 0.01, so time never goes backward.
type Clock struct {
	Offset int64   `json:"offset_ns"`
	Origin int64   `json:"origin_ns"`
	Rate   float64 `json:"rate"`
	Steps  []Step  `json:"steps,omitempty"`
}

// A Step is a correction from a time on, in nanoseconds. At is on the node's own clock.
type Step struct {
	At    int64 `json:"at_ns"`
	Shift int64 `json:"shift_ns"`
}

// Decay is the rate at which a step decays: the controlled logical clock runs at 0.99 of the node's
// rate until the step is compensated (γ of Becker, Rabenseifner, Wolf and Linford, "Scalable
// timestamp synchronization for event traces of message-passing applications", Parallel Computing
// 35, 2009).
const Decay = 0.01

// clock returns the clock of a row, nil if it needs no correction.
func (c *Clocks) clock(row int) *Clock {
	if c == nil || row >= len(c.Of) {
		return nil
	}
	return &c.Domains[c.Of[row]]
}

// Time converts a time of a row to the common clock, clipped to the window.
func (c *Clocks) Time(row int, t int64) int64 {
	t = c.clock(row).Time(t)
	if w := c.window(); w != nil {
		return w.time(t)
	}
	return t
}

// Time converts a time of the node's clock to the common one.
func (k *Clock) Time(t int64) int64 {
	if k == nil {
		return t
	}
	corrected := t + k.Offset
	if k.Rate != 0 {
		corrected += int64(math.Round(k.Rate * float64(t-k.Origin)))
	}
	if len(k.Steps) > 0 {
		corrected += k.step(t)
	}
	return corrected
}

// Own is the approximate inverse of Time, without steps.
func (k *Clock) Own(t int64) int64 {
	own := t - k.Offset
	return own - int64(math.Round(k.Rate*float64(own-k.Origin)))
}

// before returns a time of the node's clock that is not later than t on the common one.
func (k *Clock) before(t int64) int64 {
	if k == nil {
		return t
	}
	largest := int64(0)
	for _, s := range k.Steps {
		largest = max(largest, s.Shift)
	}
	return k.Own(t) - largest - 2 // Time and Own round
}

func (k *Clock) step(t int64) int64 {
	i := sort.Search(len(k.Steps), func(i int) bool { return k.Steps[i].At > t })
	if i == 0 {
		return 0
	}
	s := k.Steps[i-1]
	return max(0, s.Shift-int64(Decay*float64(t-s.At)))
}
