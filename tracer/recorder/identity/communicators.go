package identity

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Names of the predefined communicators.
const (
	worldName = "MPI_COMM_WORLD"
	selfName  = "MPI_COMM_SELF"
	// the result of MPI_Comm_get_parent: one for each world
	parentName = "MPI_Comm_get_parent"
)

// A description is the description of a new communicator that the shim appends to a record.
type description struct {
	own, size int
	inter     bool
	group     []int // world ranks of the local group, −1: not in this world
	remote    []int
	topology  trace.Topology
}

// Topologies of a description.
const (
	topologyCart      = 1
	topologyDistGraph = 3
)

// readDescription reads a description; ok is false if there is none.
func readDescription(r *record.Reader) (d description, ok bool) {
	if r.At >= len(r.Words) {
		return d, false
	}
	r.Word() // the raw handle, which is also among the call's own arguments
	d.own, d.size = int(int64(r.Word())), int(int64(r.Word()))
	d.inter = r.Word() != 0
	r.Word() // the size of the remote group
	topology := int64(r.Word())
	d.group, d.remote = ints(r), ints(r)
	d.topology.Graph = topology > topologyCart && topology <= topologyDistGraph
	if topology == topologyCart {
		d.topology.Dims = ints(r)
		for _, p := range ints(r) {
			d.topology.Periodic = append(d.topology.Periodic, p != 0)
		}
		r.Array() // the coordinates of this process
	}
	return d, r.OK
}

func ints(r *record.Reader) []int {
	elements, _, _ := r.Array()
	if len(elements) == 0 {
		return nil
	}
	out := make([]int, len(elements))
	for i, w := range elements {
		out[i] = int(int32(w))
	}
	return out
}

// A Communicator is one that has not been freed.
type Communicator struct {
	Own       int32 // rank of this process
	Inter     bool
	instance  int32
	creations uint64 // number of creating calls that were collective over it
	known     bool
}

// A Creation is a successful call that creates a communicator.
type Creation struct {
	How    semantics.Creation
	Parent *Communicator // nil: none, or unknown
	ID     int32         // of the new communicator; −1: this process gets none
	Tag    string        // the tag or string tag among the arguments
}

// communicators are the communicators of the process.
type communicators struct {
	rank        int   // in MPI_COMM_WORLD
	world, self int32 // values in the table of handles: −1 − constant
	predefined  [2]Communicator
	live        []Communicator       // by local id
	instances   []trace.Communicator // all that ever existed
	nth         map[string]uint64    // number of creations, by name without ordinal

	// What is in the written tables, and changes of it.
	written int      // instances
	labeled []int32  // instances that were given names
	counted []string // of nth

	generation *uint64 // incremented on every change of a communicator (Objects.Generation)
}

func newCommunicators(named []record.Constant, generation *uint64) communicators {
	c := communicators{rank: none, nth: map[string]uint64{}, generation: generation}
	c.world, c.self = int32(none-len(named)), int32(none-len(named)) // values of no constant
	for i := range named {
		switch named[i].Name {
		case worldName:
			c.world = int32(-1 - i)
		case selfName:
			c.self = int32(-1 - i)
		}
	}
	return c
}

// of returns the communicator for a value of the handle table, nil for MPI_COMM_NULL
// and unknown ones.
func (c *communicators) of(value int32) *Communicator {
	var found *Communicator
	switch {
	case value >= 0 && int(value) < len(c.live):
		found = &c.live[value]
	case value == c.world:
		found = &c.predefined[0]
	case value == c.self:
		c.addSelf()
		found = &c.predefined[1]
	}
	if found == nil || !found.known {
		return nil
	}
	return found
}

