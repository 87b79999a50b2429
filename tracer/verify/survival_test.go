//go:build mpi

package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program of two ranks that communicate forever; one of them ends in the way and after the
// microseconds of its arguments.
const mortal = `
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *how;
static int after;
static volatile int over;
static void *end(void *unused)
{
	usleep(after);
	if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv")) kill(getpid(), SIGSEGV);
	if (!strcmp(how, "abort")) abort();
	over = 1;
	return NULL;
}
int main(int argc, char **argv)
{
	int rank, provided, value = 0, other;
	pthread_t thread;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	how = argv[1];
	after = atoi(argv[2]);
	if (rank == atoi(argv[3]))
		pthread_create(&thread, NULL, end, NULL);
	for (int i = 0;; i++) {
		MPI_Request r[2];
		MPI_Irecv(&other, 1, MPI_INT, 1 - rank, i % 7, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(&value, 1, MPI_INT, 1 - rank, i % 7, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		if (over && !strcmp(how, "exit")) exit(7);
		if (over && !strcmp(how, "mpi-abort")) MPI_Abort(MPI_COMM_WORLD, 9);
	}
}
`

// requireEndedEarly compares the trace of two ranks, one of which was killed, with the log: the
// calls up to the last completed one are recorded, and the trace reports which rank ended early.
func requireEndedEarly(t *testing.T, tracer *shimtest.Tracer, rank int, least uint64) {
	t.Helper()
	directories := tracer.Processes(t)
	require.Len(t, directories, 2)
	reader := open(t, directories)
	result, err := Compare(reader, directories)
	require.NoError(t, err)
	require.Empty(t, result.Disagreements)
	require.GreaterOrEqual(t, result.Calls, least)
	require.NotEmpty(t, reader.Rank(rank).EndedEarly)
	t.Logf("%d calls, %d unfinished; %s", result.Calls, result.Unfinished, reader.Rank(rank).EndedEarly)
}

// Either rank ends at any time and in any way: the calls up to the last completed one are in the
// trace, which reports that the rank ended early. The seed is printed; CAIRN_TEST_SEED repeats it.
func TestEndsAtRandomMoments(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("CAIRN_TEST_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("CAIRN_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	source := filepath.Join(t.TempDir(), "mortal.c")
	require.NoError(t, os.WriteFile(source, []byte(mortal), 0o644))
	programs := shimtest.CompileForAll(t, source, "-pthread")
	moments := 50
	if testing.Short() {
		moments = 20
	}
	ways := []string{"kill", "segv", "abort", "exit", "mpi-abort"}
	for i := range moments {
		implementation, way, rank := shimtest.Implementations[i%2], ways[i/2%len(ways)], rng.IntN(2)
		after := rng.IntN(150_000)
		t.Run(fmt.Sprintf("%d/%s/%s/rank %d/%d us", i, implementation, way, rank, after), func(t *testing.T) {
			t.Parallel()
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "segment_bytes": 8192})
			r := tracer.Run(t, shimtest.Launch(implementation, 2, programs[implementation], way, strconv.Itoa(after), strconv.Itoa(rank))...)
			require.NotZero(t, r.Code, "it ends in no good way")
			requireEndedEarly(t, tracer, rank, 1)
		})
	}
}

const calm = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20000; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	printf("rank %d of a calm program: %d\n", rank, sum);
	MPI_Finalize();
	return 5;
}
`

// Whatever is wrong with the tracer, the program prints the same and ends in the same way as
// without it, and each process prints at most one additional line.
func TestTroubleIsNotThePrograms(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "calm.c")
	require.NoError(t, os.WriteFile(source, []byte(calm), 0o644))
	programs := shimtest.CompileForAll(t, source)
	for i, test := range []struct {
		name string
		make func(t *testing.T) (tracer *shimtest.Tracer, command []string, says string)
	}{
		{"read-only spool", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			return shimtest.NewTracer(t, map[string]any{"spool": "/sys/kernel"}), nil, "the tracer cannot write"
		}},
		{"spool that is a file", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			return shimtest.NewTracer(t, map[string]any{"spool": "/etc/passwd"}), nil, "the tracer cannot write"
		}},
		{"corrupt config", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			tracer := shimtest.NewTracer(t, map[string]any{})
			require.NoError(t, os.WriteFile(filepath.Join(tracer.Dir, "config.json"), []byte(`{"spool": [`), 0o644))
			return tracer, nil, "is malformed"
		}},
		{"config that is a directory", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			tracer := shimtest.NewTracer(t, map[string]any{})
			require.NoError(t, os.Remove(filepath.Join(tracer.Dir, "config.json")))
			require.NoError(t, os.Mkdir(filepath.Join(tracer.Dir, "config.json"), 0o755))
			return tracer, nil, ""
		}},
		{"limit of the spool", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			return shimtest.NewTracer(t, map[string]any{"spool_limit_bytes": 100_000, "segment_bytes": 32768}), nil, "limit"
		}},
		{"limit of file sizes", func(t *testing.T) (*shimtest.Tracer, []string, string) {
			return shimtest.NewTracer(t, map[string]any{}), []string{"sh", "-c", `ulimit -f 32; exec "$@"`, "sh"}, "cairn"
		}},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			program := programs[implementation]
			t.Run(implementation+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				tracer, prefix, says := test.make(t)
				launch := shimtest.Launch(implementation, 1, program)
				if prefix != nil { // for the program alone: mpirun may need larger files
					launch = append(shimtest.Launch(implementation, 1, prefix[0], prefix[1:]...), program)
				}
				plain := shimtest.Run(t, nil, launch...)
				r := tracer.Run(t, launch...)
				require.Equal(t, plain.Code, r.Code, r.Stderr)
				var said []string
				for line := range strings.Lines(r.Stderr) {
					if strings.HasPrefix(line, "cairn:") {
						said = append(said, line)
					}
				}
				if plain.Code != 5 {
					t.Log("MPICH cannot live with this limit itself: it needs larger files in shared memory")
					require.NotNil(t, prefix)
					return
				}
				require.Equal(t, plain.Stdout, r.Stdout)
				if says == "" {
					require.LessOrEqual(t, len(said), 1, r.Stderr)
					return
				}
				require.Len(t, said, 1, r.Stderr)
				require.Contains(t, said[0], says)
			})
		}
	}
}
