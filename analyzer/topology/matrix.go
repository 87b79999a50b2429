package topology

import "slices"

// A Matrix is the traffic between ranks, numbered as in their communicator.
type Matrix struct {
	Order   int // ranks of the communicator
	Traffic []Traffic
}

// Traffic is all messages from one rank to another.
type Traffic struct {
	From, To int
	Calls    uint64
	Bytes    uint64
}

// A pair is the traffic between two ranks in both directions; up is to the higher one.
type pair struct {
	low, high    int
	up, down     uint64 // calls
	calls, bytes uint64
}

// pairs returns the traffic between different ranks, by low and high.
func (m Matrix) pairs() []pair {
	at := map[[2]int]int{}
	var all []pair
	for _, t := range m.Traffic {
		if t.From == t.To || t.Calls == 0 {
			continue
		}
		key := [2]int{min(t.From, t.To), max(t.From, t.To)}
		i, there := at[key]
		if !there {
			i = len(all)
			at[key] = i
			all = append(all, pair{low: key[0], high: key[1]})
		}
		p := &all[i]
		p.calls += t.Calls
		p.bytes += t.Bytes
		if t.From == p.low {
			p.up += t.Calls
		} else {
			p.down += t.Calls
		}
	}
	slices.SortFunc(all, func(a, b pair) int {
		if a.low != b.low {
			return a.low - b.low
		}
		return a.high - b.high
	})
	return all
}

// A measure decides from calls and bytes whether traffic is little.
type measure func(calls, bytes bool) bool

func callsAndBytes(calls, bytes bool) bool { return calls && bytes }
func bytesAlone(_, bytes bool) bool        { return bytes }

// filter leaves out pairs with little traffic: less than `percent` of the calls, or of the bytes,
// of the busiest pair of either rank. (The paper's §4.1 has one threshold for the whole matrix, 5%.
// Here, it is relative to a rank's own busiest pair, so that the thin faces of a flat box are
// kept.) What is left out is still counted: see Topology.Outside.
func filter(pairs []pair, order int, percent float64, isLittle measure) []pair {
	calls, bytes := make([]uint64, order), make([]uint64, order)
	for _, p := range pairs {
		for _, rank := range []int{p.low, p.high} {
			calls[rank], bytes[rank] = max(calls[rank], p.calls), max(bytes[rank], p.bytes)
		}
	}
	// zero counts as little: if no message has data, calls decide
	little := func(n, a, b uint64) bool { return percent > 0 && n == 0 || float64(n)*100 < percent*float64(max(a, b)) }
	var kept []pair
	for _, p := range pairs {
		if !isLittle(little(p.calls, calls[p.low], calls[p.high]), little(p.bytes, bytes[p.low], bytes[p.high])) {
			kept = append(kept, p)
		}
	}
	return kept
}

func graphOf(pairs []pair, order int) *Graph {
	return NewGraph(order, func(yield func(u, v int) bool) {
		for _, p := range pairs {
			if !yield(p.low, p.high) {
				return
			}
		}
	})
}
