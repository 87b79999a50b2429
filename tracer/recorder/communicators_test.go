package recorder

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// simulate simulates the ranks of a world that all run the same program; f makes the
// calls of one rank.
func simulate(t *testing.T, size int, f func(s *recordtest.Shim, rank int64)) []*trace.Content {
	t.Helper()
	var cs []*trace.Content
	for rank := range size {
		s := recordtest.NewShim(t)
		s.Init(int64(rank), int64(size))
		f(s, int64(rank))
		cs = append(cs, contentOf(s))
	}
	return cs
}

// names checks that a name has the same members on all ranks, and that these are the ranks that
// have it. It returns name: members for all.
func names(t *testing.T, cs []*trace.Content) map[string]string {
	t.Helper()
	have := map[string][]int{}
	members := map[string]string{}
	for rank, c := range cs {
		seen := map[string]bool{}
		for _, k := range c.Communicators {
			if seen[k.GlobalName] {
				t.Errorf("rank %d has two communicators %s", rank, k.GlobalName)
			}
			seen[k.GlobalName] = true
			have[k.GlobalName] = append(have[k.GlobalName], rank)
			is := k.Members.String()
			if len(k.Remote) > 0 && k.Members[0].Start < k.Remote[0].Start {
				is += " | " + k.Remote.String()
			} else if len(k.Remote) > 0 {
				is = k.Remote.String() + " | " + is
			}
			if was, ok := members[k.GlobalName]; ok && was != is {
				t.Errorf("%s is %s on rank %d, %s elsewhere", k.GlobalName, is, rank, was)
			}
			members[k.GlobalName] = is
		}
	}
	for name, ranks := range have {
		if n := len(ranks); n != countMembers(cs, name) {
			t.Errorf("%s is on ranks %v, has members %s", name, ranks, members[name])
		}
	}
	return members
}

func countMembers(cs []*trace.Content, name string) int {
	for _, c := range cs {
		for _, k := range c.Communicators {
			if k.GlobalName == name {
				return k.Members.Len() + k.Remote.Len()
			}
		}
	}
	return 0
}

func split(s *recordtest.Shim, comm, color, newComm int64, d recordtest.Description) {
	s.Call(0, "MPI_Comm_split", 0, comm, color, 0, newComm, d)
}

func TestSplitNames(t *testing.T) {
	const size = 6
	cs := simulate(t, size, func(s *recordtest.Shim, rank int64) {
		// rows of three, raw handles that differ from rank to rank
		row := rank / 3
		raw := 9000 + 16*rank
		split(s, recordtest.CommWorld, row, raw, recordtest.Description{Raw: raw, Own: rank % 3, Size: 3, Group: recordtest.List{3 * row, 3*row + 1, 3*row + 2}})
		// the first row splits again; the other ranks take part in a split and get nothing
		if row == 0 {
			split(s, raw, 0, raw+1, recordtest.Description{Raw: raw + 1, Own: 2 - rank, Size: 3, Group: recordtest.List{2, 1, 0}})
		}
		if rank == 5 {
			s.Call(0, "MPI_Comm_split", 0, recordtest.CommWorld, recordtest.Undefined, 0, recordtest.CommNull)
		} else {
			split(s, recordtest.CommWorld, 0, raw+2, recordtest.Description{Raw: raw + 2, Own: rank, Size: 5, Group: recordtest.List{0, 1, 2, 3, 4}})
		}
		// duplicates of the world afterwards have the same ordinal on all ranks
		s.Call(0, "MPI_Comm_dup", 0, recordtest.CommWorld, raw+3, recordtest.Description{Raw: raw + 3, Own: rank, Size: size, Group: recordtest.List{0, 1, 2, 3, 4, 5}})
		// a freed handle may be reused for another communicator
		s.Call(0, "MPI_Comm_free", 0, raw+3, recordtest.CommNull)
		s.Call(0, "MPI_Comm_dup", 0, recordtest.CommWorld, raw+3, recordtest.Description{Raw: raw + 3, Own: rank, Size: size, Group: recordtest.List{0, 1, 2, 3, 4, 5}})
	})
	want := map[string]string{
		"MPI_COMM_WORLD":         "0-5",
		"MPI_COMM_WORLD.0@0":     "0-2",
		"MPI_COMM_WORLD.0@3":     "3-5",
		"MPI_COMM_WORLD.0@0.0@2": "2-0:-1",
		"MPI_COMM_WORLD.1@0":     "0-4",
		"MPI_COMM_WORLD.2@0":     "0-5",
		"MPI_COMM_WORLD.3@0":     "0-5",
	}
	if d := cmp.Diff(want, names(t, cs)); d != "" {
		t.Error(d)
	}
	recordtest.Expect(t, recordtest.Lines(t, cs[5], 0)[1:],
		"Comm_split(COMM_WORLD 1 0 -> #0) comm MPI_COMM_WORLD.0@3",
		"Comm_split(COMM_WORLD UNDEFINED 0 -> COMM_NULL)",
		"Comm_dup(COMM_WORLD -> #1) comm MPI_COMM_WORLD.2@0",
		"Comm_free(#1 -> COMM_NULL)",
		"Comm_dup(COMM_WORLD -> #1) comm MPI_COMM_WORLD.3@0",
	)
	for rank, c := range cs[:3] {
		own := int32(none)
		for _, s := range c.Signatures {
			if s.In != nil && s.In[0].Form == trace.Handle && s.In[0].Int == 0 && s.Communicator.Form == trace.Stream {
				own = s.OwnRank
			}
		}
		if own != int32(rank) {
			t.Errorf("rank %d splits its row as rank %d", rank, own)
		}
	}
}

