//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Functions that are called once are inlined from -O1 on: in the machine code all calls here are in
// main.
var inlinedPrograms = map[string]string{
	"inlined.c": `#include <mpi.h>
static void exchange(int left, int right) {
	double a = 1, b;
	MPI_Sendrecv(&a, 1, MPI_DOUBLE, right, 0, &b, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* 4 */
}
static void step(int rank, int size) {
	exchange((rank + size - 1) % size, (rank + 1) % size); /* 7 */
	MPI_Barrier(MPI_COMM_WORLD); /* 8 */
}
int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv); /* 12 */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++)
		step(rank, size); /* 16 */
	MPI_Finalize(); /* 17 */
	return 0;
}
`,
	"inlined.f90": `program inlined
  use mpi
  integer :: rank, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error) ! 5
  call step(rank) ! 6
  call MPI_Finalize(error)
contains
  subroutine step(n)
    integer, intent(in) :: n
    call reduce(n) ! 11
    call MPI_Barrier(MPI_COMM_WORLD, error) ! 12
  end subroutine
  subroutine reduce(n)
    integer, intent(in) :: n
    integer :: total
    call MPI_Allreduce(n, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! 17
  end subroutine
end program
`,
}

// TestInlinedCallPaths: call sites and call paths are the source's, not the machine's.
func TestInlinedCallPaths(t *testing.T) {
	t.Parallel()
	want := map[string]map[string][]string{
		"inlined.c": {
			"MPI_Init":     {"main inlined.c:12"},
			"MPI_Sendrecv": {"exchange inlined.c:4", "step inlined.c:7", "main inlined.c:16"},
			"MPI_Barrier":  {"step inlined.c:8", "main inlined.c:16"},
			"MPI_Finalize": {"main inlined.c:17"},
		},
		"inlined.f90": {
			"MPI_Comm_rank": {"inlined inlined.f90:5"},
			"MPI_Allreduce": {"reduce inlined.f90:17", "step inlined.f90:11", "inlined inlined.f90:6"},
			"MPI_Barrier":   {"step inlined.f90:12", "inlined inlined.f90:6"},
		},
	}
	for _, implementation := range implementations {
		for source, text := range inlinedPrograms {
			for _, level := range []string{"-O1", "-O2"} {
				t.Run(fmt.Sprint(implementation, "/", source, level), func(t *testing.T) {
					binary := compiled(t, implementation, source, text, level, "-g")
					paths := pathsOf(t, implementation, "path", binary)
					sites := pathsOf(t, implementation, "caller", binary)
					for function, path := range want[source] {
						assert.Equal(t, path, trimmed(paths[function], len(path)), function)
						assert.Equal(t, path[:1], sites[function], function)
					}
				})
			}
		}
		t.Run(implementation+"/without debug information", func(t *testing.T) {
			binary := compiled(t, implementation, "inlined.c", inlinedPrograms["inlined.c"], "-O2")
			for function, path := range pathsOf(t, implementation, "path", binary) {
				assert.Equal(t, "main .:0", path[0], function)
				assert.NotContains(t, path[1:], path[0])
			}
		})
	}
}

// trimmed leaves out what is around the program: the C library, and the main that Fortran has.
func trimmed(path []string, n int) []string { return path[:min(n, len(path))] }

// compiled builds a program with an MPI's own compiler.
func compiled(t *testing.T, implementation, name, text string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	compiler := "mpicc."
	if strings.HasSuffix(name, ".f90") {
		compiler = "mpif90."
	}
	command := exec.Command(compiler+implementation, append(flags, "-o", "program", name)...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "program")
}

// pathsOf runs a program and returns the frames of each MPI function, innermost first. The program
// makes each call at one call site.
func pathsOf(t *testing.T, implementation, callSites, binary string) map[string][]string {
	t.Helper()
	command := launch(implementation, 2, "")
	command[len(command)-1] = binary
	r := trace(t, []string{"--call-sites", callSites, "--verify"}, command...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
	return pathsIn(t, r)
}

// pathsIn returns the frames of each MPI function in the trace of a run, innermost first.
func pathsIn(t *testing.T, r result) map[string][]string {
	t.Helper()
	dump := cairn(t, "", "dump", filepath.Join(r.dir, "trace.cairn"), "--json")
	require.Equal(t, 0, dump.code, dump.stderr)
	paths := map[string][]string{}
	for line := range strings.Lines(dump.stdout) {
		type frame struct {
			Function, File string
			Line           int
		}
		var call struct {
			Function string
			Site     frame   `json:"call_site"`
			Path     []frame `json:"call_path"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		var path []string
		for _, f := range append([]frame{call.Site}, call.Path...) {
			path = append(path, fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(f.File), f.Line))
		}
		had, known := paths[call.Function]
		require.True(t, !known || slices.Equal(had, path), "%s: %v and %v", call.Function, had, path)
		paths[call.Function] = path
	}
	return paths
}
