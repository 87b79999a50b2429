//go:build mpi

package shimtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// between.c is between the tracer and MPI: its MPI_Init prints the errno that it gets from the
// program through the tracer. With SCARCE set, the tracer's allocations fail, and only these.
const between = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int MPI_Init(int *argc, char ***argv)
{
	printf("%d\n", errno);
	return PMPI_Init(argc, argv);
}
extern void *__libc_realloc(void *, size_t);
void *realloc(void *p, size_t size)
{
	Dl_info caller;
	if (getenv("SCARCE") && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libcairn-")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, size);
}
`

// setsErrno sets errno to a unique number and initializes MPI.
const setsErrno = `
#include <errno.h>
#include <mpi.h>
int main(int argc, char **argv)
{
	errno = 4242;
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}
`

// The tracer's work in MPI_Init does not change errno, even if its allocations fail.
func TestErrnoAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"between.c": between, "errno.c": setsErrno} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, implementation := range Implementations {
		program := Compile(t, implementation, filepath.Join(dir, "errno.c"))
		library := filepath.Join(t.TempDir(), "libbetween.so")
		out, err := exec.Command("mpicc."+implementation, "-shared", "-fPIC", "-o", library, filepath.Join(dir, "between.c")).CombinedOutput()
		require.NoError(t, err, string(out))
		for _, scarce := range []bool{false, true} {
			name, environment := implementation+"/enough memory", []string(nil)
			if scarce {
				name, environment = implementation+"/no memory", []string{"SCARCE=1"}
			}
			t.Run(name, func(t *testing.T) {
				tracer := NewTracer(t, map[string]any{})
				r := Run(t, append(environment, "LD_PRELOAD="+tracer.Preload()+":"+library), program)
				require.Equal(t, 0, r.Code, r.Stderr)
				require.Equal(t, scarce, len(tracer.Processes(t)) == 0, r.Stderr)
				if scarce {
					require.Contains(t, r.Stderr, "cairn: out of memory")
				}
				require.Equal(t, "4242\n", r.Stdout)
			})
		}
	}
}
