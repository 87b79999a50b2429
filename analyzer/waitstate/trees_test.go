package waitstate_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// drawn are hand-drawn trees over eight participants: the parent of each of 1 … 7. The root is 0.
var drawn = map[string][8]int{
	"flat":                           {},
	"binomial, lowest bit (MPICH)":   {1: 0, 2: 0, 3: 2, 4: 0, 5: 4, 6: 4, 7: 6},
	"binomial, highest bit":          {1: 0, 2: 0, 3: 1, 4: 0, 5: 1, 6: 2, 7: 3},
	"binary, level by level (MPICH)": {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3},
	"binary, in turns (Open MPI)":    {1: 0, 2: 0, 3: 1, 4: 2, 5: 1, 6: 2, 7: 3},
	"4-nomial":                       {1: 0, 2: 0, 3: 0, 4: 0, 5: 4, 6: 4, 7: 4},
	"four chains (Open MPI)":         {1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 5, 7: 0},
	"chain":                          {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6},
}

// played is a simulated collective: the exit of each rank, and the rank that it waited for last, −1
// for none.
type played struct {
	exit  []float64
	cause []int
	until []float64
}

// broadcast: a rank has the data one hop after it has entered and its parent has it, passes it on
// and leaves.
func broadcast(above []int, root int, enter []float64, hop float64) played {
	n := len(above)
	p := played{make([]float64, n), make([]int, n), make([]float64, n)}
	for v := range n {
		r := (v + root) % n
		p.exit[r], p.cause[r], p.until[r] = enter[r]+hop, r, enter[r]
		if v > 0 {
			a := (above[v] + root) % n
			p.exit[r] = max(enter[r], p.exit[a]) + hop
			if p.until[a] > p.until[r] {
				p.cause[r], p.until[r] = p.cause[a], p.until[a]
			}
		}
	}
	return p
}

// reduction: a rank leaves one hop after it has entered and has the data of all ranks below it.
func reduction(above []int, root int, enter []float64, hop float64) played {
	n := len(above)
	p := played{make([]float64, n), make([]int, n), make([]float64, n)}
	for r := range n {
		p.exit[r], p.cause[r], p.until[r] = enter[r]+hop, r, enter[r]
	}
	for v := n - 1; v > 0; v-- {
		r, a := (v+root)%n, (above[v]+root)%n
		p.exit[a] = max(p.exit[a], p.exit[r]+hop)
		if p.until[r] > p.until[a] {
			p.cause[a], p.until[a] = p.cause[r], p.until[r]
		}
	}
	return p
}

// found is a wait that was found.
type found struct {
	kind  waitstate.Kind
	cause int
	until float64
}

// waitsIn returns the waits of the ranks in one rooted collective with these times.
func waitsIn(t *testing.T, function string, root int, enter, exit []float64) []found {
	t.Helper()
	b := tracetest.New(len(enter))
	last := 0.0
	for _, at := range exit {
		last = max(last, at)
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).Rooted(function, enter[i], exit[i], root).Finalize(last+1, last+2)
	})
	return waitsByRank(t, timeline.Of(b.Open(t)), len(enter))
}

// waitsByRank returns the waits of each rank in the call after MPI_Init.
func waitsByRank(t *testing.T, tr timeline.Trace, ranks int) []found {
	t.Helper()
	list := make([]found, ranks)
	finder := waitstate.NewFinder(tr, nil)
	for i := range list {
		list[i].cause = -1
	}
	finder.Found = func(s *waitstate.State) {
		if s.Kind != waitstate.WaitAtFinalize && s.Kind != waitstate.WaitAtInit {
			list[s.Call.Location] = found{s.Kind, s.Cause, float64(s.End) / tracetest.Unit}
		}
	}
	_, err := match.All(context.Background(), tr, nil, finder, nil)
	require.NoError(t, err)
	return list
}

