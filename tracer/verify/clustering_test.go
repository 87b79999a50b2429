//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

const ticking = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, sum = 0, iterations = atoi(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		for (int k = 0; rank == 1 && k < i % 5; k++)
			MPI_Initialized(&sum);
		if (rank == 1 && i % 100 == 50)
			MPI_Pcontrol(0);
		if (rank == 1 && i % 100 == 70)
			MPI_Pcontrol(1);
	}
	MPI_Finalize();
	return 5;
}
`

// Ranks whose tracing has stopped, was never started, or is off for a while still vote: the
// job ends normally.
func TestClusteringWithoutTracing(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "ticking.c")
	require.NoError(t, os.WriteFile(source, []byte(ticking), 0o644))
	programs := shimtest.CompileForAll(t, source)
	for i, test := range []struct {
		name   string
		config map[string]any
	}{
		{"all well", map[string]any{}},
		{"spool is full", map[string]any{"spool_limit_bytes": 100_000, "segment_bytes": 32768}},
		{"no spool", map[string]any{"spool": "/sys/kernel"}},
		{"nothing recorded", map[string]any{"include": "rma"}},
		{"off at first", map[string]any{"start_off": true}},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+test.name, func(t *testing.T) {
				test.config["mode"] = "clustered"
				tracer := shimtest.NewTracer(t, test.config)
				r := tracer.Run(t, shimtest.Launch(implementation, 3, programs[implementation], "1500")...)
				require.Equal(t, 5, r.Code, r.Stderr)
			})
		}
	}
}