// MPI_Comm_create_group is called by its members only, so the parent's count of creations
// must not advance.
func TestCreateGroupDoesNotCountOnTheParent(t *testing.T) {
	cs := simulate(t, 4, func(s *recordtest.Shim, rank int64) {
		for n := range int64(2) {
			if rank < 2 {
				raw := 9000 + n
				s.Call(0, "MPI_Comm_create_group", 0, recordtest.CommWorld, 77, 5, raw, recordtest.Description{Raw: raw, Own: rank, Size: 2, Group: recordtest.List{0, 1}})
			}
		}
		s.Call(0, "MPI_Comm_dup", 0, recordtest.CommWorld, 9005, recordtest.Description{Raw: 9005, Own: rank, Size: 4, Group: recordtest.List{0, 1, 2, 3}})
	})
	want := map[string]string{
		"MPI_COMM_WORLD":                  "0-3",
		"MPI_COMM_WORLD.0@0":              "0-3",
		"MPI_COMM_WORLD/01acecb507ab#5.0": "0-1", // after the hash of the group
		"MPI_COMM_WORLD/01acecb507ab#5.1": "0-1",
	}
	if d := cmp.Diff(want, names(t, cs)); d != "" {
		t.Error(d)
	}
}

func TestIntercommunicators(t *testing.T) {
	cs := simulate(t, 5, func(s *recordtest.Shim, rank int64) {
		side := rank % 2
		groups := []recordtest.List{{0, 2, 4}, {1, 3}}
		d := func(raw int64) recordtest.Description {
			return recordtest.Description{Raw: raw, Own: rank / 2, Size: int64(len(groups[side])), Inter: 1,
				RemoteSize: int64(len(groups[1-side])), Group: groups[side], Remote: groups[1-side]}
		}
		split(s, recordtest.CommWorld, side, 50, recordtest.Description{Raw: 50, Own: rank / 2, Size: int64(len(groups[side])), Group: groups[side]})
		s.Call(0, "MPI_Intercomm_create", 0, 50, 0, recordtest.CommWorld, 1-side, 12, 51, d(51))
		s.Call(0, "MPI_Comm_dup", 0, 51, 52, d(52))
		s.Call(0, "MPI_Intercomm_merge", 0, 51, side, 53, recordtest.Description{Raw: 53, Own: rank/2 + 3*side, Size: 5, Group: recordtest.List{0, 2, 4, 1, 3}})
		// only the root's count and type are significant; the root group passes MPI_ROOT
		// or MPI_PROC_NULL
		root := int64(2)
		if side == 1 {
			root = recordtest.ProcNull
			if rank == 3 {
				root = recordtest.MPIRoot
			}
		}
		s.Call(0, "MPI_Gather", 0, 0x10, 1, recordtest.TypeInt, 999, 888, root, 51, 0x20)
	})
	const hash = "30656bde9830+5c4f0026a586" // of the odd and the even ranks
	both := "0-4:2 | 1-3:2"
	if got := names(t, cs); len(got) != 6 {
		t.Error(got)
	} else if _, ok := got[hash+"#12.0"]; !ok {
		t.Error(got, both)
	} else if _, ok := got[hash+"#12.0.0@0,1"]; !ok {
		t.Error(got)
	} else if _, ok := got[hash+"#12.0.1@0"]; !ok {
		t.Error(got)
	}
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, cs[0], 0), 1), "Gather(ptr 1 INT - - 2 #1 -> -)")
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, cs[1], 0), 1), "Gather(ptr 1 INT - - PROC_NULL #1 -> -)")
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, cs[3], 0), 1), "Gather(ptr 1 INT 999 #0 ROOT #1 -> ptr)")
}

