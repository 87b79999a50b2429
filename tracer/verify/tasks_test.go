//go:build mpi

package verify

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// occupied returns the bytes that a folder takes on its disk.
func occupied(t *testing.T, folder string) (bytes int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += 512 * info.Sys().(*syscall.Stat_t).Blocks
		}
		return err
	}))
	return bytes
}

// A thread goes on where one has ended: rows, spool and trace grow with the threads that live at
// the same time, not with all that there ever were.
func TestThreadsGoOnWhereOthersHaveEnded(t *testing.T) {
	t.Parallel()
	for implementation, program := range shimtest.CompileForAll(t, source("tasks.c"), "-pthread") {
		for _, test := range []struct {
			threads, together, mostRows int
			mostBytes                   int64
			verify                      bool
		}{
			{3000, 1, 40, 6 << 20, false},
			{2000, 100, 400, 12 << 20, false},
			{300, 1, 40, 6 << 20, true},
		} {
			t.Run(fmt.Sprintf("%s/%d-%d", implementation, test.threads, test.together), func(t *testing.T) {
				tracer := shimtest.NewTracer(t, map[string]any{"verify": test.verify})
				r := tracer.Run(t, program, fmt.Sprint(test.threads), fmt.Sprint(test.together))
				require.Equal(t, 0, r.Code, r.Stderr)
				directories := tracer.Processes(t)
				content, report, err := spool.Recover(directories[0])
				require.NoError(t, err)
				require.EqualValues(t, 4+3*test.threads, report.Calls)
				require.Zero(t, report.Lost)
				rows := content.Threads.Len()
				require.GreaterOrEqual(t, rows, test.together+2)
				require.LessOrEqual(t, rows, test.mostRows)
				require.Contains(t, fmt.Sprint(report.Notes), fmt.Sprintf("%d threads made their first call after", test.threads-(rows-2)))
				if test.verify {
					result, err := Compare(open(t, directories), directories)
					require.NoError(t, err)
					require.Empty(t, result.Disagreements)
					require.Equal(t, 1, result.Ranks)
				} else {
					require.Less(t, occupied(t, directories[0]), test.mostBytes)
				}
			})
		}
	}
}
