package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// The section restores any requests and statuses of signatures; those that follow from the calls
// that created the requests take less space.
func TestSignatureSection(t *testing.T) {
	functions := []Function{
		{ID: 1, Name: "MPI_Irecv", Class: "recv nonblocking", Parameters: []Parameter{
			{Kind: "count", Direction: In}, {Kind: "datatype", Direction: In}, {Kind: "rank", Direction: In}, {Kind: "tag", Direction: In},
			{Kind: "request", Direction: Out}}},
		{ID: 2, Name: "MPI_Waitall", Class: "wait all", Parameters: []Parameter{
			{Kind: "request", Direction: InOut, List: true}, {Kind: "status", Direction: Out, List: true}}},
		{ID: 3, Name: "MPI_Wait", Class: "wait", Parameters: []Parameter{{Kind: "request", Direction: InOut}, {Kind: "status", Direction: Out}}},
	}
	number := func(n int) Value { return Value{Form: Int, Int: int64(n)} }
	sizes := map[bool]int{}
	for _, expected := range []bool{true, false} {
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			var signatures []Signature
			var made, statuses []Value
			for range 1 + random.IntN(20) {
				request := Value{Form: Handle, Int: int64(random.IntN(30))}
				peer, count := random.IntN(9), random.IntN(5)
				signatures = append(signatures, Signature{Function: 1, OwnRank: -1, In: []Value{number(count), {Form: Name, Text: "MPI_INT"}, number(peer),
					number(3)}, Out: []Value{request}})
				status := Value{Form: Status, List: []Value{number(peer), number(3), number(0), number(0), number(4 * count)}}
				if !expected {
					status.List[random.IntN(5)] = number(random.IntN(1000))
				}
				made, statuses = append(made, request), append(statuses, status)
				if random.IntN(2) == 0 {
					signatures = append(signatures, Signature{Function: 3, OwnRank: -1, In: []Value{request},
						Out: []Value{{Form: Name, Text: "MPI_REQUEST_NULL"}, status}})
				}
			}
			signatures = append(signatures, Signature{Function: 2, OwnRank: -1, In: []Value{{Form: List, List: made}},
				Out: []Value{{Form: ListStream}, {Form: List, List: statuses}}})
			before := string(AppendSignature(nil, &signatures[len(signatures)-1]))
			b, _ := appendSignatures(signatures, functions, false)
			require.Equal(t, before, string(AppendSignature(nil, &signatures[len(signatures)-1])), "the writer leaves them alone")
			sizes[expected] += len(b)
			d := sectionDecoder(b, codec.NewBudget(math.MaxInt64))
			got := d.signatures(functions, false)
			require.NoError(t, d.Err)
			require.Empty(t, cmp.Diff(signatures, got, cmpopts.EquateEmpty()))
		}
	}
	require.Less(t, sizes[true], sizes[false]*4/5)
	b, _ := appendSignatures([]Signature{{Function: 3, In: []Value{{Form: Handle}}, Out: []Value{{}, {Form: Status}}}}, functions, false)
	d := sectionDecoder(b, codec.NewBudget(math.MaxInt64))
	d.signatures(functions, false)
	require.Error(t, d.Err, "an expected status that nothing tells")
}
