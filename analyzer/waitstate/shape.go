package waitstate

import "math/bits"

// A parent is the shape of a tree: it returns the participant that passes data on to participant v
// of n, or takes it from there. Participants are numbered from the root (0), and the number of a
// parent is lower than those of its children.
type parent func(v, n int) int

// trees are the shapes along which MPI libraries pass the data of rooted collectives (Open MPI's
// coll/base, MPICH).
var trees = [...]parent{
	flat,
	// binomial: v without its lowest bit (MPICH; Open MPI's in-order tree),
	func(v, _ int) int { return v & (v - 1) },
	// or without its highest bit (Open MPI's other one)
	func(v, _ int) int { return v &^ (1 << (bits.Len(uint(v)) - 1)) },
	// binary, the children of each level dealt out in turns (Open MPI),
	func(v, _ int) int {
		level := bits.Len(uint(v+1)) - 1
		for first, step := 1<<level-1, 1<<level>>1; v >= first && v > 0; {
			v -= step
		}
		return v
	},
	// or numbered one parent after the other (MPICH)
	func(v, _ int) int { return (v - 1) / 2 },
	// k-nomial with k = 4: v without its lowest digit
	func(v, _ int) int { return v &^ (3 << (bits.TrailingZeros(uint(v)) &^ 1)) },
	// four chains, the first ones longer by one (Open MPI)
	func(v, n int) int {
		length, longer := (n-1)/4, (n-1)%4
		i := v - 1
		if i < longer*(length+1) {
			length++
		} else {
			i -= longer * (length + 1)
		}
		if i%length == 0 {
			return 0
		}
		return v - 1
	},
	// one chain, a pipeline
	func(v, _ int) int { return v - 1 },
}

// flat is the tree in which the root communicates with all others directly.
func flat(int, int) int { return 0 }

// A shape is a tree over a number of participants. Slices are indexed by participant.
type shape struct {
	parent, depth []int32
	order         []int32 // all participants, each followed directly by its subtree
	at, size      []int32 // its index in order, and the size of its subtree
}

func newShape(of parent, n int) *shape {
	room := make([]int32, 5*n)
	s := &shape{parent: room[:n], depth: room[n : 2*n], order: room[2*n : 3*n], at: room[3*n : 4*n], size: room[4*n:]}
	for v := n - 1; v > 0; v-- {
		s.parent[v] = int32(of(v, n))
		s.size[v]++
		s.size[s.parent[v]] += s.size[v]
	}
	s.size[0]++
	next := make([]int32, n) // index for the next child of a participant
	next[0] = 1
	for v := 1; v < n; v++ {
		p := s.parent[v]
		s.depth[v] = s.depth[p] + 1
		s.at[v] = next[p]
		next[p] += s.size[v]
		s.order[s.at[v]] = int32(v)
		next[v] = s.at[v] + 1
	}
	return s
}

// below returns the descendants of v.
func (s *shape) below(v int) []int32 { return s.order[s.at[v]+1 : s.at[v]+s.size[v]] }
