package shimtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The MPI functions that the shim calls itself, also at MPI_Finalize, are local: they send nothing
// and wait for nobody. Check the standard before you add one here.
var localFunctions = []string{
	"MPI_Cart_get",
	"MPI_Cartdim_get",
	"MPI_Comm_create_keyval",
	"MPI_Comm_f2c",
	"MPI_Comm_get_attr",
	"MPI_Comm_group",
	"MPI_Comm_rank",
	"MPI_Comm_remote_group",
	"MPI_Comm_remote_size",
	"MPI_Comm_set_attr",
	"MPI_Comm_size",
	"MPI_Comm_test_inter",
	"MPI_Dist_graph_neighbors_count",
	"MPI_Errhandler_f2c",
	"MPI_Finalized",
	"MPI_Get_elements_x",
	"MPI_Get_library_version",
	"MPI_Graph_neighbors_count",
	"MPI_Graphdims_get",
	"MPI_Group_compare",
	"MPI_Group_free",
	"MPI_Group_from_session_pset",
	"MPI_Group_rank",
	"MPI_Group_size",
	"MPI_Group_translate_ranks",
	"MPI_Group_union",
	"MPI_Initialized",
	"MPI_Query_thread",
	"MPI_Request_f2c",
	"MPI_Test_cancelled",
	"MPI_Topo_test",
	"MPI_Type_f2c",
	"MPI_Type_get_envelope",
	"MPI_Type_get_envelope_c",
	"MPI_Win_create_keyval",
	"MPI_Win_f2c",
	"MPI_Win_get_attr",
	"MPI_Win_get_group",
	"MPI_Win_set_attr",
}

// votingFunctions are additional functions of the clustered mode, called in cluster.c alone: the
// only file of the tracer that communicates, and only if the user selects that mode
// (docs/decisions/0060-online-clustering.md).
var votingFunctions = []string{
	"MPI_Allreduce",
	"MPI_Comm_dup",
	"MPI_Comm_set_errhandler",
	"MPI_Iallreduce",
	"MPI_Op_create",
	"MPI_Test",
	"MPI_Type_commit",
	"MPI_Type_contiguous",
}

func TestTracerDoesNotCommunicate(t *testing.T) {
	var sources []string
	for _, pattern := range []string{"../*/*.[ch]", "../*/gen/*.[ch]"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		sources = append(sources, slices.DeleteFunc(found, func(path string) bool { return strings.HasPrefix(path, "../testdata/") })...)
	}
	require.NotEmpty(t, sources)
	asked := regexp.MustCompile(`(?:ASK|CAIRN_INNER|DO)\((MPI_\w+)`)
	direct := regexp.MustCompile(`\bPMPI_\w+\(`)
	n := 0
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		allowed := localFunctions
		if filepath.Base(path) == "cluster.c" {
			allowed = slices.Concat(localFunctions, votingFunctions)
		}
		for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
			n++
			require.Truef(t, slices.Contains(allowed, m[1]), "%s calls %s", path, m[1])
		}
		require.Emptyf(t, direct.FindString(string(text)), "%s calls MPI past cairn_inner", path)
	}
	require.NotZero(t, n)
}