// Start adds the predefined communicators, which the extras of MPI_Init describe.
func (c *communicators) Start(extras *record.Reader) {
	world, ok := readDescription(extras)
	if !ok || len(c.instances) > 0 {
		return
	}
	*c.generation++
	c.instances = append(c.instances, world.content(worldName))
	c.predefined[0] = Communicator{instance: 0, Own: int32(world.own), known: true}
	switch {
	case world.own >= 0 && world.own < len(world.group):
		c.rank = world.group[world.own]
	case len(world.group) == 0 && world.own >= 0 && world.own < world.size:
		// the group of a large world does not fit into a record, but it is the identity
		c.rank = world.own
		c.instances[0].Members = trace.RankList{{Start: 0, Count: world.size, Stride: 1}}
	}
}

// addSelf adds MPI_COMM_SELF at its first use. Every rank would have an instance of its own, and
// most never use it.
func (c *communicators) addSelf() {
	if self := &c.predefined[1]; !self.known && c.predefined[0].known {
		*c.generation++
		*self = Communicator{instance: int32(len(c.instances)), known: true}
		d := description{size: 1, group: []int{c.rank}}
		c.instances = append(c.instances, d.content(selfName))
	}
}

// add adds the communicator with a local id, and its instance.
func (c *communicators) add(id int32, own int32, inter bool, instance trace.Communicator) {
	*c.generation++
	for int(id) >= len(c.live) {
		c.live = append(c.live, Communicator{})
	}
	c.live[id] = Communicator{instance: int32(len(c.instances)), Own: own, Inter: inter, known: true}
	c.instances = append(c.instances, instance)
}

// forget removes a freed communicator.
func (c *communicators) forget(id int32) {
	if id >= 0 && int(id) < len(c.live) {
		*c.generation++
		c.live[id] = Communicator{}
	}
}

// inherit adds a duplicate that cannot be described yet: everything but its name is as in the
// parent.
func (c *communicators) inherit(id int32, parent Communicator, o origin) {
	child := c.instances[parent.instance]
	o.inter, o.group, o.remote = parent.Inter, leaderOf(child.Members), leaderOf(child.Remote)
	child.GlobalName, child.Label = c.name(o), ""
	c.add(id, parent.Own, parent.Inter, child)
}

// AddCommunicator adds the communicator that a call created, which extras describes, and returns
// its instance; false if there is none. A call that is collective over its parent increments the
// parent's counter even if this process got no communicator.
func (c *communicators) AddCommunicator(n Creation, extras *record.Reader) (instance int32, ok bool) {
	o := origin{how: n.How, tag: n.Tag}
	if n.Parent != nil {
		o.parent, o.ordinal = c.instances[n.Parent.instance].GlobalName, n.Parent.creations
		if advances(n.How) {
			n.Parent.creations++
		}
	}
	if n.ID < 0 {
		return none, false
	}
	child, described := readDescription(extras)
	switch {
	case described:
		o.inter, o.group, o.remote = child.inter, child.group, child.remote
		c.add(n.ID, int32(child.own), child.inter, child.content(c.name(o)))
	case n.Parent != nil && (n.How == semantics.FromParent || n.How == semantics.FromMerge):
		// MPI_Comm_idup: the shim cannot query the communicator yet, but it is as its parent
		c.inherit(n.ID, *n.Parent, o)
	default:
		return none, false
	}
	return c.live[n.ID].instance, true
}

// SetRank sets the rank of a process that has sessions only.
func (c *communicators) SetRank(rank int) { c.rank = rank }

// Label gives a communicator the name that the program chose.
func (c *communicators) Label(of *Communicator, name string) {
	c.instances[of.instance].Label = name
	c.labeled = append(c.labeled, of.instance)
}

// Instances returns all communicators that ever existed.
func (c *communicators) Instances() []trace.Communicator { return slices.Clone(c.instances) }

// content converts a description to the trace's form.
func (d *description) content(name string) trace.Communicator {
	members, remote := trace.NewRankList(d.group), trace.NewRankList(d.remote)
	return trace.Communicator{GlobalName: name, Members: members, Remote: remote, Topology: d.topology}
}