// One rank is late by 50, a hop takes 1. For each tree, root and late rank: ranks whose data passes
// through the late one wait for its entry, and no other rank waits.
func TestWhoIsLateInATreeIsTheCause(t *testing.T) {
	for name, above := range drawn {
		for _, n := range []int{4, 5, 8} {
			if name == "four chains (Open MPI)" && n < 8 {
				continue // other chains
			}
			for root := range n {
				for late := range n {
					enter := make([]float64, n)
					for i := range enter {
						enter[i] = 10
					}
					enter[late] = 60
					for function, play := range map[string]func([]int, int, []float64, float64) played{"MPI_Bcast": broadcast, "MPI_Gather": reduction} {
						p := play(above[:n], root, enter, 1)
						got := waitsIn(t, function, root, enter, p.exit)
						for r := range n {
							want := -1
							if p.cause[r] != r && p.until[r] > enter[r] {
								want = late
							}
							require.Equal(t, want, got[r].cause, "%s, %s of %d, root %d, rank %d late: rank %d; exits %v", name, function, n, root, late, r, p.exit)
							if want >= 0 {
								require.Equal(t, 60.0, got[r].until)
							}
						}
					}
				}
			}
		}
	}
}

// A lateFor is a Handler that records who was late for each participant that waited for a cause in
// the middle of a collective, with the distances.
type lateFor struct {
	*waitstate.Trees
	of map[int][]waitstate.Late
}

func (l lateFor) Message(*match.Message)    {}
func (l lateFor) Settled(*match.Completion) {}
func (l lateFor) Collective(c *match.Collective, part int) {
	if cause, found := l.CauseOf(c, part); found {
		l.of[part] = cause.Late(c, part, nil)
	}
}

// Two ranks are late, by 30 and 70. For each tree and root: a rank that waits for one of them is
// told all of them that its data passes through, each with its distance in the tree.
func TestAllWhoAreLateInATree(t *testing.T) {
	const n = 8
	for name, above := range drawn {
		for function, play := range map[string]func([]int, int, []float64, float64) played{"MPI_Bcast": broadcast, "MPI_Gather": reduction} {
			for _, root := range []int{0, 3} {
				for first := root % 2; first < n; first += 4 {
					second := (first + 3) % n
					if first == root || second == root {
						continue // the operation itself makes others wait for the root
					}
					enter := make([]float64, n)
					for i := range enter {
						enter[i] = 10
					}
					enter[first], enter[second] = 40, 80
					p := play(above[:], root, enter, 1)
					b := tracetest.New(n)
					b.Ranks(func(i int, r *tracetest.Rank) {
						r.Init(0, 1).Rooted(function, enter[i], p.exit[i], root).Finalize(100, 101)
					})
					tr := timeline.Of(b.Open(t))
					got := lateFor{waitstate.NewTrees(tr), map[int][]waitstate.Late{}}
					_, err := match.All(context.Background(), tr, nil, got, nil)
					require.NoError(t, err)
					for part, late := range got.of {
						want := [][]waitstate.Late{}
						for _, other := range drawn { // all trees in which the ranks leave at about these times
							exit := play(other[:], root, enter, 1).exit
							if slices.EqualFunc(exit, p.exit, func(a, b float64) bool { return math.Abs(a-b) <= 5 }) {
								want = append(want, lateAlong(other, root, enter, part, function == "MPI_Bcast"))
							}
						}
						slices.SortFunc(late, func(a, b waitstate.Late) int { return cmp.Compare(a.Part, b.Part) })
						require.Contains(t, want, late, "%s, %s, root %d, rank %d, late: %d and %d", name, function, root, part, first, second)
					}
				}
			}
		}
	}
}

// lateAlong returns the ranks that entered after the given one and whose data goes to it, upwards
// in a tree, or downwards.
func lateAlong(above [8]int, root int, enter []float64, part int, downwards bool) (list []waitstate.Late) {
	n := len(above)
	for rank := range n {
		from, to, hops := (rank-root+n)%n, (part-root+n)%n, 0
		if downwards {
			from, to = to, from
		}
		for from != to && from > 0 {
			from = above[from]
			hops++
		}
		if from == to && hops > 0 && enter[rank] > enter[part] {
			list = append(list, waitstate.Late{Part: rank, Hops: hops})
		}
	}
	return list
}

