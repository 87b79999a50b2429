//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program under a limit of its own: threads with stacks of the smallest size, which meet a module
// that was loaded meanwhile and fill record buffers, or files that may not grow from now on. It
// prints how many calls it made.
const limited = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static void *work(void *unused)
{
	static char a[3000], b[3000];
	for (int i = 0; i < 500; i++)
		MPI_Sendrecv(a, i, MPI_CHAR, 0, i, b, 3000, MPI_CHAR, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	return unused;
}
int main(int argc, char **argv)
{
	int provided, calls = 2;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	work(NULL);
	calls += 500;
	if (!strcmp(argv[1], "stacks")) {
		pthread_attr_t small;
		pthread_attr_init(&small);
		if (pthread_attr_setstacksize(&small, 16 << 10) != 0 || dlopen("libpthread.so.0", RTLD_NOW) == NULL || dlopen(argv[2], RTLD_NOW) == NULL)
			return 1;
		for (int i = 0; i < 20; i++, calls += 500) {
			pthread_t t;
			if (pthread_create(&t, &small, work, NULL) != 0 || pthread_join(t, NULL) != 0)
				return 2;
		}
	} else {
		struct rlimit none = {0, RLIM_INFINITY};
		setrlimit(RLIMIT_FSIZE, &none);
		for (int i = 0; i < 20; i++, calls += 500)
			work(NULL);
	}
	MPI_Finalize();
	fprintf(stderr, "%d calls\n", calls);
	return 6;
}
`

// Limits that the program has set itself are not the tracer's to meet: it ends as without the
// tracer.
func TestLimitsOfTheProgram(t *testing.T) {
	t.Parallel()
	source, module := filepath.Join(t.TempDir(), "limited.c"), filepath.Join(t.TempDir(), "module.c")
	require.NoError(t, os.WriteFile(source, []byte(limited), 0o644))
	require.NoError(t, os.WriteFile(module, []byte("int nothing;\n"), 0o644))
	for _, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, source, "-pthread", "-ldl")
		library := shimtest.Compile(t, implementation, module, "-shared", "-fPIC")
		for _, limit := range []string{"stacks", "files"} {
			t.Run(implementation+"/"+limit, func(t *testing.T) {
				plain := shimtest.Run(t, nil, program, limit, library)
				require.Equal(t, 6, plain.Code, plain.Stderr)
				tracer := shimtest.NewTracer(t, map[string]any{"segment_bytes": 8192, "call_sites": "path"})
				r := tracer.Run(t, program, limit, library)
				require.Equal(t, 6, r.Code, r.Signal+r.Stderr)
				require.Contains(t, r.Stderr, "10502 calls\n")
				_, report, err := spool.Recover(tracer.Processes(t)[0])
				require.NoError(t, err)
				require.EqualValues(t, 10502, report.Calls+report.Lost)
				if limit == "stacks" {
					require.Zero(t, report.Lost)
				}
			})
		}
	}
}
