//go:build mpi

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program that closes all descriptors after MPI_Init, or makes them its own, by its argument.
// Threads that it starts then need record buffers, too. It ends without MPI_Finalize, since it may
// have closed MPI's descriptors.
const descriptors = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
enum { CALLS = 100000, THREADS = 3, LIMIT = 1024 };
static void *work(void *unused)
{
	int flag;
	for (int i = 0; i < CALLS; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, i % 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	return unused;
}
/* MPI may end, or wait forever, without its own. */
static int is_of_mpi(int file)
{
	char path[64], target[4096] = "";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return file < 100 && readlink(path, target, sizeof(target) - 1) >= 0 && strstr(target, "/spool/") == NULL;
}
int main(int argc, char **argv)
{
	int provided, rank, precious = -1, calls = 3 + CALLS * (1 + THREADS);
	pthread_t thread;
	const char *how = argv[1];
	struct stat s;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	/* the tracer describes modules that were loaded later when they call MPI */
	void (*call)(void) = dlsym(dlopen(argv[3], RTLD_NOW), "call");
	call();
	call = dlsym(dlopen(argv[4], RTLD_NOW), "call");
	if (!strcmp(how, "closed"))
		for (int i = 3; i < LIMIT; i++)
			if (!is_of_mpi(i))
				close(i);
	if (!strcmp(how, "replaced")) { /* all numbers are one file of the program's own */
		precious = open(argv[2], O_RDWR | O_CREAT, 0644);
		for (int i = 3; i < LIMIT; i++)
			if (!is_of_mpi(i))
				dup2(precious, i);
	}
	call();
	work(NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 4;
	if (precious >= 0 && (fstat(precious, &s) != 0 || s.st_size != 0))
		return 5;
	printf("rank 0: %d calls\n", calls);
	fflush(stdout);
	_exit(6);
}
`

// A program may close the tracer's descriptors, or give their numbers to a file of its own. Nothing
// is written to that file. In the former case nothing is lost, and in the latter, where no
// descriptor is left for another record buffer, all calls are counted.
func TestDescriptorsOfTheTracer(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "descriptors.c")
	module := filepath.Join(t.TempDir(), "module.c")
	require.NoError(t, os.WriteFile(module, []byte("#include <mpi.h>\nvoid call(void) { int rank; MPI_Comm_rank(MPI_COMM_SELF, &rank); }\n"), 0o644))
	require.NoError(t, os.WriteFile(source, []byte(descriptors), 0o644))
	programs := shimtest.CompileForAll(t, source, "-pthread", "-ldl")
	modules := [2]map[string]string{}
	for i := range modules {
		modules[i] = shimtest.CompileForAll(t, module, "-shared", "-fPIC")
	}
	for _, how := range []string{"closed", "replaced"} {
		for _, implementation := range shimtest.Implementations {
			for _, alone := range []bool{false, true} {
				t.Run(fmt.Sprint(implementation, "/", how, "/without a compressor: ", alone), func(t *testing.T) {
					t.Parallel()
					own := filepath.Join(t.TempDir(), "own")
					tracer := shimtest.NewTracer(t, map[string]any{"segment_bytes": 16384, "call_sites": "path"})
					tracer.Alone = alone
					r := tracer.Run(t, programs[implementation], how, own, modules[0][implementation], modules[1][implementation])
					require.Equal(t, 6, r.Code, r.Signal+r.Stderr)
					require.Len(t, tracer.Processes(t), 1)
					_, report, err := spool.Recover(tracer.Processes(t)[0])
					require.NoError(t, err)
					require.Equal(t, saidCalls(t, r.Stdout, 0), report.Calls+report.Lost)
					if how != "replaced" {
						require.Zero(t, report.Lost, r.Stderr)
					}
				})
			}
		}
	}
}
