//go:build mpi

package mpi

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClocksOfAPreemptedThread: a thread that loses its CPU between two clock reads does not shift
// the rank's times: those of the trace agree with the log's.
func TestClocksOfAPreemptedThread(t *testing.T) {
	library := filepath.Join(t.TempDir(), "late_clock.so")
	out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, "../yield/late_clock.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	before := yield
	t.Cleanup(func() { yield = before })
	yield = library + ":" + before
	for late := range 12 { // the first clock sample is among these readings
		implementation := implementations[late%len(implementations)]
		t.Run(fmt.Sprintf("%s/%d", implementation, late), func(t *testing.T) {
			t.Setenv("LATE_READING", strconv.Itoa(late/len(implementations)))
			r := trace(t, []string{"--verify", "--timing", "lossless"}, launch(implementation, 2, "ring")...)
			require.Equal(t, 0, r.code, r.stderr)
			assert.Contains(t, r.stdout, "agree with the reference log")
		})
	}
}
