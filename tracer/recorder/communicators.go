package recorder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Global names of communicators. All members of a communicator compute the same name without
// communication, and different communicators of one world get different names:
//
//	collective creation    parent.n@leader: n counts the creating calls on the parent, which all
//	                       its members make in the same order. The groups of one call are
//	                       disjoint, so the world rank of their first member, the leader,
//	                       distinguishes them. On an intercommunicator the leaders of both groups,
//	                       the smaller first.
//	merge                  the same, on the intercommunicator
//	create_group           parent/group#tag.n: only the group's members call, so n counts the
//	                       creations with this parent, group and tag. The parent's counter does
//	                       not advance.
//	create_from_group      group#"stringtag".n
//	intercommunicators     group+group#tag.n, both groups by hash in order of the hashes
//	spawn                  parent.n@leader>: the same on all processes of our side. The child's is
//	                       MPI_Comm_get_parent; the merger joins the two
//	accept, connect        as spawn, if the other side is another world; within one world both
//	                       sides know both groups: group+group#port.n
//	join                   group+group#join.n within one world; else join.n
//
// group is a hash of the world ranks. MPI_COMM_SELF has one name and many instances, identified by
// their only member.

// A naming is a row of this table.
type naming uint8

const (
	namedNot naming = iota
	namedByParent
	namedByGroup
	namedFromGroup
	namedByGroups
	namedRemote
	namedJoin
)

func namingOf(f *semantics.Function) naming {
	if f.Operation != semantics.CommunicatorCreate {
		return namedNot
	}
	switch f.Creation {
	case semantics.FromParent, semantics.FromMerge:
		return namedByParent
	case semantics.FromMembers:
		return namedByGroup
	case semantics.Intercommunicator:
		return namedByGroups
	case semantics.FromGroup:
		return namedFromGroup
	case semantics.FromJoin:
		return namedJoin
	}
	return namedRemote
}

// advances reports whether a call increments the counter of its parent: whether it is collective
// over the parent.
func (n naming) advances() bool { return n == namedByParent || n == namedRemote }

// Names of the predefined communicators.
const (
	worldName = "MPI_COMM_WORLD"
	selfName  = "MPI_COMM_SELF"
	// the result of MPI_Comm_get_parent: one for each world
	parentName = "MPI_Comm_get_parent"
)

