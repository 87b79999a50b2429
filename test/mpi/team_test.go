//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// compileThreads builds a program of the folder threads.
func compileThreads(t *testing.T, implementation, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("mpicc."+implementation, "-g", "-O1", "-Wall", "-Werror", "-fopenmp", "-pthread", "-o", program, "threads/"+name+".c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// readThreads reads the verdict and the ledger of a run, in seconds by row.
func readThreads(t *testing.T, dir string) (v verdict.Verdict, ledger map[string]float64) {
	t.Helper()
	var report struct {
		Verdict verdict.Verdict `json:"verdict"`
		Ledger  verdict.Ledger  `json:"ledger"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &report))
	ledger = map[string]float64{}
	for _, row := range report.Ledger.Rows {
		ledger[row.What] = float64(row.NS) / 1e9
	}
	return report.Verdict, ledger
}

// One thread of rank 1 is slow, and the others of its team wait for it: in the kernel, or by
// polling. Rank 1 is named and no other. Where they wait in the kernel it is known that it is one
// of its threads; where they poll it may be all of them, and on a machine with fewer CPUs than
// threads the CPUs may be what is wanting. Where readings are slow a run may have too few of them,
// which says less. Then another one decides.
func TestOneThreadOfATeamIsSlow(t *testing.T) {
	for _, implementation := range implementations {
		program := compileThreads(t, implementation, "team")
		for _, policy := range []string{"passive", "active"} {
			t.Run(implementation+" "+policy, func(t *testing.T) {
				t.Setenv("OMP_NUM_THREADS", "2")
				t.Setenv("OMP_WAIT_POLICY", policy)
				var v verdict.Verdict
				var ledger map[string]float64
				for range 4 {
					r := trace(t, nil, append(launcher(implementation, 4), program)...)
					require.Equal(t, 0, r.code, r.stderr)
					v, ledger = readThreads(t, r.dir)
					if policy == "passive" {
						require.NotEmpty(t, v.Causes, v.Text)
						assert.Equal(t, "1", v.Ranks, v.Text)
					}
					if policy == "active" || ledger["threads"]+ledger["blocked"] > 0.4 {
						break
					}
				}
				for _, c := range v.Causes {
					if c.Kind == verdict.Excess {
						assert.Equal(t, "1", c.Ranks, v.Text)
						assert.Equal(t, policy == "passive", c.Form == verdict.InThread, v.Text)
						assert.NotEqual(t, verdict.Preempted, c.Form, v.Text)
					}
					if c.Kind == verdict.Imbalance && policy == "active" { // rank 1 has more work
						assert.Equal(t, 1, c.Spread.MaxRank, v.Text)
					}
				}
				if policy == "passive" {
					assert.Greater(t, ledger["threads"], 0.4, v.Text)
					assert.Greater(t, ledger["threads"], ledger["blocked"], v.Text)
				}
			})
		}
	}
}

// The first threads wait for threads that communicate: they are not blocked in the kernel, since
// their ranks are at work.
func TestThreadsThatCommunicateAreJoined(t *testing.T) {
	for _, implementation := range implementations {
		program := compileThreads(t, implementation, "join")
		for _, arguments := range [][]string{nil, {"turns"}} {
			r := trace(t, nil, append(append(launcher(implementation, 2), program), arguments...)...)
			require.Equal(t, 0, r.code, r.stderr)
			v, ledger := readThreads(t, r.dir)
			assert.NotContains(t, v.Text, "blocked", implementation)
			assert.NotContains(t, v.Text, "kernel", implementation)
			assert.Greater(t, ledger["threads"], 4*ledger["blocked"], "%s: %s", implementation, v.Text)
		}
	}
}
