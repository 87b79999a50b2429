package mpi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryFunctionHasAGroup(t *testing.T) {
	count := map[Group]int{}
	for i := range Functions {
		if f := &Functions[i]; f.ID != 0 {
			require.Contains(t, Groups, f.Class.Group(), f.Name)
			count[f.Class.Group()]++
		}
	}
	for _, g := range Groups {
		require.NotZero(t, count[g], g)
	}
	for op := range groupOf {
		require.Contains(t, vocabulary, op, "a group of operations that do not exist")
	}
	for name, group := range map[string]Group{
		"MPI_Isend": "p2p", "MPI_Waitall": "p2p", "MPI_Ialltoallw": "collective", "MPI_Comm_split": "comm", "MPI_Put": "rma",
		"MPI_File_iread_all": "io", "MPI_Type_vector": "datatype", "MPI_Comm_rank": "query", "MPI_Wtime": "query",
		"MPI_T_pvar_read": "tool", "MPI_Info_set": "environment", "MPI_Init": "environment",
	} {
		require.Equal(t, group, ByName(name).Class.Group(), name)
	}
}

// Whatever is left out, the handles of a trace can be followed from their creation to their end.
func TestLivesOfHandlesAreAlwaysRecorded(t *testing.T) {
	for i := range Functions {
		f := &Functions[i]
		for k := range f.Params {
			switch f.Params[k].Effect {
			case EffectNew, EffectFreed, EffectCompleted, EffectStarted, EffectConsumed:
				require.True(t, f.AlwaysRecorded(), f.Name)
			}
		}
	}
	for _, name := range []string{"MPI_Init", "MPI_Finalize", "MPI_Pcontrol", "MPI_Abort", "MPI_Comm_set_name", "MPI_Comm_get_parent", "MPI_Imrecv"} {
		require.True(t, ByName(name).AlwaysRecorded(), name)
	}
	for _, name := range []string{"MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Comm_rank", "MPI_Wtime", "MPI_Put", "MPI_Win_fence", "MPI_File_write"} {
		require.False(t, ByName(name).AlwaysRecorded(), name)
	}
}

func TestExcluded(t *testing.T) {
	include, err := ParseGroups([]string{"p2p", "collective"})
	require.NoError(t, err)
	require.Equal(t, []Group{"comm", "datatype", "environment", "io", "query", "rma", "tool"}, Excluded(include, nil))
	require.Equal(t, []Group{"io"}, Excluded(nil, []Group{"io"}))
	require.Empty(t, Excluded(nil, nil))
	_, err = ParseGroups([]string{"ptp"})
	require.ErrorContains(t, err, "p2p, collective")
}
