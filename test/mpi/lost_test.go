//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program of which calls hardly repeat, so that a small spool is soon full.
const chatty = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int flag;
	unsigned x = 1;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 50000; i++) {
		x = x * 1103515245 + 12345;
		MPI_Iprobe(MPI_ANY_SOURCE, (int)(x >> 18), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
`

const chattyCalls = 50_003 // of a rank

// Calls that were not recorded because a limit was reached are reported wherever the job is
// reported, with the same numbers, and no report claims that the ranks ended before MPI_Finalize.
func TestCallsBeyondTheLimitAreReported(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	source := filepath.Join(t.TempDir(), "chatty.c")
	require.NoError(t, os.WriteFile(source, []byte(chatty), 0o644))
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"spool_limit_bytes": limit, "segment_bytes": 16384})
			r := tracer.Run(t, shimtest.Launch(implementation, 2, shimtest.Compile(t, implementation, source))...)
			require.Zero(t, r.Code, r.Stderr)
			job := filepath.Join(t.TempDir(), "team", "chatty", "uid")
			shipSpool(t, filepath.Join(tracer.Dir, "spool"), job)

			merged := told[messages.Merge](t, "merge", "--job", "--store", job)
			require.Equal(t, 1, merged.IncompleteRuns)
			run := merged.Runs[0]
			require.EqualValues(t, 2*chattyCalls, run.Calls+run.CallsLost)
			require.Greater(t, run.CallsLost, run.Calls)
			require.Equal(t, fmt.Sprintf("ranks 0-1: the spool limit of %d bytes was reached", limit), run.LostWhy)
			require.Empty(t, run.EndedEarly)

			for _, analysis := range []string{"critical-path", "clusters"} {
				require.True(t, told[messages.Analysis](t, "analyze", "--job", "--store", job, "--analysis", analysis, "--index", "0").OK)
			}
			reported := told[messages.Report](t, "report", "--job", "--store", job, "--analyses", "critical-path,clusters")
			first := fmt.Sprintf(`^\d+%% of the calls \([\d,]+ of 100,006\) were not recorded, because the spool limit of %d bytes was reached \(ranks 0-1\); what follows is about the rest\. `, limit)
			require.Regexp(t, first, reported.Verdict)
			require.Equal(t, run.CallsLost, reported.Runs[0].CallsLost)
			summary, err := os.ReadFile(filepath.Join(job, "0/0/report/summary.txt"))
			require.NoError(t, err)
			require.NotContains(t, string(summary), "ended early")
			require.NotContains(t, string(summary), "without MPI_Finalize")
			_, body, _ := strings.Cut(string(summary), "\n\n")
			require.Regexp(t, `^\d+% of the calls`, body)

			info := cairn(t, "", "info", filepath.Join(job, "0/0/trace.cairn"))
			require.Regexp(t, `calls not recorded +\d+ of rank 0-1: the spool limit`, info.stdout)
			require.NotContains(t, info.stdout, "ended early")
		})
	}
}

// shipSpool uploads what a pod's ranks wrote, as its sidecar does.
func shipSpool(t *testing.T, spool, job string) {
	t.Helper()
	ship := exec.Command(filepath.Join(shimtest.Root(), "bin", "cairn"), "ship", "--spool", spool, "--store", job)
	ship.Env = append(os.Environ(), "CAIRN_POD_NAME=worker-0", "CAIRN_POD_UID=uid-0", "CAIRN_POD_ROLE=worker", "CAIRN_NODE_NAME=node-0")
	require.NoError(t, ship.Start())
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, ship.Process.Signal(syscall.SIGTERM))
	require.NoError(t, ship.Wait())
}

// told returns the termination message of a pod's command.
func told[M any](t *testing.T, arguments ...string) (message M) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, nil, 0o644))
	r := cairn(t, "", append(arguments, "--termination-log", log)...)
	require.Zero(t, r.code, "%v: %s", arguments, r.stderr)
	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), messages.MaxBytes)
	require.NoError(t, json.Unmarshal(raw, &message))
	return message
}
