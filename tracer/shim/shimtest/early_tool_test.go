//go:build mpi

package shimtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
)

// tool.c is a tool behind the shim.
const tool = `
#include <mpi.h>
int MPI_Initialized(int *flag) { return PMPI_Initialized(flag); }
`

const usesTool = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int flag;
	MPI_Initialized(&flag);
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return flag;
}
`

// A call that comes to PMPI from a tool before MPI_Init, when there is no list of modules, is
// recorded once.
func TestCallsOfAnEarlyTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"tool.c": tool, "uses.c": usesTool} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, implementation := range Implementations {
		program := Compile(t, implementation, filepath.Join(dir, "uses.c"))
		library := Compile(t, implementation, filepath.Join(dir, "tool.c"), "-shared", "-fPIC")
		tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
		r := tracer.RunWith(t, []string{"LD_PRELOAD=" + tracer.Preload() + ":" + library}, program)
		require.Zero(t, r.Code, r.Stderr)
		runs, problems, err := shipper.RunLocal(t.Context(), shipper.LocalOptions{Spool: filepath.Join(tracer.Dir, "spool"), Out: t.TempDir()})
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Len(t, runs, 1)
		cursor, err := runs[0].Content.Cursor(0, 0)
		require.NoError(t, err)
		var calls []string
		for cursor.Next() {
			calls = append(calls, cursor.Event().Function.Name)
		}
		require.NoError(t, cursor.Err())
		require.Equal(t, []string{"MPI_Initialized", "MPI_Init", "MPI_Finalize"}, calls, implementation)
	}
}
