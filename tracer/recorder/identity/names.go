package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

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

// advances reports whether a creation increments the counter of its parent: whether it is
// collective over the parent.
func advances(how semantics.Creation) bool {
	switch how {
	case semantics.FromMembers, semantics.FromGroup, semantics.Intercommunicator, semantics.FromJoin:
		return false
	}
	return true
}

// leaderOf returns the leading part of a group that is needed for a name by parent.
func leaderOf(l trace.RankList) []int {
	if len(l) == 0 {
		return nil
	}
	return []int{l[0].Start}
}

// An origin is what the name of a new communicator is made from.
type origin struct {
	how           semantics.Creation
	parent        string // global name
	ordinal       uint64 // on the parent, at entry
	tag           string
	inter         bool
	group, remote []int // world ranks
}

const maxName = 96 // duplicates of duplicates have ever longer names; longer ones are hashed

func (c *communicators) name(o origin) string {
	if allOurs(o.group) && allOurs(o.remote) {
		switch o.how {
		case semantics.FromConnect, semantics.FromAccept, semantics.FromSpawn:
			o.how, o.tag = semantics.Intercommunicator, "port"
		case semantics.FromJoin:
			o.how, o.tag = semantics.Intercommunicator, "join"
		}
	}
	var name, counted string // counted: the name without its ordinal
	switch o.how {
	case semantics.FromMembers:
		counted = fmt.Sprintf("%s/%s#%s", o.parent, groupHash(o.group), o.tag)
	case semantics.FromGroup:
		counted = fmt.Sprintf("%s#%q", groupHash(o.group), o.tag)
	case semantics.Intercommunicator:
		one, other := groupHash(o.group), groupHash(o.remote)
		counted = fmt.Sprintf("%s+%s#%s", min(one, other), max(one, other), o.tag)
	case semantics.FromJoin:
		counted = "join"
	case semantics.FromParent, semantics.FromMerge:
		leaders := fmt.Sprint(leader(o.group))
		if one, other := leader(o.group), leader(o.remote); o.inter {
			leaders = fmt.Sprintf("%d,%d", min(one, other), max(one, other))
		}
		name = fmt.Sprintf("%s.%d@%s", o.parent, o.ordinal, leaders)
	default:
		name = fmt.Sprintf("%s.%d@%d>", o.parent, o.ordinal, leader(o.group))
	}
	if counted != "" {
		name = counted + c.next(counted)
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(name))
		name = "~" + hex.EncodeToString(sum[:12])
	}
	return name
}

// allOurs reports whether all processes of a group are in this world.
func allOurs(group []int) bool { return len(group) > 0 && slices.Min(group) >= 0 }

// next returns ".n" for the nth creation with this name.
func (c *communicators) next(name string) string {
	n := c.nth[name]
	c.nth[name] = n + 1
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
