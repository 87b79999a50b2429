//go:build mpi

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program whose main thread ends with pthread_exit, while as many other threads go on as its
// argument says. Each calls MPI_Finalized later. The process says how many did when it ends.
const mainEnds = `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int whole;
static void last(void)
{
	printf("the process ends, %d other threads did\n", whole);
}
static void *other(void *arg)
{
	usleep(100000 * (int)(long)arg);
	int finalized;
	MPI_Finalized(&finalized);
	__atomic_add_fetch(&whole, 1, __ATOMIC_SEQ_CST);
	return NULL;
}
int main(int argc, char **argv)
{
	int level;
	atexit(last);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Barrier(MPI_COMM_SELF);
	for (long i = 1; i <= atoi(argv[1]); i++) {
		pthread_t t;
		pthread_create(&t, NULL, other, (void *)i);
		pthread_detach(t);
	}
	MPI_Finalize();
	pthread_exit(NULL);
}
`

// A process ends with its last thread, after the main one: our thread must not keep it.
func TestProcessEndsWithItsLastThread(t *testing.T) {
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "main_ends.c")
			require.NoError(t, os.WriteFile(source, []byte(mainEnds), 0o644))
			program := shimtest.Compile(t, implementation, source)
			for _, others := range []int{0, 1, 8} {
				plain := shimtest.Run(t, nil, program, fmt.Sprint(others))
				require.Equal(t, fmt.Sprintf("the process ends, %d other threads did\n", others), plain.Stdout)
				tracer := shimtest.NewTracer(t, map[string]any{})
				begun := time.Now()
				traced := tracer.Run(t, program, fmt.Sprint(others))
				require.Equal(t, plain.Code, traced.Code, traced.Stderr)
				require.Equal(t, plain.Stdout, traced.Stdout)
				require.Less(t, time.Since(begun), 30*time.Second)
				directories := tracer.Processes(t)
				require.Len(t, directories, 1)
				_, report, err := spool.Recover(directories[0])
				require.NoError(t, err)
				require.EqualValues(t, 3+others, report.Calls)
				require.Empty(t, report.EndedEarly)
			}
		})
	}
}
