package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
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

// leaderOf returns the leading part of a group that is needed for a name by parent.
func leaderOf(l trace.RankList) []int {
	if len(l) == 0 {
		return nil
	}
	return []int{l[0].Start}
}

// An origin is what the name of a new communicator is made from.
type origin struct {
	how           naming
	parent        string // global name
	ordinal       uint64 // on the parent, at entry
	tag           string
	inter         bool
	group, remote []int // world ranks
}

func (o origin) of(child description) origin {
	o.inter, o.group, o.remote = child.inter, child.group, child.remote
	return o
}

const maxName = 96 // duplicates of duplicates have ever longer names; longer ones are hashed

func (c *communicators) name(o origin) string {
	var name string
	// both sides may be in this world
	if (o.how == namedRemote || o.how == namedJoin) && allOurs(o.group) && allOurs(o.remote) {
		o.tag = map[naming]string{namedRemote: "port", namedJoin: "join"}[o.how]
		o.how = namedByGroups
	}
	switch o.how {
	case namedByGroup:
		name = fmt.Sprintf("%s/%s#%s", o.parent, groupHash(o.group), o.tag)
		name += c.next(name)
	case namedFromGroup:
		name = fmt.Sprintf("%s#%q", groupHash(o.group), o.tag)
		name += c.next(name)
	case namedByGroups:
		hashes := []string{groupHash(o.group), groupHash(o.remote)}
		sort.Strings(hashes)
		name = fmt.Sprintf("%s+%s#%s", hashes[0], hashes[1], o.tag)
		name += c.next(name)
	case namedJoin:
		name = "join" + c.next("join")
	case namedRemote:
		name = fmt.Sprintf("%s.%d@%d>", o.parent, o.ordinal, leader(o.group))
	default:
		name = fmt.Sprintf("%s.%d@%d", o.parent, o.ordinal, leader(o.group))
		if o.inter {
			low, high := leader(o.group), leader(o.remote)
			if low > high {
				low, high = high, low
			}
			name = fmt.Sprintf("%s.%d@%d,%d", o.parent, o.ordinal, low, high)
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
		c.nameBytes += len(name) + TextBytes + EntryBytes
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
