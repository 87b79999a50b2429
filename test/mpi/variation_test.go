//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A rank stops once, in one of many computations of which the tracer measures only some. That it
// was blocked then, and not without a CPU, was measured.
func TestSingleStop(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "stop")
			out, err := exec.Command("mpicc."+implementation, "-O1", "-g", "-o", program, "variation/stop.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			command := launch(implementation, 2, "stop")
			command[len(command)-1] = program
			found := reportIn(t, filepath.Join(trace(t, nil, command...).dir, "report"))
			i := slices.IndexFunc(found.Verdict.Causes, func(c verdict.Cause) bool { return c.Kind == verdict.Variation })
			require.GreaterOrEqual(t, i, 0, found.Verdict.Text)
			c := &found.Verdict.Causes[i]
			assert.Equal(t, verdict.Once, c.Form, found.Verdict.Text)
			assert.Equal(t, "1", c.Ranks, found.Verdict.Text)
			assert.EqualValues(t, 200, c.First, "the first iteration is a region of its own")
			assert.InDelta(t, 1.5, c.BlockedSeconds, 0.2, found.Verdict.Text)
			assert.InDelta(t, 1.5, *c.GainSeconds, 0.3, found.Verdict.Text)
		})
	}
}
