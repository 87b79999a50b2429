package execution_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/execution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func TestGraph(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("g.c:1").Init(0, 1).At("g.c:2").Send(3, 4, 1).At("g.c:3").Collective("MPI_Barrier", 5, 9).At("g.c:4").Finalize(10, 11)
	b.Rank(1).At("g.c:1").Init(0, 1).At("g.c:5").Recv(2, 4, 0, 8).At("g.c:3").Collective("MPI_Barrier", 8, 9).At("g.c:4").Finalize(10, 11)
	g, err := execution.Analyze(context.Background(), timeline.Of(b.Open(t)), execution.Options{From: 0.0015, To: 0.0095})
	require.NoError(t, err)
	var names []string
	for _, v := range g.Vertices {
		names = append(names, v.Function)
	}
	assert.Equal(t, []string{"MPI_Send", "MPI_Barrier", "MPI_Recv", "MPI_Barrier"}, names)
	assert.Equal(t, []execution.Edge{
		{From: 0, To: 1, Kind: "computation"}, {From: 2, To: 3, Kind: "computation"},
		{From: 0, To: 2, Kind: "message"}, {From: 3, To: 1, Kind: "collective"},
	}, g.Edges)
	var dot bytes.Buffer
	require.NoError(t, g.WriteDOT(&dot))
	assert.Contains(t, dot.String(), `v0 -> v2 [style=dashed, constraint=false, label="message"];`)
	one, err := execution.Analyze(context.Background(), timeline.Of(b.Open(t)), execution.Options{To: 1, Ranks: func(r int) bool { return r == 1 }})
	require.NoError(t, err)
	assert.Len(t, one.Vertices, 4)
	assert.Len(t, one.Edges, 3)
}