// One rank is late by 50 in MPI_Scan, a hop takes 1. The partial results go from rank to rank, or
// ranks at distances 1, 2, 4, … exchange theirs. Who needs the late one's data waits for its entry.
func TestWhoIsLateInAPrefix(t *testing.T) {
	for _, n := range []int{5, 8} {
		for late := range n {
			for _, doubling := range []bool{false, true} {
				enter, exit, needs := make([]float64, n), make([]float64, n), make([]bool, n)
				for i := range enter {
					enter[i] = 10
				}
				enter[late], needs[late] = 60, true
				copy(exit, enter)
				if doubling {
					for step := 1; step < n; step *= 2 {
						had, at := slices.Clone(needs), slices.Clone(exit)
						for i := range n {
							exit[i]++
							if k := i ^ step; k < n {
								exit[i], needs[i] = max(at[i], at[k])+1, had[i] || had[k]
							}
						}
					}
				} else {
					for i := range n {
						if exit[i]++; i > 0 {
							exit[i], needs[i] = max(exit[i], exit[i-1]+1), needs[i] || needs[i-1]
						}
					}
				}
				b := tracetest.New(n)
				b.Ranks(func(i int, r *tracetest.Rank) {
					r.Init(0, 1).Collective("MPI_Scan", enter[i], exit[i]).Finalize(100, 101)
				})
				tr := timeline.Of(b.Open(t))
				for i, got := range waitsByRank(t, tr, n) {
					want := found{cause: -1}
					if needs[i] && i != late {
						want = found{waitstate.EarlyScan, late, 60}
					}
					require.Equal(t, want, got, "%d ranks, rank %d late, doubling %v: rank %d; exits %v", n, late, doubling, i, exit)
				}
				lates := lateFor{waitstate.NewTrees(tr), map[int][]waitstate.Late{}}
				_, err := match.All(context.Background(), tr, nil, lates, nil)
				require.NoError(t, err)
				for i, list := range lates.of { // as many hops as the doubling has steps
					require.Equal(t, []waitstate.Late{{Part: late, Hops: 3}}, list, "rank %d", i)
				}
			}
		}
	}
}

// Three ranks enter at 10, 30 and 60. Rank 0 leaves before rank 2 has entered, so it did not wait
// for all: for rank 1 at most. In some operations nobody can leave before all have entered: clocks
// are wrong then.
func TestWhoLeavesACollectiveEarly(t *testing.T) {
	for _, test := range []struct {
		function   string
		exit       float64 // of rank 0
		cause      int
		until      float64
		violations int
	}{
		{"MPI_Allreduce", 31, 1, 30, 1},
		{"MPI_Allreduce", 55, -1, 0, 1}, // it stayed for longer after rank 1's entry than before
		{"MPI_Allreduce", 20, -1, 0, 1},
		{"MPI_Allreduce", 61, 2, 60, 0},
		{"MPI_Barrier", 31, 2, 31, 1},
		{"MPI_Reduce", 31, 1, 30, 0},
		{"MPI_Scan", 31, 1, 30, 0},
	} {
		b := tracetest.New(3)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Init(0, 1).Rooted(test.function, []float64{10, 30, 60}[i], []float64{test.exit, 61, 61}[i], 0).Finalize(100, 101)
		})
		got := found{cause: -1}
		tr := timeline.Of(b.Open(t))
		finder := waitstate.NewFinder(tr, func(s *waitstate.State) {
			if s.Call.Location == 0 {
				got.cause, got.until = s.Cause, float64(s.End)/tracetest.Unit
			}
		})
		_, err := match.All(context.Background(), tr, nil, finder, nil)
		require.NoError(t, err)
		require.Equal(t, found{cause: test.cause, until: test.until}, got, "%s until %v", test.function, test.exit)
		require.Equal(t, test.violations, finder.Violations.Count, "%s until %v", test.function, test.exit)
	}
}

// Ranks enter at random within 100, a hop takes 1. For each tree nearly all waiting is found and
// attributed to the right rank.
func TestRandomLatenessInTrees(t *testing.T) {
	for name, above := range drawn {
		for function, play := range map[string]func([]int, int, []float64, float64) played{"MPI_Scatter": broadcast, "MPI_Reduce": reduction} {
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			waited, right, wrong := 0.0, 0.0, 0.0
			for range 100 {
				enter := make([]float64, 8)
				for i := range enter {
					enter[i] = 10 + 100*random.Float64()
				}
				root := random.IntN(8)
				p := play(above[:], root, enter, 1)
				got := waitsIn(t, function, root, enter, p.exit)
				for r := range enter {
					w := max(0, p.until[r]-enter[r])
					waited += w
					switch {
					case got[r].cause == p.cause[r]:
						right += w
					case got[r].cause >= 0:
						wrong += got[r].until - enter[r]
					}
				}
			}
			assert.Greater(t, right, 0.95*waited, "%s, %s", name, function)
			assert.Less(t, wrong, 0.05*waited, "%s, %s", name, function)
		}
	}
}
