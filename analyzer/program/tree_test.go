package program_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// calls executes steps as a class does.
func calls(steps []*program.Step, class int, come, made map[int]int) (list []int32) {
	for _, s := range steps {
		trips := s.Trips(class)
		if trips == nil {
			continue
		}
		n := trips[come[s.Number]%len(trips)]
		come[s.Number]++
		for range n {
			if s.Terminal < 0 {
				list = append(list, calls(s.Body, class, come, made)...)
				continue
			}
			cycle := s.Calls(class)
			list = append(list, cycle[made[s.Number]%len(cycle)])
			made[s.Number]++
		}
	}
	return list
}

// The tree reproduces the calls of every rank, without those that are removed.
func TestTree(t *testing.T) {
	b := tracetest.New(5)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for k := range 30 {
			for range i + k%3 {
				call(r, "t.c:1", "MPI_Send", tracetest.Args{"dest": k % 5})
			}
			call(r, "t.c:2", "MPI_Wtime", nil)
			if k%4 == i%4 {
				call(r, "t.c:3", "MPI_Barrier", nil)
			}
		}
	})
	b.Meta().Final = true
	of := timeline.Of(b.Open(t))
	clock := func(terminal int32) bool { return of.Function(of.Signatures()[terminal].Function).Name == "MPI_Wtime" }
	for _, without := range []func(int32) bool{nil, clock} {
		tree, err := program.NewTree(context.Background(), of, 0, without)
		require.NoError(t, err)
		for i, thread := range of.Threads().All() {
			var want []int32
			for terminal := range of.Grammar().All(thread.Root) {
				if without == nil || !without(terminal) {
					want = append(want, terminal)
				}
			}
			assert.Equal(t, want, calls(tree.Body, tree.Class[i], map[int]int{}, map[int]int{}), "rank %d", thread.Rank)
		}
	}
}
