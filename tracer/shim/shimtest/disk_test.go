//go:build mpi

package shimtest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/budget"
)

// onDisk fills the record buffers on a disk of 256 GiB that has so many GiB left.
const onDisk = `
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
static unsigned long left;
int statvfs(const char *path, struct statvfs *disk)
{
	memset(disk, 0, sizeof(*disk));
	disk->f_bsize = disk->f_frsize = 4096;
	disk->f_blocks = 256UL << 18;
	disk->f_bfree = disk->f_bavail = left << 18;
	return 0;
}
int main(int argc, char **argv)
{
	unsigned x = 1;
	int size;
	left = strtoul(argv[1], NULL, 10);
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 400000; i++) {
		x = x * 1103515245 + 12345;
		MPI_Pack_size(x >> 4, MPI_CHAR, MPI_COMM_SELF, &size);
	}
	MPI_Finalize();
	return 0;
}
`

// Without a compressor a rank copies its buffers to the disk. In a pod an eighth of it stays free,
// so that the kubelet does not evict the pod; elsewhere 8 GiB are enough.
func TestWhatStaysFreeOfADisk(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "disk.c")
	require.NoError(t, os.WriteFile(source, []byte(onDisk), 0o644))
	program := Compile(t, "mpich", source, "-rdynamic")
	for _, c := range []struct {
		left  int // GiB
		pod   bool
		stops bool
	}{{33, true, false}, {31, true, true}, {31, false, false}, {9, false, false}, {7, false, true}} {
		tracer := NewTracer(t, map[string]any{"call_sites": "none", "shared_spool": c.pod})
		tracer.Alone = true
		if c.pod {
			root, err := os.OpenRoot(filepath.Join(tracer.Dir, "spool"))
			require.NoError(t, err)
			defer root.Close()
			_, err = budget.Make(root, 1<<30)
			require.NoError(t, err)
		}
		r := tracer.Run(t, program, strconv.Itoa(c.left))
		require.Equal(t, 0, r.Code, r.Stderr)
		if c.stops {
			require.Contains(t, r.Stderr, "less than an eighth of the disk of the spool is free")
		} else {
			require.NotContains(t, r.Stderr, "cairn:", c)
		}
	}
}
