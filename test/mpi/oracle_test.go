//go:build mpi

package mpi

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/oracle"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestSecondOpinion: for real runs, a second reader that was written from the definitions
// agrees with the report. It does not see the counters of the operating system, which decide
// whether a rank waits in a long gap between polls: runs have these gaps if the machine is busy
// with something else.
func TestSecondOpinion(t *testing.T) {
	for i, test := range []struct {
		program     string
		differences func(oracle.Answer, oracle.Report) []string
	}{
		{"balanced", oracle.DifferencesBesideTrees}, {"collectives", oracle.DifferencesBesideTrees}, {"imbalance", oracle.DifferencesBesideTrees},
		{"farm", oracle.Differences}, {"master_worker", oracle.Differences}, {"persistent", oracle.Differences}, {"phases", oracle.Differences},
		{"requests", oracle.Differences}, {"ring", oracle.Differences}, {"stencil", oracle.Differences}, {"sweep", oracle.Differences},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+test.program, func(t *testing.T) {
				var differences []string
				for range 3 { // once is enough
					r := trace(t, []string{"--timing", "lossless"}, launch(implementation, 4, test.program)...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					calls := cairn(t, "", "dump", "--json", filepath.Join(r.dir, "trace.cairn"))
					require.Equal(t, 0, calls.code, calls.stderr)
					known, err := oracle.Ask([]byte(calls.stdout), nil, 0)
					require.NoError(t, err)
					report, err := oracle.ReadReport(filepath.Join(r.dir, "report"))
					require.NoError(t, err)
					if differences = test.differences(known, report); len(differences) == 0 {
						break
					}
				}
				assert.Empty(t, differences)
			})
		}
	}
}
