package match_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// starts records the ranks that a call waits for that never returned, by the caller's rank.
type starts struct {
	recorder
	members map[int][]int
}

func (s *starts) Stopped(calls []match.Unreturned) {
	for i := range calls {
		for k := range calls[i].Waits {
			s.members[calls[i].Row] = append(s.members[calls[i].Row], calls[i].Waits[k].For...)
		}
	}
}

// TestRandomGroups: each rank makes random groups from the world's by the calls of MPI, computed
// here by their definitions (MPI 4.0 §7.3.2), and ends in MPI_Win_start for the last one: it waits
// for the members.
func TestRandomGroups(t *testing.T) {
	const ranks = 24
	random := rand.New(rand.NewPCG(3, 1))
	b := tracetest.New(ranks)
	want, got := map[int][]int{}, starts{members: map[int][]int{}}
	b.Ranks(func(row int, r *tracetest.Rank) {
		r.Call("MPI_Win_create", 1, 2, tracetest.Args{"win": tracetest.Win(0)}).
			Call("MPI_Comm_group", 2, 3, tracetest.Args{"group": tracetest.Group(0)})
		groups := [][]int{make([]int, ranks)}
		for i := range ranks {
			groups[0][i] = i
		}
		at := 3.0
		for len(groups) < 8 || len(groups[len(groups)-1]) == 0 {
			name, args, made := randomGroup(random, groups)
			args["newgroup"] = tracetest.Group(len(groups))
			r.Call(name, at, at+0.5, args)
			groups = append(groups, made)
			at++
		}
		last := len(groups) - 1
		r.Unfinished("MPI_Win_start", at, at+1, tracetest.Args{"group": tracetest.Group(last), "win": tracetest.Win(0)})
		want[row] = groups[last]
	})
	_, err := match.All(context.Background(), timeline.Of(b.Open(t)), nil, &got, nil)
	require.NoError(t, err)
	for row := range ranks {
		require.Equal(t, want[row], got.members[row], "rank %d", row)
	}
}

// randomGroup returns a call that makes a group from some of the given ones, and its members.
func randomGroup(random *rand.Rand, groups [][]int) (name string, args tracetest.Args, made []int) {
	first, second := random.IntN(len(groups)), random.IntN(len(groups))
	a, b := groups[first], groups[second]
	args = tracetest.Args{"group1": tracetest.Group(first), "group2": tracetest.Group(second)}
	kept := func(list []int, keep func(i int) bool) (out []int) {
		for i, rank := range list {
			if keep(i) {
				out = append(out, rank)
			}
		}
		return out
	}
	in := slices.Contains[[]int]
	kind := random.IntN(7)
	switch kind {
	case 0:
		return "MPI_Group_union", args, append(slices.Clone(a), kept(b, func(i int) bool { return !in(a, b[i]) })...)
	case 1:
		return "MPI_Group_intersection", args, kept(a, func(i int) bool { return in(b, a[i]) })
	case 2:
		return "MPI_Group_difference", args, kept(a, func(i int) bool { return !in(b, a[i]) })
	}
	var indices, ranges []int // into the first group; ranges: first, last, stride
	if kind < 5 {
		indices = random.Perm(len(a))[:random.IntN(len(a)+1)]
		args = tracetest.Args{"group": tracetest.Group(first), "n": len(indices), "ranks": indices}
		name = "MPI_Group_"
	} else {
		if len(a) > 0 {
			from, stride := random.IntN(len(a)), 1+random.IntN(3)
			until := from + random.IntN(len(a)-from)
			for i := from; i <= until; i += stride {
				indices = append(indices, i)
			}
			if ranges = []int{from, until, stride}; random.IntN(2) == 0 { // downwards
				indices = indices[:0]
				for i := until; i >= from; i -= stride {
					indices = append(indices, i)
				}
				ranges = []int{until, from, -stride}
			}
		}
		args = tracetest.Args{"group": tracetest.Group(first), "n": len(ranges) / 3, "ranges": ranges}
		name = "MPI_Group_range_"
	}
	if random.IntN(2) == 0 {
		return name + "excl", args, kept(a, func(i int) bool { return !in(indices, i) })
	}
	for _, i := range indices {
		made = append(made, a[i])
	}
	return name + "incl", args, made
}
