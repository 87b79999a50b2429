//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// enoughOfTheWait is the share of the known waiting that must be found: this machine has fewer
// cores than ranks, so that waiting ranks may be late themselves.
const enoughOfTheWait = 0.5

// TestLateForEachCollective: late/collectives.c is late by a known time for every collective
// operation. The waiting of each is found at its line, with the right kind.
func TestLateForEachCollective(t *testing.T) {
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "collectives")
			out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "late/collectives.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			command := launch(implementation, 4, "collectives")
			command[len(command)-1] = program
			var r result
			oneOfThree(t, func(t testing.TB) {
				r = trace(t, nil, command...)
				require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)

				found := waitsByLine(t, r.dir)
				expected := regexp.MustCompile(`(?m)^expect (\d+) (\S+) (.+)$`).FindAllStringSubmatch(r.stdout, -1)
				require.NotEmpty(t, expected, r.stdout)
				for _, e := range expected {
					seconds, err := strconv.ParseFloat(e[2], 64)
					require.NoError(t, err)
					at := siteKind{"collectives.c:" + e[1], e[3]}
					assert.GreaterOrEqual(t, found[at], enoughOfTheWait*seconds, "%s at %s; there is %v", at.kind, at.site, found)
				}
			})
			assertAllCollectivesAreCalled(t, filepath.Join(r.dir, "trace.cairn"), implementation)
		})
	}
}

// A siteKind is a wait state at a line of the program.
type siteKind struct{ site, kind string }

// waitsByLine reads the seconds of each wait state at each line from report.json.
func waitsByLine(t testing.TB, dir string) map[siteKind]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	require.NoError(t, err)
	var report struct {
		Waits struct {
			ByCallSite []struct {
				Kind     string  `json:"kind"`
				CallSite string  `json:"call_site"`
				Seconds  float64 `json:"seconds"`
			} `json:"by_call_site"`
		} `json:"waits"`
	}
	require.NoError(t, json.Unmarshal(text, &report))
	waits := map[siteKind]float64{}
	for _, w := range report.Waits.ByCallSite {
		waits[siteKind{w.CallSite, w.Kind}] += w.Seconds
	}
	return waits
}

// isCollective reports whether calls of a function are collectives that exchange data, or barriers.
func isCollective(f *mpi.Function) bool {
	op := semantics.Of(f).Operation
	return op >= semantics.Barrier && op <= semantics.Neighbor
}

// assertAllCollectivesAreCalled: no collective data operation of this MPI's C interface is missing
// in a trace. Those with large counts are the same operations.
func assertAllCollectivesAreCalled(t *testing.T, file, implementation string) {
	t.Helper()
	called := map[string]bool{}
	for _, functions := range dumpCounts(t, file) {
		for name := range functions {
			called[name] = true
		}
	}
	for _, name := range exportedFunctions(t, libmpi(t, implementation)) {
		f := mpi.ByName(name)
		if f != nil && isCollective(f) && !strings.HasSuffix(name, "_c") {
			assert.True(t, called[name], "%s is never called", name)
		}
	}
}
