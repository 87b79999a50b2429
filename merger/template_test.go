package merger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// Parameters, and the fields of a status, are apart; the elements of an array are not. What ranks
// have in common is found by these paths.
func TestPathsOfValues(t *testing.T) {
	status := func() trace.Value {
		return trace.Value{Form: trace.Status, List: []trace.Value{num(1), num(2), streamNo(0), num(4), num(5)}}
	}
	f := &trace.Function{Return: "int", Parameters: []trace.Parameter{
		{Name: "count", Kind: "count", Direction: trace.In},
		{Name: "ranks", Kind: "rank", Direction: trace.InOut, List: true},
		{Name: "status", Kind: "status", Direction: trace.Out},
		{Name: "statuses", Kind: "status", Direction: trace.Out, List: true},
	}}
	templated, slots, _ := templateOf(trace.Signature{
		Return: num(0),
		In:     []trace.Value{num(1), {Form: trace.List, List: []trace.Value{num(1), num(2), num(3)}}},
		Out: []trace.Value{{Form: trace.List, List: []trace.Value{num(1), num(2)}}, status(),
			{Form: trace.List, List: []trace.Value{status(), status()}}},
	}, f)
	// the parameter, by its letter before and after the call, and the field, of each slot
	places := []string{"return", "c", "r", "r", "r", "R", "R", "s0", "s1", "s3", "s4", "S0", "S1", "S3", "S4", "S0", "S1", "S3", "S4", "stream"}
	require.Len(t, slots, len(places)-1)
	require.Len(t, templated.paths, len(places))
	for i, a := range places {
		for k, b := range places {
			require.Equal(t, a == b, templated.paths[i] == templated.paths[k], "%s and %s", a, b)
		}
	}
}
