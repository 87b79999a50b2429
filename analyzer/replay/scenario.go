package replay

import "math"

// A Scenario is a condition under which a run is played again. The zero Scenario is as measured.
type Scenario struct {
	// Network replaces the measured one; nil: every call keeps its own cost.
	Network *Network
	// Compute is the factor by which a computation takes longer than it did; nil: 1.
	Compute func(location int, r Region) float64
	// Free tells of calls whose own cost is nothing; nil: none. They still wait for others.
	Free func(function uint16, site uint32) bool
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
	// Link gives the network between two locations, for messages only; nil: this one everywhere.
	Link func(from, to int) *Network
}

// arrival is when the data of a dependency, sent at t, can be there.
func (n *Network) arrival(t int64, d *dependency) int64 {
	bytes, hops := d.bytes, d.hops
	if n.Link != nil && hops == 1 {
		n = n.Link(int(d.from), int(d.to))
	}

	return t + int64(math.Round(float64(hops)*(n.Latency+float64(max(0, bytes))*n.PerByte)))
}
