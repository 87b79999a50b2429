package predict

import "math"

// A Scenario is a condition under which a run is played again. The zero Scenario is as measured.
type Scenario struct {
	// Network replaces the measured one; nil: every call keeps its own cost.
	Network *Network
	// Compute is the factor by which a computation takes longer than it did; nil: 1.
	Compute func(location int, r Region) float64
	// Takes is how long, in ns, a computation takes instead of the ns that it took; nil: as long. It is asked for one
	// computation at a time, so that single instances may change. Time between polls, and while tracing is off, is none.
	Takes func(location int, r Region, ns int64) int64
	// Free tells of calls whose own cost is nothing; nil: none. They still wait for others.
	Free func(function uint16, site uint32) bool
	// Ignores tells of calls that wait for nobody; nil: none. They keep their own cost.
	Ignores func(function uint16, site uint32) bool
	// Buffered: sends do not wait for their receives, nor for a receiver that is outside MPI.
	Buffered bool
}

// A Region is a computation: what is between a call and the next one on the same thread.
type Region struct {
	After, Before         uint16 // functions
	AfterSite, BeforeSite uint32 // call sites
}

// A Network is a LogGP model. The zero Network is the ideal one: MPI costs nothing but its dependencies.
type Network struct {
	Latency  float64 // L: ns from one rank to another
	PerByte  float64 // G: ns
	Overhead float64 // o: ns that each call takes of its caller
	// Handshakes is from which size in bytes on messages make a handshake (rendezvous), which takes two latencies more;
	// 0: as the run has shown, or else 64 KiB.
	Handshakes int64
	// Link gives the network between two locations, for messages, and collectives that are a message between two; nil: this
	// one everywhere.
	Link func(from, to int) *Network
}

// never is before all times: what takes that long is not waited for.
const never = math.MinInt64

// wholeHandshake is how many latencies a message takes with a handshake: asking, the answer, the data.
const wholeHandshake = 3

// longer is by how much longer a computation of so many nanoseconds takes. Idle time between calls is none, though it may be
// longer, too.
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

// arrival is when what a call depends on, which happened at t, is known to it, with the message's data if it has any.
// Handshakes are made from a size on that the run has shown, if the network does not say which.
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
