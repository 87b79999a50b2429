//go:build mpi

package mpi

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/oracle"
	format "github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestSecondOpinion: for real runs, a second reader that was written from the definitions agrees
// with the report. It runs before the report is read. The report is made without the counters of
// the operating system, which the second reader does not see: on a busy machine they decide whether
// a rank waits in the long gaps between its polls.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	type program struct {
		program     string
		differences func(oracle.Answer, oracle.Report) []string
	}
	programs := []program{
		{"collectives", oracle.DifferencesBesideTrees}, {"farm", oracle.Differences}, {"requests", oracle.Differences},
		{"stencil", oracle.Differences}, {"sweep", oracle.Differences},
	}
	if !testing.Short() {
		programs = append(programs, program{"balanced", oracle.DifferencesBesideTrees}, program{"imbalance", oracle.DifferencesBesideTrees},
			program{"master_worker", oracle.Differences}, program{"persistent", oracle.Differences}, program{"phases", oracle.Differences},
			program{"ring", oracle.Differences})
	}
	for i, test := range programs {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+test.program, func(t *testing.T) {
				r := trace(t, []string{"--timing", "lossless"}, launch(implementation, 4, test.program)...)
				require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
				file := filepath.Join(r.dir, "trace.cairn")
				calls := cairn(t, "", "dump", "--json", file)
				require.Equal(t, 0, calls.code, calls.stderr)
				known, err := oracle.Ask([]byte(calls.stdout), nil, 0)
				require.NoError(t, err)
				removeCounters(t, file)
				analyzed := cairn(t, "", "analyze", "-o", filepath.Join(r.dir, "report"), file)
				require.Equal(t, 0, analyzed.code, analyzed.stderr)
				report, err := oracle.ReadReport(filepath.Join(r.dir, "report"))
				require.NoError(t, err)
				assert.Empty(t, test.differences(known, report))
			})
		}
	}
}

// removeCounters removes what a trace has of the operating system's counters.
func removeCounters(t *testing.T, file string) {
	t.Helper()
	read, err := os.ReadFile(file)
	require.NoError(t, err)
	opened, err := format.Open(bytes.NewReader(read), int64(len(read)))
	require.NoError(t, err)
	c, err := opened.Content()
	require.NoError(t, err)
	var without format.RankTable
	for _, rank := range c.Ranks.All() {
		rank.Context = nil
		without.Append(rank)
	}
	c.Ranks = without
	var written bytes.Buffer
	require.NoError(t, format.Write(&written, c))
	require.NoError(t, os.WriteFile(file, written.Bytes(), 0o644))
}
