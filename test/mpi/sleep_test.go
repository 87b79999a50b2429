//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Twice as many ranks as cores. One sleeps while the others poll for it, each in turn: work moves
// from rank to rank, or the barrier after it makes all wait for the one that sleeps, if other load
// does not hide that. No rank waits for a CPU, although pollers are preempted all the time. If all
// compute at the same time, they do wait.
func TestSleepIsNotWaitingForACPU(t *testing.T) {
	for _, implementation := range implementations {
		program := filepath.Join(t.TempDir(), "turns")
		out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "sleep/turns.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		for work, blames := range map[string][]verdict.Kind{
			"sleep": {verdict.Imbalance, verdict.Collectives, verdict.Nobody}, "compute": {verdict.CPUs},
		} {
			t.Run(implementation+" "+work, func(t *testing.T) {
				command := launch(implementation, 2*runtime.NumCPU(), "turns", work)
				command[len(command)-2] = program
				oneOfThree(t, func(t testing.TB) {
					r := trace(t, nil, command...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					text, err := os.ReadFile(filepath.Join(r.dir, "report", "report.json"))
					require.NoError(t, err)
					var found analyzertest.Findings
					require.NoError(t, json.Unmarshal(text, &found))
					require.NotNil(t, found.CPUs)
					require.NotNil(t, found.CPUs.RunDelay, "the kernel counts run delays")
					assert.Contains(t, blames, found.Verdict.Blames, "%s %+v", found.Verdict.Text, found.CPUs)
					if found.Verdict.Blames == verdict.Collectives {
						assert.Equal(t, verdict.Barrier, found.Verdict.Causes[0].Form, found.Verdict.Text)
					}
				})
			})
		}
	}
}
