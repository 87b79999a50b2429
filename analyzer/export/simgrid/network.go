package simgrid

import (
	"math"
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
)

// A Network is a linear model of messages: they take Latency + bytes / Bandwidth.
type Network struct {
	Latency   float64 // ns
	Bandwidth float64 // bytes per ns, which is GB/s
}

// assumed is the network if the trace does not show one: 2 µs and 10 GB/s.
var assumed = Network{Latency: 2000, Bandwidth: 10}

// fits estimates the network from the fastest messages of each size.
type fits [64]struct {
	bytes, ns int64
	seen      bool
}

// message adds a message. Only if its receive was posted when it was sent did it take nothing but
// the network's time.
func (f *fits) message(m *match.Message) {
	if m.Receive.Done == nil || m.Bytes < 0 || m.Receive.Post.Enter > m.Send.Post.Enter {
		return
	}
	ns := m.Receive.Done.Exit - m.Send.Post.Enter
	class := &f[bits.Len64(uint64(m.Bytes))]
	if ns > 0 && (!class.seen || ns < class.ns) {
		class.bytes, class.ns, class.seen = m.Bytes, ns, true
	}
}

// network returns the line through the fastest messages of the smallest and of the largest size.
func (f *fits) network() (n Network, measured bool) {
	n = assumed
	first := true
	var least struct{ bytes, ns int64 }
	for _, class := range f {
		if !class.seen {
			continue
		}
		if first {
			first, least.bytes, least.ns = false, class.bytes, class.ns
			n.Latency = float64(class.ns)
			continue
		}
		if class.ns > least.ns {
			n.Bandwidth = float64(class.bytes-least.bytes) / float64(class.ns-least.ns)
			n.Latency = math.Max(1, float64(least.ns)-float64(least.bytes)/n.Bandwidth)
		}
	}
	return n, !first
}