// A description is the description of a new communicator that the shim appends to a record.
type description struct {
	own, size  int
	inter      bool
	remoteSize int
	topology   int
	group      []int // world ranks of the local group, −1: not in this world
	remote     []int
	dims       []int
	periods    []bool
	coords     []int
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
	d.remoteSize = int(int64(r.Word()))
	d.topology = int(int64(r.Word()))
	d.group, d.remote = ints(r), ints(r)
	if d.topology == topologyCart {
		d.dims = ints(r)
		for _, p := range ints(r) {
			d.periods = append(d.periods, p != 0)
		}
		d.coords = ints(r)
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

// A communicator is one that has not been freed.
type communicator struct {
	instance  int32
	own       int32
	inter     bool
	creations uint64 // number of creating calls that were collective over it
	known     bool
}

// communicators are the communicators of the process.
type communicators struct {
	rank        int   // in MPI_COMM_WORLD
	world, self int32 // values in the table of handles: −1 − constant
	predefined  [2]communicator
	live        []communicator       // by local id
	instances   []trace.Communicator // all that ever existed
	nth         map[string]uint64    // number of creations, by name without ordinal
	nameBytes   int                  // approximate size of these names

	// changes of existing entries since the tables were written
	labeled []int32  // instances that were given names
	counted []string // of nth

	generation *uint64 // incremented on every change of a communicator (repeats.go)
}

func newCommunicators(generation *uint64) *communicators {
	return &communicators{rank: none, nth: map[string]uint64{}, generation: generation}
}

// of returns the communicator for a value of the handle table, nil for MPI_COMM_NULL
// and unknown ones.
func (c *communicators) of(value int32) *communicator {
	var found *communicator
	switch {
	case value >= 0:
		if int(value) >= len(c.live) {
			return nil
		}
		found = &c.live[value]
	case value == c.world:
		found = &c.predefined[0]
	case value == c.self:
		c.addSelf()
		found = &c.predefined[1]
	default:
		return nil
	}
	if !found.known {
		return nil
	}
	return found
}

// start adds the predefined communicators.
func (c *communicators) start(world description) {
	if len(c.instances) > 0 {
		return
	}
	*c.generation++
	c.instances = append(c.instances, world.content(worldName))
	c.predefined[0] = communicator{instance: 0, own: int32(world.own), known: true}
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
		*self = communicator{instance: int32(len(c.instances)), known: true}
		d := description{size: 1, group: []int{c.rank}}
		c.instances = append(c.instances, d.content(selfName))
	}
}

// add adds the communicator with a local id.
func (c *communicators) add(id int32, name string, d description) {
	*c.generation++
	for int(id) >= len(c.live) {
		c.live = append(c.live, communicator{})
	}
	c.live[id] = communicator{instance: int32(len(c.instances)), own: int32(d.own), inter: d.inter, known: true}
	c.instances = append(c.instances, d.content(name))
}

// forget removes a freed communicator.
func (c *communicators) forget(id int32) {
	if id >= 0 && int(id) < len(c.live) {
		*c.generation++
		c.live[id] = communicator{}
	}
}

// inherit adds a duplicate that cannot be described yet: everything but its name is
// as in the parent.
func (c *communicators) inherit(id int32, parent instanceIndex, own int32, inter bool, b creation) {
	child := c.instances[parent]
	child.Label = ""
	b.group, b.remote = leaderOf(child.Members), leaderOf(child.Remote)
	b.inter = inter
	c.add(id, c.name(b), description{own: int(own), inter: inter})
	child.GlobalName = c.instances[c.live[id].instance].GlobalName
	c.instances[c.live[id].instance] = child
}

// leaderOf returns the leading part of a group that is needed for a name by parent.
func leaderOf(l trace.RankList) []int {
	if len(l) == 0 {
		return nil
	}
	return []int{l[0].Start}
}

// A creation is the input of the name of a new communicator.
type creation struct {
	how           naming
	parent        string // global name
	ordinal       uint64 // on the parent, at entry
	tag           string
	inter         bool
	group, remote []int // world ranks
}

func (b creation) of(child description) creation {
	b.inter, b.group, b.remote = child.inter, child.group, child.remote
	return b
}

const maxName = 96 // duplicates of duplicates have ever longer names; longer ones are hashed

func (c *communicators) name(b creation) string {
	var name string
	// both sides may be in this world
	if (b.how == namedRemote || b.how == namedJoin) && allOurs(b.group) && allOurs(b.remote) {
		b.tag = map[naming]string{namedRemote: "port", namedJoin: "join"}[b.how]
		b.how = namedByGroups
	}
	switch b.how {
	case namedByGroup:
		name = fmt.Sprintf("%s/%s#%s", b.parent, groupHash(b.group), b.tag)
		name += c.next(name)
	case namedFromGroup:
		name = fmt.Sprintf("%s#%q", groupHash(b.group), b.tag)
		name += c.next(name)
	case namedByGroups:
		hashes := []string{groupHash(b.group), groupHash(b.remote)}
		sort.Strings(hashes)
		name = fmt.Sprintf("%s+%s#%s", hashes[0], hashes[1], b.tag)
		name += c.next(name)
	case namedJoin:
		name = "join" + c.next("join")
	case namedRemote:
		name = fmt.Sprintf("%s.%d@%d>", b.parent, b.ordinal, leader(b.group))
	default:
		name = fmt.Sprintf("%s.%d@%d", b.parent, b.ordinal, leader(b.group))
		if b.inter {
			low, high := leader(b.group), leader(b.remote)
			if low > high {
				low, high = high, low
			}
			name = fmt.Sprintf("%s.%d@%d,%d", b.parent, b.ordinal, low, high)
		}
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(name))
		name = "~" + hex.EncodeToString(sum[:12])
	}
	return name
}

// allOurs reports whether all processes of a group are in this world.
func allOurs(group []int) bool {
	for _, rank := range group {
		if rank < 0 {
			return false
		}
	}
	return len(group) > 0
}

// next returns ".n" for the nth creation with this name.
func (c *communicators) next(name string) string {
	n, known := c.nth[name]
	c.nth[name] = n + 1
	if !known {
		c.nameBytes += len(name) + textBytes + mapEntry
	}
	c.counted = append(c.counted, name)
	return fmt.Sprintf(".%d", n)
}

func leader(group []int) int {
	if len(group) == 0 {
		return none
	}
	return group[0]
}

func groupHash(group []int) string {
	b := make([]byte, 0, 4*len(group))
	for _, rank := range group {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(rank)))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// content converts a description to the trace's form.
func (d *description) content(name string) trace.Communicator {
	t := trace.Communicator{
		GlobalName: name,
		Members:    trace.NewRankList(d.group),
		Remote:     trace.NewRankList(d.remote),
	}
	t.Topology.Dims = d.dims
	t.Topology.Periodic = d.periods
	t.Topology.Graph = d.topology > topologyCart && d.topology <= topologyDistGraph
	return t
}