// A duplicate that is not ready yet cannot be queried; it is as its parent.
func TestIdupIsAsItsParent(t *testing.T) {
	cs := simulate(t, 4, func(s *recordtest.Shim, rank int64) {
		raw := 50 + rank
		s.Call(0, "MPI_Cart_create", 0, recordtest.CommWorld, 2, recordtest.List{2, 2}, recordtest.List{0, 1}, 0, raw,
			recordtest.Description{Raw: raw, Own: rank, Size: 4, Topology: 1, Group: recordtest.List{0, 1, 2, 3}, Dims: recordtest.List{2, 2}, Periods: recordtest.List{0, 1}, Coords: recordtest.List{rank / 2, rank % 2}})
		s.Call(0, "MPI_Comm_set_name", 0, raw, recordtest.Str("grid"))
		s.Call(0, "MPI_Comm_idup", 0, raw, 90, 91)
		s.Call(0, "MPI_Wait", 0, 91, recordtest.RequestNull, recordtest.Status{})
		s.Call(0, "MPI_Barrier", 0, 90)
	})
	for rank, c := range cs {
		recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, c, 0), 3),
			"Comm_idup(#0 -> #1 #0) comm MPI_COMM_WORLD.0@0.0@0",
			"Wait(#0 -> - [~0 ~0 ~0 ~0 ~0])",
			"Barrier(#1 -> )",
		)
		want := trace.Communicator{
			GlobalName: "MPI_COMM_WORLD.0@0.0@0", Members: trace.RankList{{Start: 0, Count: 4, Stride: 1}},
			Topology: trace.Topology{Dims: []int{2, 2}, Periodic: []bool{false, true}},
		}
		if d := cmp.Diff(want, c.Communicators[2]); d != "" {
			t.Error(d)
		}
		if c.Communicators[1].Label != "grid" {
			t.Errorf("label %q", c.Communicators[1].Label)
		}
		if own := c.Signatures[len(c.Signatures)-1].OwnRank; own != int32(rank) {
			t.Errorf("rank %d is rank %d of the duplicate", rank, own)
		}
	}
}

func TestSelf(t *testing.T) {
	cs := simulate(t, 2, func(s *recordtest.Shim, rank int64) {
		s.Call(0, "MPI_Barrier", 0, recordtest.CommSelf)
		s.Call(0, "MPI_Comm_dup", 0, recordtest.CommSelf, 60, recordtest.Description{Raw: 60, Size: 1, Group: recordtest.List{rank}})
	})
	for rank, c := range cs {
		if got := c.Communicators[1]; got.GlobalName != "MPI_COMM_SELF" || got.Members.String() != fmt.Sprint(rank) {
			t.Error(got)
		}
		if got := c.Communicators[2].GlobalName; got != fmt.Sprintf("MPI_COMM_SELF.0@%d", rank) {
			t.Error(got)
		}
	}
}

func TestLongNamesAreHashed(t *testing.T) {
	var last [2]string
	for rank, c := range simulate(t, 2, func(s *recordtest.Shim, rank int64) {
		comm := int64(recordtest.CommWorld)
		for n := range int64(40) {
			s.Call(0, "MPI_Comm_dup", 0, comm, 100+n, recordtest.Description{Raw: 100 + n, Own: rank, Size: 2, Group: recordtest.List{0, 1}})
			comm = 100 + n
		}
	}) {
		last[rank] = c.Communicators[40].GlobalName
	}
	if last[0] != last[1] || len(last[0]) > 96 {
		t.Error(last)
	}
}
