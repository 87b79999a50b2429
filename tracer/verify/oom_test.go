//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Two ranks that communicate forever; the second one allocates memory until the kernel kills it.
const hungry = `
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, value = 0, other;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0;; i++) {
		MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, i % 7, &other, 1, MPI_INT, 1 - rank, i % 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1 && i > 1000)
			memset(malloc(1 << 18), 1, 1 << 18);
	}
}
`

// memoryCgroup creates a control group with a memory limit, of whichever version the machine has. A
// process joins it by writing its id into the file procs.
func memoryCgroup(t *testing.T, limit int) (procs string, killed func() string) {
	t.Helper()
	name := "cairn-test-" + strconv.Itoa(os.Getpid())
	for _, version := range []struct {
		root, limit, swap, events string
		total                     bool // the limit of swap counts memory, too
	}{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control", true},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max", "memory.events", false},
		{"/sys/fs/cgroup/unified", "memory.max", "memory.swap.max", "memory.events", false},
	} {
		dir := filepath.Join(version.root, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, version.limit)); err != nil {
			continue // not a group for memory
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, version.limit), []byte(strconv.Itoa(limit)), 0o644))
		if _, err := os.Stat(filepath.Join(dir, version.swap)); err == nil {
			swap := 0
			if version.total {
				swap = limit
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, version.swap), []byte(strconv.Itoa(swap)), 0o644))
		}
		return filepath.Join(dir, "cgroup.procs"), func() string {
			b, err := os.ReadFile(filepath.Join(dir, version.events))
			require.NoError(t, err)
			return string(b)
		}
	}
	t.Fatal("no control group for memory can be made below /sys/fs/cgroup: run this test as root, where cgroups are writable")
	return "", nil
}

// A rank is killed by the kernel because its control group, like a container's, is out of memory:
// its trace has all its calls up to then, and reports that it ended early.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "hungry.c")
	require.NoError(t, os.WriteFile(source, []byte(hungry), 0o644))
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := shimtest.Compile(t, implementation, source)
			procs, events := memoryCgroup(t, 256<<20)
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "segment_bytes": 65536})
			// the second rank alone goes into the group
			launch := shimtest.Launch(implementation, 2, "sh", "-c",
				`if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then echo $$ >`+procs+`; fi; exec "$0"`, program)
			r := tracer.Run(t, launch...)
			require.NotZero(t, r.Code, "it is killed")
			require.NotContains(t, strings.ReplaceAll(events(), "oom_kill_disable 0", "")+"\n", "oom_kill 0\n", "by the kernel for its memory")
			requireEndedEarly(t, tracer, 1, 2000)
		})
	}
}
