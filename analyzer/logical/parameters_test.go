package logical_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/logical"
	cairnprogram "github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestParametersOfTheTopology: on a grid with randomly numbered ranks, edges belong to the one
// program, and a count that depends on one coordinate is a function of it. Expected: 3 x 5, sends
// along both dimensions.
func TestParametersOfTheTopology(t *testing.T) {
	const rows, columns = 3, 5
	b := tracetest.New(rows * columns)
	place := rand.New(rand.NewPCG(3, 3)).Perm(rows * columns) // position of a rank in the grid
	at := make([]int, len(place))
	for rank, i := range place {
		at[i] = rank
	}
	b.Ranks(func(rank int, r *tracetest.Rank) {
		y, x := place[rank]/columns, place[rank]%columns
		count := []int{7, 100, 31, 8, 2}[x]
		r.Init(0, 1)
		for range 4 {
			for side, to := range [][2]int{{y, x + 1}, {y, x - 1}, {y + 1, x}, {y - 1, x}} {
				if to[0] < 0 || to[0] >= rows || to[1] < 0 || to[1] >= columns {
					continue
				}
				site := "g.c:" + string(rune('1'+side))
				r.At(site).Call("MPI_Send", 2, 2, tracetest.Args{"dest": at[to[0]*columns+to[1]], "count": count})
			}
			r.At("g.c:9").Call("MPI_Barrier", 2, 2, nil)
		}
		r.At("g.c:10").Finalize(9, 10)
	})
	b.Meta().Final = true
	r := b.Open(t)
	traffic, err := traffic.Matrix(r)
	require.NoError(t, err)
	shape := topology.Identify(topology.World(traffic, rows*columns), topology.Options{})
	p, err := logical.New(context.Background(), timeline.Of(r), &shape)
	require.NoError(t, err)
	analyze := func(o cairnprogram.Options) cairnprogram.Findings {
		o.Exact = true
		f, err := cairnprogram.Analyze(t.Context(), timeline.Of(r), o)
		require.NoError(t, err)
		return f
	}
	f := analyze(cairnprogram.Options{Peer: p.Peer, IsDirection: p.IsDirection, Lacks: p.Lacks, Coordinates: p.Coordinates()})
	assert.Len(t, f.Threads[0].Programs, 1, f.Text())
	assert.Regexp(t, `count=by (row|column): `, f.Text())
	assert.Regexp(t, `dest=(EAST|WEST|NORTH|SOUTH), `, f.Text())
	f = analyze(cairnprogram.Options{})
	assert.Greater(t, len(f.Threads[0].Programs), 1, "no function of the rank is known")
}
