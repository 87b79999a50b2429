package match

// Who waits for whom in a collective operation (Scalasca's patterns): see package waitstate for the times.

// orderPrefix notes for each part who entered last of those that it depends on: parts 0 … i.
func (c *Collective) orderPrefix() {
	c.upTo = make([]int32, len(c.Parts))
	last := -1
	for i := range c.Parts {
		if c.Parts[i].Present() && (last < 0 || c.Parts[i].Post.Enter > c.Parts[last].Post.Enter) {
			last = i
		}
		c.upTo[i] = int32(last)
	}
}

// orderOthers notes who entered last apart from the root.
func (c *Collective) orderOthers() {
	c.Other = -1
	for i := range c.Parts {
		if i != c.Root && c.Parts[i].Present() && (c.Other < 0 || c.Parts[i].Post.Enter > c.Parts[c.Other].Post.Enter) {
			c.Other = i
		}
	}
}

// Awaited is the participant whose entry part had to wait for; −1 if it depends on nobody.
func (c *Collective) Awaited(part int) int {
	switch c.Class {
	case OneToAll:
		if part != c.Root {
			return c.Root
		}
		return -1
	case AllToOne:
		if part == c.Root {
			return c.Other
		}
		return -1
	case Prefix:
		return int(c.upTo[part])
	case Neighbor:
		return c.lastNeighbor(part)
	case Barrier, AllToAll, Startup, Shutdown, Fence, Window, File:
	}
	return c.Last
}

// lastNeighbor is the neighbour that entered last: in a Cartesian topology, or the sources in a graph.
func (c *Collective) lastNeighbor(part int) int {
	switch {
	case c.topology == nil:
		return -1
	case c.topology.cart == nil:
		return c.lastSource(part)
	}
	dims, periodic := c.topology.cart.Dims, c.topology.cart.Periodic
	last, stride := -1, 1
	for d := len(dims) - 1; d >= 0; d-- {
		at := part / stride % dims[d]
		for _, to := range [2]int{at - 1, at + 1} {
			if to < 0 || to >= dims[d] {
				if d >= len(periodic) || !periodic[d] {
					continue
				}
				to = (to + dims[d]) % dims[d]
			}
			other := part + (to-at)*stride
			if other < len(c.Parts) && c.Parts[other].Present() && (last < 0 || c.Parts[other].Post.Enter > c.Parts[last].Post.Enter) {
				last = other
			}
		}
		stride *= dims[d]
	}
	return last
}
