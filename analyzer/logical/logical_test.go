package logical_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/logical"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

func simulated(t testing.TB, config simulate.Config) *trace.Reader {
	t.Helper()
	return tracetest.Open(t, tracetest.Simulated(t, config))
}

func program(t *testing.T, r *trace.Reader) *logical.Program {
	t.Helper()
	traffic, err := traffic.Matrix(r)
	require.NoError(t, err)
	shape := topology.Identify(topology.World(traffic, r.Meta().WorldSize), topology.Options{})
	p, err := logical.New(context.Background(), timeline.Of(r), &shape)
	require.NoError(t, err)
	return p
}

// Expanding the program returns what each rank did; boundary ranks need no sequence of their own.
func TestExpansionIsTheOriginal(t *testing.T) {
	for _, test := range []struct {
		c    simulate.Config
		kept int
	}{
		{simulate.Config{Pattern: "wavefront", Ranks: 36, Steps: 3}, 0},
		{simulate.Config{Pattern: "stencil2d", Ranks: 25, Periodic: true}, 0},
		{simulate.Config{Pattern: "stencil3d", Ranks: 27}, 0},
		{simulate.Config{Pattern: "ring", Ranks: 8}, 0},
		{simulate.Config{Pattern: "hypercube", Ranks: 16}, 0},
		{simulate.Config{Pattern: "tree", Ranks: 16}, -1},
		{simulate.Config{Pattern: "master-worker", Ranks: 8}, -1},
	} {
		t.Run(test.c.Pattern, func(t *testing.T) {
			test.c.Iterations, test.c.Bytes, test.c.CallSites = 12, 64, "caller"
			r := simulated(t, test.c)
			p := program(t, r)
			if test.kept >= 0 {
				assert.Len(t, p.Kept, test.kept)
			}
			assert.Len(t, append(p.Kept, p.Derived...), test.c.Ranks)
			for rank := range test.c.Ranks {
				require.Equal(t, logical.Physical(timeline.Of(r), rank), p.Expand(rank), "rank %d", rank)
			}
			file, err := p.Bytes()
			require.NoError(t, err)
			sizes := r.Sizes()
			t.Logf("%d derived, %d kept, %d calls along the topology, %d beside it; %d bytes for %d of signatures, grammar, rank map and values",
				len(p.Derived), len(p.Kept), p.Inside, p.Outside, len(file), sizes.Signatures+sizes.Grammar+sizes.RankMap+sizes.Values)
		})
	}
}

// In an intercommunicator peers are numbered in the remote group: in another part of the world, or
// in another world.
func TestPeersOfIntercommunicatorsAreOnTheOtherSide(t *testing.T) {
	b := tracetest.New(8)
	left, right, away := b.Comm("x+y#0", 0, 1, 2, 3), b.Comm("x+y#0", 4, 5, 6, 7), b.Comm("port#0", 0, 1, 2, 3, 4, 5, 6, 7)
	b.Communicator(left).Remote, b.Communicator(right).Remote = b.Communicator(right).Members, b.Communicator(left).Members
	b.Communicator(away).Remote = trace.NewRankList([]int{-1, -1})
	b.Ranks(func(i int, r *tracetest.Rank) {
		inter := tracetest.Comm(left)
		if i >= 4 {
			inter = tracetest.Comm(right)
		}
		r.Init(0, 1)
		for k := range 100 {
			r.Send(2+float64(k)/100, 2.005+float64(k)/100, (i+1)%8).Recv(2.005+float64(k)/100, 2.01+float64(k)/100, (i+7)%8, 8)
		}
		r.Call("MPI_Intercomm_create", 5, 6, tracetest.Args{"newintercomm": inter})
		r.Call("MPI_Comm_connect", 6, 7, tracetest.Args{"newcomm": tracetest.Comm(away)})
		if i == 1 {
			// world rank 6: not a neighbor
			r.Call("MPI_Send", 8, 9, tracetest.Args{"dest": 2, "comm": inter})
			r.Call("MPI_Send", 9, 10, tracetest.Args{"dest": 1, "comm": tracetest.Comm(away)})
		}
		r.Finalize(20, 21)
	})
	b.Meta().Final = true
	r := b.Open(t)
	p := program(t, r)
	assert.Contains(t, p.Kept, 1, "it alone sends to the other side")
	calls := strings.Join(p.Expand(1), "\n")
	assert.Contains(t, calls, "dest=rank 6 ")
	assert.Contains(t, calls, "dest=rank 1 of another world ")
	require.Equal(t, logical.Physical(timeline.Of(r), 1), p.Expand(1))
}

func TestCompass(t *testing.T) {
	assert.Equal(t, "NORTH", logical.Compass("-y", 2))
	assert.Equal(t, "-y", logical.Compass("-y", 3))
	assert.Equal(t, "parent", logical.Compass("parent", 0))
}
