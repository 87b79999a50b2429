package timeline_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestRoles: the threads of each rank make their first calls in a random order. They have the same
// roles on all ranks, and in all orders, as the plan of the program has.
func TestRoles(t *testing.T) {
	type plan struct {
		line            int // of its calls
		tag, calls, dir int
		only            int // a rank that alone has this thread; −1: all have it
	}
	functions := map[int]string{10: "compute", 11: "helper", 12: "output"} // by line
	plans := []plan{                                                       // in the order of roles
		{10, 1, 4, 1, -1}, {10, 2, 2, 1, -1}, {10, 2, 3, 1, -1}, {10, 2, 3, 3, -1},
		{11, 1, 4, 1, -1}, {12, 0, 1, 1, 2},
	}
	const ranks = 4
	for seed := range int64(100) {
		rng := rand.New(rand.NewSource(seed))
		b := tracetest.New(ranks)
		var want []int
		for i := range ranks {
			main := b.Rank(i).Init(0, 1)
			want = append(want, 0)
			for _, k := range rng.Perm(len(plans)) {
				p := plans[k]
				if p.only >= 0 && p.only != i {
					continue
				}
				thread := main.Thread().At(fmt.Sprintf("t.c:%d", p.line))
				for n := range p.calls {
					at := 1 + float64(n)
					thread.Call("MPI_Send", at, at+1, tracetest.Args{"count": 1, "dest": (i + p.dir) % ranks, "tag": p.tag})
				}
				want = append(want, 1+k)
			}
			main.Finalize(20, 21)
		}
		c := b.Content()
		for i := range c.Sites {
			c.Sites[i].Function = functions[c.Sites[i].Line]
		}
		roles, err := timeline.Roles(t.Context(), timeline.Of(tracetest.Open(t, c)))
		require.NoError(t, err)
		require.Equal(t, want, roles, "seed %d", seed)
	}
}

// TestRolesOfEqualThreads: threads that do not differ keep the order of their first calls.
func TestRolesOfEqualThreads(t *testing.T) {
	b := tracetest.New(2)
	for i := range 2 {
		main := b.Rank(i).Init(0, 1)
		for n := range 3 {
			main.Thread().At("work").Call("MPI_Barrier", 1+float64(n), 2+float64(n), nil)
		}
		main.Finalize(5, 6)
	}
	roles, err := timeline.Roles(t.Context(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 0, 1, 2, 3}, roles)
}
