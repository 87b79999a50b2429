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
	source := filepath.Join(t.TempDir(), "ticking.c")
	require.NoError(t, os.WriteFile(source, []byte(ticking), 0o644))
	for _, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, source)
		for name, config := range map[string]map[string]any{
			"all well":         {},
			"spool is full":    {"spool_limit_bytes": 100_000, "segment_bytes": 32768},
			"no spool":         {"spool": "/sys/kernel"},
			"nothing recorded": {"include": "rma"},
			"off at first":     {"start_off": true},
		} {
			t.Run(implementation+"/"+name, func(t *testing.T) {
				config["mode"] = "clustered"
				tracer := shimtest.NewTracer(t, config)
				r := tracer.Run(t, shimtest.Launch(implementation, 3, program, "1500")...)
				require.Equal(t, 5, r.Code, r.Stderr)
			})
		}
	}
}
