//go:build mpi

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program of three threads that counts its calls itself. Tags hardly repeat, so the spool fills.
// Late in the run it calls functions for the first time, turns recording off with MPI_Pcontrol, and
// forks. With "die" it ends without MPI_Finalize.
const wordy = `
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static _Atomic unsigned long calls;
#define C(call) (calls++, call)
static void *chat(void *seed)
{
	unsigned x = *(unsigned *)seed;
	int flag;
	for (int i = 0; i < 60000; i++) {
		x = x * 1103515245 + 12345;
		C(MPI_Iprobe(MPI_ANY_SOURCE, (int)(x >> 18), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
	}
	return NULL;
}
int main(int argc, char **argv)
{
	int rank, provided, n, flag;
	unsigned seeds[3] = {1, 2, 3};
	pthread_t threads[2];
	char name[MPI_MAX_PROCESSOR_NAME];
	C(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	if (provided != MPI_THREAD_MULTIPLE) return 3;
	C(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, chat, &seeds[i]);
	chat(&seeds[2]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	C(MPI_Get_processor_name(name, &n));
	C(MPI_Pcontrol(0));
	for (int i = 0; i < 100; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* asked to be left out */
	C(MPI_Pcontrol(1));
	pid_t child = fork();
	if (child == 0) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* of a child: not the rank's */
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (argc > 1 && !strcmp(argv[1], "die")) {
		printf("rank %d: %lu calls\n", rank, (unsigned long)calls + 1); /* with the barrier */
		fflush(stdout);
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(500000); /* the launcher ends the others with the first */
		_exit(0);
	}
	C(MPI_Barrier(MPI_COMM_WORLD));
	C(MPI_Finalize());
	printf("rank %d: %lu calls\n", rank, (unsigned long)calls);
	return 0;
}
`

// Recorded calls and calls that the trace reports as lost add up to those of the program, wherever
// tracing stopped.
func TestLostCallsAreCounted(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "wordy.c")
	require.NoError(t, os.WriteFile(source, []byte(wordy), 0o644))
	programs := shimtest.CompileForAll(t, source, "-pthread")
	for i, c := range []struct {
		name          string
		limit, buffer int
		argument      string
	}{
		{"in the first buffers", 100_000, 32768, "end"},
		{"in later ones", 1 << 20, 16384, "end"},
		{"later", 3 << 20, 65536, "end"},
		{"without MPI_Finalize", 1 << 20, 16384, "die"},
		{"never", 1 << 30, 65536, "end"},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				tracer := shimtest.NewTracer(t, map[string]any{"spool_limit_bytes": c.limit, "segment_bytes": c.buffer})
				r := tracer.Run(t, shimtest.Launch(implementation, 2, programs[implementation], c.argument)...)
				if c.argument == "end" {
					require.Zero(t, r.Code, r.Stderr)
				}
				reader := open(t, tracer.Processes(t))
				for rank := range 2 {
					requireCounted(t, reader, rank, saidCalls(t, r.Stdout, rank), c.limit, c.argument)
				}
			})
		}
	}
}

// overtaken loses calls of one thread first, then one call of the other that its buffer has no room
// for. Smaller calls that follow would fit.
const overtaken = `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static void *chat(void *unused)
{
	unsigned x = 1;
	int flag;
	for (int i = 0; i < 60000; i++) {
		x = x * 1103515245 + 12345;
		MPI_Iprobe(MPI_ANY_SOURCE, (int)(x >> 18), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	}
	return unused;
}
int main(int argc, char **argv)
{
	enum { BLOCKS = 20000 };
	static int lengths[BLOCKS], displacements[BLOCKS];
	int provided;
	pthread_t thread;
	MPI_Datatype type;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	pthread_create(&thread, NULL, chat, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < BLOCKS; i++) {
		lengths[i] = 1;
		displacements[i] = i * i;
	}
	MPI_Type_indexed(BLOCKS, lengths, displacements, MPI_INT, &type);
	MPI_Type_free(&type);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	printf("rank 0: %d calls\n", 60000 + 5);
	return 0;
}
`

// After its first lost call a thread records nothing, even if its buffer has room: a trace with
// MPI_Finalize and without the calls before it would look like one that is whole.
func TestNothingFollowsALostCall(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	source := filepath.Join(t.TempDir(), "overtaken.c")
	require.NoError(t, os.WriteFile(source, []byte(overtaken), 0o644))
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"spool_limit_bytes": limit, "segment_bytes": 32768})
			r := tracer.Run(t, shimtest.Launch(implementation, 1, shimtest.Compile(t, implementation, source, "-pthread"))...)
			require.Zero(t, r.Code, r.Stderr)
			requireCounted(t, open(t, tracer.Processes(t)), 0, saidCalls(t, r.Stdout, 0), limit, "end")
		})
	}
}

// The same in Fortran, whose layer calls the C functions: functions that are first called after
// tracing has stopped are bound then.
const wordyFortran = `
program wordy
  include 'mpif.h'
  integer ierr, i, rank, n, status(MPI_STATUS_SIZE)
  integer*8 x
  logical flag
  character*(MPI_MAX_PROCESSOR_NAME) name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 1
  do i = 1, 50000
    x = mod(x * 1103515245_8 + 12345_8, 2147483648_8)
    call MPI_Iprobe(MPI_ANY_SOURCE, int(x / 131072), MPI_COMM_SELF, flag, status, ierr)
  end do
  call MPI_Get_processor_name(name, n, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  print '(A,I0,A,I0,A)', 'rank ', rank, ': ', 50005, ' calls'
end program
`

func TestLostCallsOfFortranAreCounted(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	source := filepath.Join(t.TempDir(), "wordy.f90")
	require.NoError(t, os.WriteFile(source, []byte(wordyFortran), 0o644))
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"spool_limit_bytes": limit, "segment_bytes": 16384})
			r := tracer.Run(t, shimtest.Launch(implementation, 2, shimtest.Compile(t, implementation, source))...)
			require.Zero(t, r.Code, r.Stderr)
			reader := open(t, tracer.Processes(t))
			for rank := range 2 {
				requireCounted(t, reader, rank, saidCalls(t, r.Stdout, rank), limit, "end")
			}
		})
	}
}

// saidCalls returns the number of calls that a rank has printed.
func saidCalls(t *testing.T, printed string, rank int) uint64 {
	t.Helper()
	_, after, found := strings.Cut(printed, fmt.Sprintf("rank %d: ", rank))
	require.True(t, found, printed)
	text, _, _ := strings.Cut(after, " ")
	calls, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return calls
}

func requireCounted(t *testing.T, reader *trace.Reader, rank int, calls uint64, limit int, argument string) {
	t.Helper()
	about := reader.Ranks().At(reader.Ranks().Find(rank))
	recorded := uint64(0)
	for _, thread := range reader.Threads().All() {
		if thread.Rank == rank {
			recorded += thread.Calls
		}
	}
	t.Logf("rank %d: %d calls, %d recorded, %d lost; %q", rank, calls, recorded, about.Dropped, about.EndedEarly)
	require.Equal(t, calls, recorded+about.Dropped)
	if limit == 1<<30 {
		require.Zero(t, about.Dropped)
		require.Empty(t, about.EndedEarly)
		return
	}
	require.NotZero(t, about.Dropped)
	require.Equal(t, fmt.Sprintf("the spool limit of %d bytes is reached", limit), about.WhyTracingStopped())
	require.Equal(t, argument == "end", about.TracingStopped(), about.EndedEarly)
}
