//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// polls.c: rank 0 computes for the given milliseconds while rank 1 polls for its message, in ten
// rounds. Before MPI_Init both compute, too, after a call that is allowed there.
const polls = `
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}
static void compute(double ms)
{
	for (double end = now() + ms; now() < end;)
		;
}
int main(int argc, char **argv)
{
	int rank, flag, message = 0;
	MPI_Request request;
	MPI_Initialized(&flag);
	compute(20);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++) {
		if (rank == 0) {
			compute(atof(argv[1]));
			MPI_Send(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		} else {
			MPI_Irecv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
			for (flag = 0; !flag;)
				MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
`

// meanTimes are the mean computation and MPI of the ranks in report.json.
func meanTimes(t *testing.T, dir string) (computation, mpi float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	require.NoError(t, err)
	var report struct {
		Ranks []struct {
			Computation float64 `json:"computation_seconds"`
			MPI         float64 `json:"mpi_seconds"`
		} `json:"ranks"`
	}
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Ranks, 2)
	for _, r := range report.Ranks {
		computation, mpi = computation+r.Computation/2, mpi+r.MPI/2
	}
	return computation, mpi
}

// TestCompareAgreesWithReports: `cairn compare` of two runs that poll agrees with the reports of
// both.
func TestCompareAgreesWithReports(t *testing.T) {
	source := filepath.Join(t.TempDir(), "polls.c")
	require.NoError(t, os.WriteFile(source, []byte(polls), 0o644))
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "polls")
			out, err := exec.Command("mpicc."+implementation, "-O1", "-g", "-o", program, source).CombinedOutput()
			require.NoError(t, err, "%s", out)
			var runs [2]result
			for i, ms := range []string{"10", "30"} {
				command := launch(implementation, 2, "polls", ms)
				command[len(command)-2] = program
				runs[i] = trace(t, nil, command...)
				require.Equal(t, 0, runs[i].code, runs[i].stderr)
			}
			r := cairn(t, "", "compare", "--json", filepath.Join(runs[0].dir, "trace.cairn"), filepath.Join(runs[1].dir, "trace.cairn"))
			require.Equal(t, 0, r.code, r.stderr)
			type run struct {
				Computation float64 `json:"mean_computation_seconds"`
				MPI         float64 `json:"mean_mpi_seconds"`
			}
			var found struct {
				A           run     `json:"a"`
				B           run     `json:"b"`
				Computation float64 `json:"computation_difference_seconds"`
				MPI         float64 `json:"mpi_difference_seconds"`
			}
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &found))
			computation, inMPI := [2]float64{}, [2]float64{}
			for i, one := range []run{found.A, found.B} {
				computation[i], inMPI[i] = meanTimes(t, runs[i].dir)
				assert.InDelta(t, computation[i], one.Computation, 1e-6)
				assert.InDelta(t, inMPI[i], one.MPI, 1e-6)
			}
			assert.InDelta(t, computation[1]-computation[0], found.Computation, 1e-6)
			assert.InDelta(t, inMPI[1]-inMPI[0], found.MPI, 1e-6)
		})
	}
}
