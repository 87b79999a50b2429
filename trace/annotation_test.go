package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnnotations(t *testing.T) {
	c := one([]Function{
		{ID: 1, Name: "MPI_Pcontrol", Class: "pcontrol", Return: "int", Parameters: []Parameter{{Name: "level", Kind: "int", Direction: In}}},
		{ID: 2, Name: "MPI_Type_set_name", Class: "set name", Return: "int", Parameters: []Parameter{
			{Name: "datatype", Kind: "datatype", Direction: In}, {Name: "type_name", Kind: "string", Direction: In},
		}},
	}, []Signature{
		{Function: 1, OwnRank: -1, In: []Value{{Form: Int, Int: 100}}, Return: Value{Form: Int}},
		{Function: 2, OwnRank: -1, In: []Value{{Form: Handle, Int: 3}, {Form: Text, Text: "particle"}}, Return: Value{Form: Int}},
	}, nil)
	got, err := opened(t, written(t, c)).Annotations()
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, 100, got[0].Level)
	require.Equal(t, "", got[0].Object)
	require.Equal(t, Annotation{Index: 1, Enter: got[1].Enter, Object: "datatype", Handle: Value{Form: Handle, Int: 3}, Comm: -1, Name: "particle"}, got[1])

	got, err = opened(t, written(t, stencil(2, 10, true))).Annotations()
	require.NoError(t, err)
	require.Empty(t, got)
}
