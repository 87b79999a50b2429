package predict

import (
	"math"
	"math/bits"

	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A route computes the cost of a collective's algorithm on a network. α and β of Thakur,
// Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
// 19(1), 2005, are L and G here, and γ, the time to combine data, is 0. Algorithms consist of
// rounds, in each of which a process sends one message and receives one. From a size on, a message
// uses a handshake, which takes two more latencies: all participants are inside MPI, so there is no
// wait for an answer.
type route struct {
	network    *Network
	handshakes int64 // minimum size of messages with a handshake
	size       int   // number of processes: p
	bytes      int64 // of the largest buffer of a participant: n
}

// takes returns the duration of a collective in ns: that of the fastest algorithm on this network
// for this number of processes and bytes, which MPI libraries would choose. Without data all
// algorithms take a tree's ⌈log₂ p⌉ latencies.
func (r *route) takes(m semantics.Movement) float64 {
	switch m {
	case semantics.Broadcast: // binomial tree, or scatter and allgather (van de Geijn)
		return min(r.tree(), r.halving()+r.spread())
	case semantics.Reduce: // binomial tree, or reduce-scatter and gather (Rabenseifner)
		return min(r.tree(), r.spread()+r.halving())
	case semantics.AllReduce: // recursive doubling, or reduce-scatter and allgather (Rabenseifner)
		return min(r.tree(), 2*r.spread())
	case semantics.Scatter, semantics.Gather: // binomial tree
		return r.halving()
	case semantics.AllGather, semantics.ReduceScatter:
		// Bruck's or recursive halving, or a ring or pairwise exchange
		return r.spread()
	case semantics.AllToAllExchange: // Bruck's, or pairwise exchange
		return min(r.bruck(), r.ring())
	}
	return r.tree() // prefix operations by recursive doubling; no data
}

func (r *route) rounds() int { return bits.Len(uint(r.size - 1)) }

// message returns the time of a round with this many bytes.
func (r *route) message(bytes float64) float64 {
	latencies := 1.0
	if bytes >= float64(r.handshakes) {
		latencies = wholeHandshake
	}
	return latencies*r.network.Latency + bytes*r.network.PerByte
}

// tree takes ⌈log₂ p⌉ rounds with all of the data.
func (r *route) tree() float64 { return float64(r.rounds()) * r.message(float64(r.bytes)) }

// ring takes p − 1 rounds with one process's share.
func (r *route) ring() float64 {
	return float64(r.size-1) * r.message(float64(r.bytes)/float64(r.size))
}

// halving takes ⌈log₂ p⌉ rounds with shares of 1, 2, 4, … processes, p − 1 in all.
func (r *route) halving() (ns float64) {
	for shares := 1; shares < r.size; shares *= 2 {
		ns += r.message(float64(r.bytes) * float64(min(shares, r.size-shares)) / float64(r.size))
	}
	return ns
}

// spread is the faster of the two: all get shares of each other, or combine them.
func (r *route) spread() float64 { return min(r.halving(), r.ring()) }

// bruck takes ⌈log₂ p⌉ rounds: the k-th one sends the data for processes at distances, in 1 … p −
// 1, that have bit k.
func (r *route) bruck() (ns float64) {
	for bit := 1; bit < r.size; bit *= 2 {
		blocks := r.size/(2*bit)*bit + max(0, r.size%(2*bit)-bit)
		ns += r.message(float64(r.bytes) * float64(blocks) / float64(r.size))
	}
	return ns
}

// takes returns the duration of a part of a collective after the last participant that it needs has
// entered. Neighbors send each other one message each.
func (g *collectiveInstance) takes(n *Network, part int32, handshakes int64) int64 {
	r := route{network: n, handshakes: handshakes, size: g.shape.Size, bytes: g.bytes}
	if g.own != nil {
		r.bytes = g.own[part]
	}
	if g.isNeighbor() {
		return int64(math.Round(r.message(float64(r.bytes))))
	}
	return int64(math.Round(r.takes(g.shape.Movement)))
}
