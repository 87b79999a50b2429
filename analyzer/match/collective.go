package match

// Communicators of calls that involve the whole world without naming a communicator.
const (
	startupComm  = -1
	shutdownComm = -2
)

// collectiveKey identifies the n-th collective of a communicator.
//
//   - start counts the starts of a persistent collective, which is ordered by its initialization
//     (MPI 4.0 §6.13).
//   - created is set for calls that are ordered by the communicator that they create.
//   - object is set for collectives on a window or file, which are ordered per object.
type collectiveKey struct {
	comm    int32
	ordinal uint32
	start   uint32
	object  uint32 // window or file; 0: none
	created bool
}

// next returns the caller's ordinal on a communicator and advances it.
func (m *Matcher) next(row int, comm int32) uint32 {
	counts := m.ranks[row].ordinals
	if counts == nil {
		counts = map[int32]uint32{}
		m.ranks[row].ordinals = counts
	}
	n := counts[comm]
	counts[comm] = n + 1
	return n
}

// enter records that a rank enters its next collective on a communicator or, if again is not nil,
// the next start of that persistent collective.
func (m *Matcher) enter(p *prototype, again *persistent, call *Call, row int) (*Collective, int) {
	g := m.group(p.comm)
	if g == nil || p.own < 0 || p.root == procNull {
		return nil, 0
	}
	key := collectiveKey{comm: p.comm}
	if again != nil {
		again.starts++
		key.ordinal, key.start = again.ordinal, again.starts
	} else {
		key.ordinal = m.next(row, p.comm)
	}
	part := g.part(row, int(p.own))
	if part >= g.size() {
		return nil, 0
	}
	c := m.collective(key, p.plan.class, g.size(), g.present)
	if p.root != noValue {
		c.Root = g.rootPart(row, int(p.own), int64(p.root))
	}
	c.Movement = p.plan.Movement
	if !c.Parts[part].Present() {
		c.Parts[part].Bytes = p.bytes
	}
	m.arrive(c, part, call, row)
	return c, part
}

func (m *Matcher) collective(key collectiveKey, class Class, size, present int) *Collective {
	c := m.pending[key]
	if c == nil {
		var parts []Part
		if n := len(m.freeCollectives); n > 0 {
			c = m.freeCollectives[n-1]
			m.freeCollectives = m.freeCollectives[:n-1]
			parts = c.Parts[:0]
		} else {
			c = new(Collective)
		}
		m.collectives++
		*c = Collective{Number: m.collectives, Comm: int(key.comm), Class: class, Root: -1, First: -1, Last: -1, Tag: c.Tag, key: key, waiting: present, expected: present}
		if cap(parts) < size {
			parts = make([]Part, size)
		}
		c.Parts = parts[:size]
		clear(c.Parts)
		for i := range c.Parts {
			c.Parts[i].Post.Location = -1
		}
		m.pending[key] = c
	}
	return c
}

func (m *Matcher) arrive(c *Collective, part int, call *Call, row int) {
	at := &c.Parts[part].Post
	if c.Parts[part].Present() {
		var again Point
		again.set(call, row)
		m.leftovers.enteredTwice(&again)
		return
	}
	at.set(call, row)
	c.arrived++
	if c.First < 0 || at.Enter < c.Parts[c.First].Post.Enter {
		c.First = part
	}
	if c.Last < 0 || at.Enter > c.Parts[c.Last].Post.Enter {
		c.Last = part
	}
	if m.watcher != nil {
		m.watcher.Entered(c, part)
	}
	if c.arrived == c.expected {
		m.allEntered(c)
	}
}

// allEntered reports the completed parts of an operation that all participants have entered.
func (m *Matcher) allEntered(c *Collective) {
	m.order(c)
	for i := range c.Parts {
		if c.Parts[i].Done != nil {
			m.reportPart(c, i)
		}
	}
}

// order computes the dependencies of a collective that all participants have entered.
func (m *Matcher) order(c *Collective) {
	c.whole = true
	switch c.Class {
	case Prefix:
		c.orderPrefix()
	case AllToOne:
		c.orderOthers()
	case Neighbor:
		if c.Comm >= 0 {
			c.topology = m.group(int32(c.Comm))
		}
	case Barrier, AllToAll, OneToAll, Startup, Shutdown, Fence, Window, File:
	}
}

// retire recycles a collective that all participants have left.
func (m *Matcher) retire(c *Collective) {
	if m.watcher != nil {
		m.watcher.Retired(c)
	}
	delete(m.pending, c.key)
	m.freeCollectives = append(m.freeCollectives, c)
}

// leave records the call that completed a rank's part, nil if none did.
func (m *Matcher) leave(c *Collective, part int, done *Completion) {
	p := &c.Parts[part]
	if p.settled {
		return
	}
	p.settled = true
	c.waiting--
	if done != nil {
		p.Done = done
		done.open++
		if c.whole {
			m.reportPart(c, part)
		}
	}
	if c.waiting == 0 && c.whole {
		m.retire(c)
	}
}

func (m *Matcher) reportPart(c *Collective, part int) {
	m.handler.Collective(c, part)
	done := c.Parts[part].Done
	c.Parts[part].Done = nil
	m.resolve(done)
}

// world handles MPI_Init and MPI_Finalize.
func (m *Matcher) world(comm int32, p *plan, c *Call, row int) {
	key := collectiveKey{comm: comm}
	op := m.collective(key, p.class, len(m.ranks), len(m.ranks))
	done := m.completion(c, row)
	m.arrive(op, row, c, row)
	m.leave(op, row, done)
	m.seal(done)
}

// createGroup handles communicator creation in which only the members of the new communicator take
// part.
func (m *Matcher) createGroup(p *plan, c *Call, row int) {
	created := m.instances.comm(c.event.NewComm)
	g := m.group(created)
	if g == nil {
		return
	}
	part := -1
	for i := range g.size() {
		list, k := g.local, i
		if i >= len(g.local) {
			list, k = g.other, i-len(g.local)
		}
		if list[k] == int32(row) {
			part = i
			break
		}
	}
	if part < 0 {
		return
	}
	op := m.collective(collectiveKey{comm: created, created: true}, p.class, g.size(), g.present)
	done := m.completion(c, row)
	m.arrive(op, part, c, row)
	m.leave(op, part, done)
	m.seal(done)
}

// Dependencies within a collective operation (Scalasca's patterns). Package waitstate computes the
// waiting times.

// orderPrefix sets upTo: for each part i the one of parts 0 … i that entered last.
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

// orderOthers sets Other: the part apart from the root that entered last.
func (c *Collective) orderOthers() {
	c.Other = -1
	for i := range c.Parts {
		if i != c.Root && c.Parts[i].Present() && (c.Other < 0 || c.Parts[i].Post.Enter > c.Parts[c.Other].Post.Enter) {
			c.Other = i
		}
	}
}

// Awaited returns the part whose entry the given part had to wait for, −1 if it depends on no
// other.
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

// lastNeighbor returns the neighbor that entered last: of a Cartesian topology, or of the sources
// in a graph topology.
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
