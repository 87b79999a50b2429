package predict

import "math"

// A Scenario is a condition under which a run is replayed. The zero Scenario is as measured.
type Scenario struct {
	// Network replaces the measured one; nil: every call keeps its own cost.
	Network *Network
	// Compute returns the factor by which a computation takes longer than it did; nil: 1.
	Compute func(location int, r Region) float64
	// Takes returns the duration in ns of a computation that took ns; nil: unchanged. It is called
	// for one computation at a time, so that single instances may change. Time between polls, and
	// while tracing is off, is not computation.
	Takes func(location int, r Region, ns int64) int64
	// Keeps returns the fraction of their own cost that calls keep, from 0 to 1; nil: all. They
	// still wait for others.
	Keeps func(function uint16, site uint32) float64
	// Ignores reports whether calls do not wait; nil: all do. They keep their own cost.
	Ignores func(function uint16, site uint32) bool
	// Buffered: sends do not wait for their receives, nor for a receiver that is outside of MPI.
	Buffered bool
}

// A Region is a computation, between a call and the next one on the same thread.
type Region struct {
	After, Before         uint16 // functions
	AfterSite, BeforeSite uint32 // call sites
}

// A Network is a LogGP model. The zero Network is the ideal one: MPI costs nothing but
// its dependencies.
type Network struct {
	Latency  float64 // L: ns from one rank to another
	PerByte  float64 // G: ns
	Overhead float64 // o: ns that each call takes of its caller
	// Handshakes is the size in bytes from which on messages use a handshake (rendezvous), which
	// takes two more latencies; 0: as measured in the run, or else 64 KiB.
	Handshakes int64
	// Link returns the network between two locations, for messages, and for collectives that are a
	// message between two; nil: this one everywhere.
	Link func(from, to int) *Network
}

// never is before all times: a dependency with it is not waited for.
const never = math.MinInt64

// wholeHandshake is the number of latencies of a message with a handshake: request, answer, data.
const wholeHandshake = 3

// longer returns by how much a computation of ns nanoseconds is longer. Idle time between calls is
// not computation, though it may be longer, too.
func (s *Scenario) longer(location int, r Region, ns int64, idle bool) int64 {
	if s.Takes != nil && !idle {
		return s.Takes(location, r, ns) - ns
	}
	if s.Compute != nil {
		if factor := s.Compute(location, r); factor != 1 {
			return int64(math.Round(float64(ns)*factor)) - ns
		}
	}
	return 0
}

// arrival returns when the dependency of a call, which happened at t, is known to the call, with
// the message's data if it has any. If the network has no size for handshakes, that of the run is
// used.
func (n *Network) arrival(t int64, d *dependency, shown int64) int64 {
	if n.Latency == 0 && n.PerByte == 0 && n.Link == nil && !d.handshake {
		return t
	}
	hops := d.hops
	if n.Handshakes > 0 {
		shown = n.Handshakes
	}
	if d.of != nil {
		if n.Link != nil && (d.of.isNeighbor() || d.of.shape.Size == 2) {
			n = n.Link(int(d.from), int(d.to))
		}
		return t + d.of.takes(n, d.part, shown)
	}
	if d.handshake && !d.always && d.bytes < shown {
		if hops < wholeHandshake {
			return never
		}
		hops = 1
	}
	if n.Link != nil && (hops == 1 || d.handshake) {
		n = n.Link(int(d.from), int(d.to))
	}
	return t + int64(math.Round(float64(hops)*n.Latency+float64(max(0, d.bytes))*n.PerByte))
}
