package waitstate_test

import (
	"context"
	"math/rand/v2"
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
