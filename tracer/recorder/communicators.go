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

// Global names of communicators. All members of a communicator compute the same name from what they know without
// asking anybody, and different communicators of one world get different names:
//
//	collective creation    parent.n@leader: n counts the creating calls on the parent, which all its members make in
//	                       the same order; groups that come out of one call are disjoint, so the world rank of
//	                       their first member tells them apart. On an intercommunicator the leaders of both
//	                       groups, the smaller first.
//	merge                  the same, on the intercommunicator
//	create_group           parent/group#tag.n: only the group's members call, so n counts the creations with this
//	                       parent, group and tag. The parent's counter does not advance.
//	create_from_group      group#"stringtag".n
//	intercommunicators     group+group#tag.n, both groups by hash in order of the hashes
//	spawn                  parent.n@leader>: equal on our side; the child's is MPI_Comm_get_parent, and the merger joins
//	                       the two
//	accept, connect        the same, if the other side is another world; within one world both sides know both
//	                       groups: group+group#port.n
//	join                   group+group#join.n, within one world; else join.n
//
// group is a hash of the world ranks. MPI_COMM_SELF has one name and many instances, told apart by their only member.
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

// advances reports whether a call counts on its parent: it is collective over it.
func (n naming) advances() bool { return n == namedByParent || n == namedRemote }

// Names of the predefined communicators.
const (
	worldName = "MPI_COMM_WORLD"
	selfName  = "MPI_COMM_SELF"
	// what MPI_Comm_get_parent gives: one for each world
	parentName = "MPI_Comm_get_parent"
)

// A description is what the shim appends for a new communicator.
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

// topologies of a description
const (
	topologyCart      = 1
	topologyDistGraph = 3
)

// readDescription reads a description; false when there is none.
func readDescription(r *record.Reader) (d description, ok bool) {
	if r.At >= len(r.Words) {
		return d, false
	}
	r.Word() // the raw handle: the call's own arguments have it
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

// A communicator is a live one.
type communicator struct {
	instance  int32
	own       int32
	inter     bool
	creations uint64 // creating calls that were collective over it
	known     bool
}

// communicators are those of the process.
type communicators struct {
	rank        int   // in MPI_COMM_WORLD
	world, self int32 // values in the table of handles: −1 − constant
	predefined  [2]communicator
	live        []communicator       // by local id
	instances   []trace.Communicator // all that have existed
	nth         map[string]uint64    // creations by a name without its ordinal
	nameBytes   int                  // of these names, about

	// what has changed since the tables were written, beside what is new
	labeled []int32  // instances that were given names
	counted []string // of nth

	generation *uint64 // counts what changes what a communicator is (repeats.go)
}

func newCommunicators(generation *uint64) *communicators {
	return &communicators{rank: none, nth: map[string]uint64{}, generation: generation}
}

// of gives the communicator for a value of the table of handles, nil for MPI_COMM_NULL and what we know nothing of.
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
		c.meetSelf()
		found = &c.predefined[1]
	default:
		return nil
	}
	if !found.known {
		return nil
	}
	return found
}

// start makes the predefined communicators known.
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
		// the group of a large world does not fit into a record, but it is known
		c.rank = world.own
		c.instances[0].Members = trace.RankList{{Start: 0, Count: world.size, Stride: 1}}
	}
}

// meetSelf makes MPI_COMM_SELF known at its first use. Every rank has an instance of its own, and most never use it.
func (c *communicators) meetSelf() {
	if self := &c.predefined[1]; !self.known && c.predefined[0].known {
		*c.generation++
		*self = communicator{instance: int32(len(c.instances)), known: true}
		d := description{size: 1, group: []int{c.rank}}
		c.instances = append(c.instances, d.content(selfName))
	}
}

// add makes the communicator with a local id known.
func (c *communicators) add(id int32, name string, d description) {
	*c.generation++
	for int(id) >= len(c.live) {
		c.live = append(c.live, communicator{})
	}
	c.live[id] = communicator{instance: int32(len(c.instances)), own: int32(d.own), inter: d.inter, known: true}
	c.instances = append(c.instances, d.content(name))
}

// forget is for a freed communicator.
func (c *communicators) forget(id int32) {
	if id >= 0 && int(id) < len(c.live) {
		*c.generation++
		c.live[id] = communicator{}
	}
}

// inherit makes a duplicate known that cannot be described yet: all but its name is as in the parent.
func (c *communicators) inherit(id int32, parent instanceIndex, own int32, inter bool, b birth) {
	child := c.instances[parent]
	child.Label = ""
	b.group, b.remote = leaderOf(child.Members), leaderOf(child.Remote)
	b.inter = inter
	c.add(id, c.name(b), description{own: int(own), inter: inter})
	child.GlobalName = c.instances[c.live[id].instance].GlobalName
	c.instances[c.live[id].instance] = child
}

// leaderOf is the part of a group that a name by parent needs.
func leaderOf(l trace.RankList) []int {
	if len(l) == 0 {
		return nil
	}
	return []int{l[0].Start}
}

// A birth is what the name of a new communicator depends on.
type birth struct {
	how           naming
	parent        string // global name
	ordinal       uint64 // on the parent, at entry
	tag           string
	inter         bool
	group, remote []int // world ranks
}

func (b birth) of(child description) birth {
	b.inter, b.group, b.remote = child.inter, child.group, child.remote
	return b
}

const maxName = 96 // names of duplicates of duplicates grow; longer ones are hashed

func (c *communicators) name(b birth) string {
	var name string
	// two sides of one world need not take each other for strangers
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

// next is ".n" for the nth creation with this name.
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

// content is the described communicator as the trace has it.
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
