//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

const controlled = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, in = 0, out;
	MPI_Request r;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Pcontrol(1);
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Ibarrier(MPI_COMM_WORLD, &r);
		MPI_Pcontrol(0);
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Pcontrol(2);
		MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	MPI_Pcontrol(1);
	MPI_Finalize();
	return 0;
}
`

// What is recorded of a program that turns tracing off and on, with groups left out by the configuration.
func TestControl(t *testing.T) {
	source := filepath.Join(t.TempDir(), "controlled.c")
	require.NoError(t, os.WriteFile(source, []byte(controlled), 0o644))
	for _, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, source)
		for name, test := range map[string]struct {
			config map[string]any
			counts map[string]int
		}{
			"regions":   {map[string]any{}, map[string]int{"MPI_Allreduce": 10, "MPI_Comm_rank": 1, "MPI_Sendrecv": 0}},
			"start off": {map[string]any{"start_off": true}, map[string]int{"MPI_Allreduce": 10, "MPI_Comm_rank": 0, "MPI_Sendrecv": 0}},
			"exclude":   {map[string]any{"exclude": "query,collective"}, map[string]int{"MPI_Allreduce": 0, "MPI_Comm_rank": 0}},
			"include":   {map[string]any{"include": "p2p"}, map[string]int{"MPI_Allreduce": 0, "MPI_Comm_rank": 0}},
		} {
			t.Run(implementation+"/"+name, func(t *testing.T) {
				test.config["verify"] = true
				tracer := shimtest.NewTracer(t, test.config)
				r := tracer.Run(t, shimtest.Launch(implementation, 2, program)...)
				require.Equal(t, 0, r.Code, r.Stderr)
				directories := tracer.Processes(t)
				reader := open(t, directories)
				result, err := Compare(reader, directories)
				require.NoError(t, err)
				require.Empty(t, result.Disagreements)
				require.Equal(t, 2, result.Ranks)
				counts := map[string]int{}
				gaps := 0
				cursor, err := reader.Cursor(0, 0)
				require.NoError(t, err)
				for cursor.Next() {
					counts[cursor.Event().Function.Name]++
					if cursor.Event().Signature.Untraced {
						gaps++
					}
				}
				require.NoError(t, cursor.Err())
				// lives of requests are always there
				require.Equal(t, 10, counts["MPI_Ibarrier"])
				require.Equal(t, 10, counts["MPI_Wait"])
				require.Equal(t, 31, counts["MPI_Pcontrol"])
				for function, n := range test.counts {
					require.Equal(t, n, counts[function], function)
				}
				require.GreaterOrEqual(t, gaps, 30)
				switch name {
				case "exclude":
					require.Equal(t, []string{"collective", "query"}, reader.Meta().Excluded)
				case "include":
					require.Len(t, reader.Meta().Excluded, 8)
				}
			})
		}
	}
}
