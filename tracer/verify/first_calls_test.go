//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program whose signal handler is the first to call some functions. It counts the calls of malloc
// and of the like meanwhile: the signal may come while a thread has the lock of malloc.
const firstCalls = `
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static volatile int handling, allocations;
void *malloc(size_t n) { allocations += handling; return __libc_malloc(n); }
void *calloc(size_t n, size_t size) { allocations += handling; return __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { allocations += handling; return __libc_realloc(p, n); }
static int yes, no, rank;
static void handle(int signal)
{
	handling = 1;
	MPI_Initialized(&yes);
	MPI_Finalized(&no);
	MPI_Wtime();
	MPI_Wtick();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	handling = 0;
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	MPI_Finalize();
	printf("%d %d %d, %d allocations\n", yes, no, rank, allocations);
	return 0;
}
`

func TestFirstCallsInHandlersAllocateNothing(t *testing.T) {
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "first_calls.c")
			require.NoError(t, os.WriteFile(source, []byte(firstCalls), 0o644))
			program := shimtest.Compile(t, implementation, source)
			const want = "1 0 0, 0 allocations\n"
			require.Equal(t, want, shimtest.Run(t, nil, program).Stdout)
			for _, sites := range []string{"caller", "path"} {
				require.Equal(t, want, shimtest.NewTracer(t, map[string]any{"call_sites": sites}).Run(t, program).Stdout, sites)
			}
		})
	}
}
