//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	tracefile "github.com/cairn-mpi/cairn/trace"
)

// Four receivers come 50 ms late. With the default timing, and with one lossless trace rounded to
// 1%, 5% and 20%, all four are found, with the time that they were late; it may be shorter than 4 ·
// 50 ms only by the error of times.
func TestLateReceiversOfShortRuns(t *testing.T) {
	for _, implementation := range implementations {
		for _, size := range []string{"s", "b"} {
			t.Run(implementation+" "+size, func(t *testing.T) {
				program := filepath.Join(t.TempDir(), "receiver")
				out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "late/receiver.c").CombinedOutput()
				require.NoError(t, err, "%s", out)
				command := launch(implementation, 2, "receiver", size, "4")
				command[len(command)-3] = program
				assertLate := func(t testing.TB, what string, f *analyzertest.Findings) {
					count, seconds := 0, 0.0
					for _, w := range f.WaitStates {
						if w.Kind == "late receiver" {
							count, seconds = w.Count, w.Seconds
						}
					}
					assert.Equal(t, 4, count, what)
					// the receiver's own delay after the barrier may hide a part of its sleep from
					// the sender
					assert.GreaterOrEqual(t, seconds, enoughOfTheWait*0.2, what)
				}
				oneOfThree(t, func(t testing.TB) {
					run := trace(t, nil, command...)
					require.Equal(t, 0, run.code, "%s\n%s", run.stdout, run.stderr)
					assertLate(t, "default timing", found(t, content(t, run.dir)))
				})
				oneOfThree(t, func(t testing.TB) {
					run := trace(t, []string{"--timing", "lossless"}, command...)
					require.Equal(t, 0, run.code, "%s\n%s", run.stdout, run.stderr)
					exact := content(t, run.dir)
					assertRoundingChangesLittle(t, exact)
					for _, timing := range []string{"lossless", "lossy 1", "lossy 5", "lossy 20"} {
						assertLate(t, timing, found(t, tracetest.Rounded(t, exact, timing)))
					}
				})
			})
		}
	}
}

// The verdict on a program with one slow rank does not depend on the error of its times.
func TestRoundingLeavesTheVerdict(t *testing.T) {
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			var lossless *tracefile.Content
			for range 4 {
				run := trace(t, []string{"--timing", "lossless"}, launch(implementation, 4, "imbalance")...)
				require.Equal(t, 0, run.code, "%s\n%s", run.stdout, run.stderr)
				lossless = content(t, run.dir)
				if !isShortOfCPUs(t, lossless) {
					break
				}
			}
			assertRoundingChangesLittle(t, lossless)
		})
	}
}

// isShortOfCPUs reports whether others used the CPUs so much that this is a cause, too: which one
// comes first may then depend on little.
func isShortOfCPUs(t testing.TB, c *tracefile.Content) bool {
	return slices.ContainsFunc(found(t, c).Verdict.Causes, func(c verdict.Cause) bool { return c.Kind == verdict.CPUs })
}

// assertRoundingChangesLittle compares the findings for a lossless trace with those at 1% and 5%:
// the blamed rank; the length of the run, which lies between two rounded times; and useful times,
// which are sums of intervals.
func assertRoundingChangesLittle(t testing.TB, lossless *tracefile.Content) {
	t.Helper()
	exact := found(t, lossless)
	for percent, timing := range map[float64]string{1: "lossy 1", 5: "lossy 5"} {
		got := found(t, tracetest.Rounded(t, lossless, timing))
		assert.Equal(t, exact.Verdict.Blames, got.Verdict.Blames, "%s: %s, was: %s", timing, got.Verdict.Text, exact.Verdict.Text)
		assert.Equal(t, exact.Verdict.Ranks, got.Verdict.Ranks, timing)
		assert.InDelta(t, exact.RunSeconds, got.RunSeconds, 2*got.Timing.MomentSeconds+1e-9, timing)
		for i, r := range exact.Ranks {
			off := min(percent/100*r.Computation, 2*got.Timing.MomentSeconds*float64(r.Calls+1))
			assert.InDelta(t, r.Computation, got.Ranks[i].Computation, off+1e-6, "%s: rank %d computes", timing, r.Rank)
		}
	}
}

func content(t testing.TB, dir string) *tracefile.Content {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "trace.cairn"))
	require.NoError(t, err)
	defer f.Close()
	stat, err := f.Stat()
	require.NoError(t, err)
	r, err := tracefile.Open(f, stat.Size())
	require.NoError(t, err)
	c, err := r.Content()
	require.NoError(t, err)
	return c
}

func found(t testing.TB, c *tracefile.Content) *analyzertest.Findings {
	t.Helper()
	f := analyzertest.Content(t, c)
	return &f
}
