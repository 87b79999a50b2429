//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that loads a library long after MPI_Init, which calls MPI.
const (
	loadingProgram = `#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD); /* 6 */
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
	((void (*)(void))dlsym(library, "solve"))();
	MPI_Finalize(); /* 10 */
	return 0;
}
`
	loadedLibrary = `#include <mpi.h>
void solve(void) {
	int in = 1, out;
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* 4 */
	__asm__ volatile("");
}
`
)

// TestNamesByDescriptor: call sites have their names although all binaries are gone when the job
// ends: of the program, of a library that was loaded late, and of a stripped program whose debug
// information is in another file.
func TestNamesByDescriptor(t *testing.T) {
	t.Parallel()
	for i, implementation := range implementations {
		program := compiled(t, implementation, "loading.c", loadingProgram, "-O1", "-g", "-ldl")
		library := compiled(t, implementation, "loaded.c", loadedLibrary, "-O1", "-g", "-shared", "-fPIC")
		files := []string{program, library}
		if i == 0 {
			for _, command := range [][]string{
				{"objcopy", "--only-keep-debug", program, program + ".debug"},
				{"objcopy", "--strip-all", "--add-gnu-debuglink=" + program + ".debug", program},
			} {
				out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
				require.NoError(t, err, string(out))
			}
			files = append(files, program+".debug")
		}
		command := launch(implementation, 2, "")
		command = append(command[:len(command)-1], program, library)
		r := trace(t, nil, "sh", "-c", strings.Join(command, " ")+" && rm "+strings.Join(files, " "))
		require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
		require.Empty(t, r.stderr)
		for _, file := range files {
			_, err := os.Stat(file)
			require.ErrorIs(t, err, os.ErrNotExist)
		}
		paths := pathsIn(t, r)
		for function, want := range map[string]string{
			"MPI_Barrier": "main loading.c:6", "MPI_Allreduce": "solve loaded.c:4", "MPI_Finalize": "main loading.c:10",
		} {
			assert.Equal(t, []string{want}, paths[function], "%s with %s", function, implementation)
		}
		require.NoDirExists(t, filepath.Join(r.dir, "tracer"))
	}
}
