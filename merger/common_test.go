package merger

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// Functions of a program that exchanges with its neighbors.
var (
	irecv = trace.Function{ID: 10, Name: "MPI_Irecv", Class: "recv nonblocking", Return: "int", Parameters: []trace.Parameter{
		{Name: "buf", Kind: "buffer", Direction: trace.Out},
		{Name: "count", Kind: "count", Direction: trace.In},
		{Name: "datatype", Kind: "datatype", Direction: trace.In},
		{Name: "source", Kind: "rank", Direction: trace.In},
		{Name: "tag", Kind: "tag", Direction: trace.In},
		{Name: "comm", Kind: "comm", Direction: trace.In},
		{Name: "request", Kind: "request", Direction: trace.Out},
	}}
	waitall = trace.Function{ID: 11, Name: "MPI_Waitall", Class: "wait all", Return: "int", Parameters: []trace.Parameter{
		{Name: "count", Kind: "count", Direction: trace.In},
		{Name: "array_of_requests", Kind: "request", Direction: trace.InOut, List: true},
		{Name: "array_of_statuses", Kind: "status", Direction: trace.Out, List: true},
	}}
)

// box is a rank of a box of n³ that exchanges with up to 26 neighbors, with a type for each
// direction, in a grid without a Cartesian communicator: no two ranks make the same calls if n is 2
// or 3. Sizes differ if random is not nil.
func box(n, rank int, random *rand.Rand) *trace.Content {
	r := record("w", n*n*n, rank)
	r.c.Functions = append(r.c.Functions[:len(r.c.Functions):len(r.c.Functions)], irecv, waitall)
	var requests, statuses []trace.Value
	x, y, z := rank%n, rank/n%n, rank/n/n
	for d := range 27 {
		at := []int{x + d%3 - 1, y + d/3%3 - 1, z + d/9 - 1}
		if d == 13 || min(at[0], at[1], at[2]) < 0 || max(at[0], at[1], at[2]) >= n {
			continue
		}
		peer, count := at[0]+n*(at[1]+n*at[2]), 64>>(d%2)
		if random != nil {
			count = 1 + random.Intn(3)
		}
		request := handle(len(requests))
		r.call(trace.Signature{Function: 10, OwnRank: int32(rank), Return: num(0), In: []trace.Value{num(count), name(fmt.Sprintf("MPI_TYPE_%d", d)), num(peer), num(7),
			name("MPI_COMM_WORLD")}, Out: []trace.Value{{Form: trace.Pointer}, request}}, 1, 1)
		requests = append(requests, request)
		statuses = append(statuses, trace.Value{Form: trace.Status, List: []trace.Value{num(peer), num(7), num(0), num(0), num(8 * count)}})
	}
	nulls := make([]trace.Value, len(requests))
	for i := range nulls {
		nulls[i] = name("MPI_REQUEST_NULL")
	}
	r.call(trace.Signature{Function: 11, OwnRank: -1, Return: num(0),
		In:  []trace.Value{num(len(requests)), {Form: trace.List, List: requests}},
		Out: []trace.Value{{Form: trace.List, List: nulls}, {Form: trace.List, List: statuses}}}, 1, 1)
	return r.content()
}

func boxes(n int, random *rand.Rand) []*trace.Content {
	inputs := make([]*trace.Content, n*n*n)
	for rank := range inputs {
		inputs[rank] = box(n, rank, random)
	}
	return inputs
}

// Ranks that are all different share what they do in the same direction: 26 receives, not one for
// each of 316 pairs.
func TestNeighborsInAGridOfTheProgramsOwn(t *testing.T) {
	c := merge(t, true, boxes(3, nil)...)
	receives := 0
	for _, s := range c.Signatures {
		if s.Function == irecv.ID {
			require.Equal(t, trace.RankOffset, s.In[2].Form)
			receives++
		}
	}
	require.Equal(t, 26, receives)
}

// The calls of ranks are the same after the merge, except for the numbers of requests; different
// requests stay different.
func TestRequestsKeepTheirMeaning(t *testing.T) {
	for seed := range int64(4) {
		inputs := boxes(2+int(seed)%2, rand.New(rand.NewSource(seed)))
		c := merge(t, true, inputs...)
		for rank := range inputs {
			require.Equal(t, decode(t, inputs[rank], rank), decode(t, c, rank))
		}
		for range 3 {
			random := rand.New(rand.NewSource(seed))
			require.Equal(t, fileOf(t, c), fileOf(t, mergeTree(t, random, boxes(2+int(seed)%2, rand.New(rand.NewSource(seed))))))
		}
	}
}

// A function of the rank gives what a reader computes.
func TestFunctionsGiveWhatTheySay(t *testing.T) {
	for _, f := range []trace.Value{
		elastic(trace.Modulo, 3, 8), elastic(trace.Stride, 5, -2, 2, 0), elastic(trace.Stride, 1, 3, 2, 2),
		elastic(trace.Cartesian, 2, 4, 2, 1, -1), elastic(trace.Cartesian, 3, 2, 2, 2, 1, 0, 1),
	} {
		var own codec.Numbers
		var values []int64
		for rank := range int64(8) {
			own.Push(rank)
			for v := int64(-20); v < 40; v++ {
				if gives(f, rank, v) {
					values = append(values, v)
				}
			}
		}
		require.Len(t, values, 8, fmt.Sprint(f))
		at := encodingChoice{exporter: &exporter{worldSize: 8, grids: []grid{{4, 2}, {2, 2, 2}}}, own: &own}
		again, ok := at.ofRank(values)
		require.True(t, ok)
		for rank, v := range values {
			require.True(t, again.Form == trace.RankOffset || gives(again, int64(rank), v))
		}
	}
}

// One rank alone has nobody to share with.
func TestOneRankHasConstants(t *testing.T) {
	one := merge(t, true, box(2, 0, nil))
	require.NotEmpty(t, one.Signatures)
	for _, s := range one.Signatures {
		if s.Function == irecv.ID {
			require.Equal(t, trace.Int, s.In[2].Form, "one rank alone has constants")
		}
	}
}
