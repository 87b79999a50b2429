package logical_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/logical"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func parameters(p *logical.Program) []string {
	list := []string{}
	for _, d := range p.Differing {
		list = append(list, d.Parameter)
	}
	return list
}

// built returns the program of ranks that pass messages along a ring, in random order.
func built(t *testing.T, ranks int, seed uint64, more func(i int, r *tracetest.Rank)) *logical.Program {
	t.Helper()
	b := tracetest.New(ranks)
	place := rand.New(rand.NewPCG(seed, 9)).Perm(ranks) // position of a rank in the ring
	at := make([]int, ranks)
	for rank, i := range place {
		at[i] = rank
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		for range 5 {
			r.At("ring.c:1").Call("MPI_Send", 2, 2, tracetest.Args{"dest": at[(place[i]+1)%ranks], "count": 8})
			r.At("ring.c:2").Call("MPI_Recv", 2, 2, tracetest.Args{"source": at[(place[i]+ranks-1)%ranks], "count": 8})
		}
		more(i, r)
		r.Finalize(9, 10)
	})
	b.Meta().Final = true
	return traced(t, b, ranks)
}

func traced(t *testing.T, b *tracetest.Builder, ranks int) *logical.Program {
	t.Helper()
	r := b.Open(t)
	traffic, err := traffic.Matrix(r)
	require.NoError(t, err)
	shape := topology.Identify(topology.World(traffic, ranks), topology.Options{})
	p, err := logical.New(context.Background(), timeline.Of(r), &shape)
	require.NoError(t, err)
	for rank := range ranks {
		require.Equal(t, logical.Physical(timeline.Of(r), rank), p.Expand(rank), "rank %d", rank)
	}
	return p
}

// A regression: one key of MPI_Comm_split made every rank a program of its own.
func TestRanksAreAlikeModuloParameters(t *testing.T) {
	p := built(t, 16, 1, func(i int, r *tracetest.Rank) {
		key := i
		if i == 1 {
			key = 99
		}
		r.At("split.c:3").Call("MPI_Comm_split", 3, 4, tracetest.Args{"color": 0, "key": key})
	})
	assert.Len(t, p.Alike, 16)
	assert.Len(t, p.Derived, 1, "the key is kept")
	assert.Equal(t, []string{"key"}, parameters(p))
	assert.False(t, p.Trips)
}

// Loops with different trip counts are one program; a different call, or a different order, is not.
func TestWhatIsTheSameStructure(t *testing.T) {
	p := built(t, 8, 2, func(i int, r *tracetest.Rank) {
		for range 3 + i {
			r.At("a.c:1").Call("MPI_Barrier", 3, 3, nil)
			r.At("a.c:2").Call("MPI_Allreduce", 3, 3, tracetest.Args{"count": 4})
		}
	})
	assert.Len(t, p.Alike, 8)
	assert.True(t, p.Trips)
	p = built(t, 8, 2, func(i int, r *tracetest.Rank) {
		sites := []string{"a.c:1", "a.c:2"}
		if i == 5 {
			sites = []string{"a.c:2", "a.c:1"}
		}
		for _, site := range sites {
			r.At(site).Call("MPI_Barrier", 3, 3, nil)
		}
	})
	assert.Len(t, p.Alike, 7)
	assert.NotContains(t, p.Alike, 5)
}

// TestPlantedPrograms: a random number of ranks run random programs with different arguments; some
// make an additional call. All others are one program.
func TestPlantedPrograms(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 4))
		ranks := 5 + random.IntN(20)
		sites, iterations := 1+random.IntN(4), 1+random.IntN(4)
		// fewer than half, so that the program of most ranks is the one examined
		odd := map[int]bool{}
		for range random.IntN(ranks/2 + 1) {
			odd[1+random.IntN(ranks-1)] = true // rank 0 is the maximal rank of a ring
		}
		p := built(t, ranks, seed, func(i int, r *tracetest.Rank) {
			for k := range iterations {
				for s := range sites {
					r.At(fmt.Sprintf("p.c:%d", s)).Call("MPI_Bcast", 3, 3, tracetest.Args{"count": random.IntN(1000), "root": (i + k) % ranks})
				}
			}
			if odd[i] {
				r.At("p.c:99").Call("MPI_Barrier", 3, 3, nil)
			}
		})
		require.Equal(t, 0, p.Maximal)
		require.Len(t, p.Alike, ranks-len(odd), "seed %d", seed)
		for _, rank := range p.Alike {
			require.False(t, odd[rank], "seed %d, rank %d", seed, rank)
		}
	}
}

// TestEdgesThatSkip: ranks at the ends of a line skip calls that concern missing neighbors: the
// messages and the completions of nonblocking ones (NPB LU's exchange).
func TestEdgesThatSkip(t *testing.T) {
	const ranks = 6
	b := tracetest.New(ranks)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		for range 4 {
			if i > 0 {
				r.At("l.c:1").Call("MPI_Irecv", 2, 2, tracetest.Args{"source": i - 1, "count": 8})
			}
			if i < ranks-1 {
				r.At("l.c:2").Call("MPI_Send", 2, 2, tracetest.Args{"dest": i + 1, "count": 8 + i})
			}
			if i > 0 {
				r.At("l.c:3").Call("MPI_Wait", 2, 2, nil)
			}
		}
		r.At("l.c:9").Finalize(9, 10)
	})
	b.Meta().Final = true
	p := traced(t, b, ranks)
	assert.Len(t, p.Alike, ranks)
	assert.Equal(t, []string{"count"}, parameters(p))
}

// The paper's programs that the simulator has: BT and SP (multipartition), MG, CG's transposes, LU
// (wavefront).
func TestBenchmarksAreOneProgram(t *testing.T) {
	for _, c := range []simulate.Config{
		{Pattern: "multipartition", Ranks: 16},
		{Pattern: "multigrid", Ranks: 16},
		{Pattern: "multigrid", Ranks: 64},
		{Pattern: "transpose", Ranks: 16},
		{Pattern: "wavefront", Ranks: 36, Steps: 3},
	} {
		t.Run(fmt.Sprint(c.Pattern, c.Ranks), func(t *testing.T) {
			c.Iterations, c.Bytes, c.CallSites = 4, 4096, "caller"
			assert.Len(t, program(t, simulated(t, c)).Alike, c.Ranks)
		})
	}
}
