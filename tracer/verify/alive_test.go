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

// A program that makes one call, prints CLOCK_MONOTONIC after a while without calls, and is killed.
const silent = `
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec pause = {0, 700000000}, now;
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
	fflush(stdout);
	raise(SIGKILL);
}
`

// A process that makes no calls for a while and is killed cannot say until when it lived. The
// compressor saw it.
func TestSilentProcessWasSeenAlive(t *testing.T) {
	source := filepath.Join(t.TempDir(), "silent.c")
	require.NoError(t, os.WriteFile(source, []byte(silent), 0o644))
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{})
			r := tracer.Run(t, shimtest.Compile(t, implementation, source))
			var killed int64
			_, err := fmt.Sscan(r.Stdout, &killed)
			require.NoError(t, err, r.Stdout)
			directories := tracer.Processes(t)
			require.Len(t, directories, 1)
			content, _, err := spool.Recover(directories[0])
			require.NoError(t, err)
			rank := content.Ranks.At(0)
			require.NotNil(t, rank.End)
			seen := rank.Clock.Nanoseconds()(rank.End.Ticks)
			require.Less(t, seen, killed+int64(50*time.Millisecond))
			require.Greater(t, seen, killed-int64(600*time.Millisecond), "a busy machine looks late")
		})
	}
}
