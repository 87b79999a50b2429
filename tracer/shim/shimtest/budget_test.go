//go:build mpi

package shimtest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// chatty makes calls that hardly repeat, with ever other sizes, so that the recorded data grows.
const chatty = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, size, calls = atoi(argv[1]);
	static char a[70000], b[70000];
	unsigned x = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < calls; i++) {
		x = x * 1103515245 + 12345;
		MPI_Sendrecv(a, x >> 16, MPI_CHAR, (rank + 1) % size, x >> 20, b, sizeof(b), MPI_CHAR, (rank + size - 1) % size, x >> 20,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
`

// used returns the disk usage of a spool.
func used(t *testing.T, spool string) (bytes int64) {
	t.Helper()
	_ = filepath.WalkDir(spool, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has just been removed
		}
		if info, err := entry.Info(); err == nil {
			bytes += 512 * info.Sys().(*syscall.Stat_t).Blocks
		}
		return nil
	})
	return bytes
}

func chattyProgram(t *testing.T, implementation string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "chatty.c")
	require.NoError(t, os.WriteFile(source, []byte(chatty), 0o644))
	return Compile(t, implementation, source)
}

// All processes of a pod share one limit: the spool
// stays below the size at which Kubernetes evicts the pod; the limit is nine tenths of that. The
// processes continue untraced, and the trace reports why. (Files that are written without a check
// take less than the last tenth: directories, tables of symbols, the times of a checkpoint.)
func TestSpoolLimitOfAllProcesses(t *testing.T) {
	t.Parallel()
	const limit = 3 << 20
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := NewTracer(t, map[string]any{"shared_spool": true, "spool_limit_bytes": 1 << 40})
			node := filepath.Join(tracer.Dir, "spool")
			root, err := os.OpenRoot(node)
			require.NoError(t, err)
			defer root.Close()
			_, err = budget.Make(root, limit)
			require.NoError(t, err)
			program := chattyProgram(t, implementation)
			stopped := 0
			for range 4 { // nobody removes anything between them
				r := tracer.Run(t, Launch(implementation, 2, program, "16000")...)
				require.Equal(t, 0, r.Code, r.Stderr)
				stopped += strings.Count(r.Stderr, "the spool limit of 3145728 bytes is reached")
				require.Less(t, used(t, node), int64(limit/9*10))
			}
			require.Positive(t, stopped)
			require.Greater(t, used(t, node), int64(limit/2), "it was there to be used")
			said := 0
			for _, dir := range tracer.Processes(t) {
				_, report, err := spool.Recover(dir)
				require.NoError(t, err)
				if strings.Contains(strings.Join(report.Notes, " "), "the spool limit of") {
					said++
				}
			}
			require.Positive(t, said)
		})
	}
}

// A process that starts when the spool is nearly full records its first calls, since the last
// sixteenth is reserved for such processes. When that is used up, too, its calls are counted, or at
// least the process.
func TestProcessesThatBeginInAFullSpool(t *testing.T) {
	t.Parallel()
	const limit, kept = 16 << 20, 1 << 20
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := chattyProgram(t, implementation)
			run := func(left int64) (dirs []string, node string, account *budget.Budget) {
				tracer := NewTracer(t, map[string]any{"shared_spool": true, "call_sites": "none"})
				node = filepath.Join(tracer.Dir, "spool")
				root, err := os.OpenRoot(node)
				require.NoError(t, err)
				defer root.Close()
				account, err = budget.Make(root, limit)
				require.NoError(t, err)
				account.Add(limit - left)
				r := tracer.Run(t, Launch(implementation, 1, program, "5000")...)
				require.Equal(t, 0, r.Code, r.Stderr)
				require.Contains(t, r.Stderr, "the spool limit of 16777216 bytes is reached")
				return tracer.Processes(t), node, account
			}
			dirs, node, account := run(kept)
			require.Len(t, dirs, 1)
			_, report, err := spool.Recover(dirs[0])
			require.NoError(t, err)
			require.Positive(t, report.Calls)
			require.Positive(t, report.Lost)
			require.Zero(t, account.Refused())
			description, err := os.Stat(filepath.Join(dirs[0], "process.json"))
			require.NoError(t, err)
			require.Less(t, used(t, node), description.Size()+128<<10+64<<10, "one record buffer: the rest is for others")

			dirs, _, account = run(description.Size() + 8<<10)
			require.Len(t, dirs, 1)
			_, report, err = spool.Recover(dirs[0])
			require.NoError(t, err)
			require.Zero(t, report.Calls)
			require.Greater(t, report.Lost, uint64(5000))
			require.Zero(t, account.Refused())

			dirs, _, account = run(1000)
			require.Empty(t, dirs)
			require.Equal(t, int64(1), account.Refused())
		})
	}
}

// Many launches one after the other in one pod: the sidecar removes what is in the store. So the
// spool stays as small as with a few of them, no limit is reached, and no rank is missing.
func TestManyLaunchesInOneSpool(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20 // of the spool; what they leave in all is far more
	numbers := map[string]int{"mpich": 100, "openmpi": 20}
	if testing.Short() {
		numbers = map[string]int{"mpich": 60}
	}
	for implementation, launches := range numbers {
		t.Run(implementation, func(t *testing.T) {
			tracer := NewTracer(t, map[string]any{"shared_spool": true, "call_sites": "caller", "spool_limit_bytes": limit})
			node := filepath.Join(tracer.Dir, "spool")
			s, err := store.Open(t.TempDir(), store.S3Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan []string, 1)
			go func() {
				ended <- shipper.Ship(ctx, shipper.Options{
					Spool: node, Store: s, Identity: shipper.Identity{Pod: "worker-0", PodUID: "uid"}, SpoolLimit: limit, Grace: 20 * time.Second,
				})
			}()
			program := chattyProgram(t, implementation)
			most := int64(0)
			for range launches {
				// A launch takes a tenth of a second here; the sidecar follows, as fast as the
				// machine lets it.
				require.Eventually(t, func() bool { return used(t, node) < limit/2 }, time.Minute, 10*time.Millisecond, "nothing leaves the spool")
				r := tracer.Run(t, Launch(implementation, 2, program, "1000")...)
				require.Equal(t, 0, r.Code, r.Stderr)
				require.NotContains(t, r.Stderr, "cairn:")
				most = max(most, used(t, node))
			}
			require.Eventually(t, func() bool { return len(tracer.Processes(t)) == 0 }, time.Minute, 100*time.Millisecond)
			cancel()
			require.Empty(t, <-ended)
			t.Logf("at most %d KiB in the spool", most>>10)
			require.Less(t, most, int64(limit))
			objects, err := s.List(t.Context(), shard.Root)
			require.NoError(t, err)
			ranks := 0
			for _, o := range objects {
				if shard.KindOf(o.Key) != shard.KindManifest {
					continue
				}
				var m shard.Manifest
				require.NoError(t, shard.Read(t.Context(), s, o.Key, &m))
				require.True(t, m.Final)
				require.Empty(t, m.Problems)
				ranks += len(m.Ranks)
			}
			require.Equal(t, 2*launches, ranks)
		})
	}
}
