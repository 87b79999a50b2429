//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWrappers: the call site that is shown of a call in a wrapper is where the wrapper was called,
// as the program itself says, whatever the wrapper's form; on every rank, though they call it from
// different places.
func TestWrappers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ implementation, level string }{{"openmpi", "-O0"}, {"openmpi", "-O2"}, {"mpich", "-O2"}} {
		t.Run(c.implementation+c.level, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			compiler := "mpicxx." + c.implementation
			library := filepath.Join(dir, "liblayer.so")
			for _, arguments := range [][]string{
				{c.level, "-g", "-fPIC", "-shared", "-o", library, "wrappers/library.cc"},
				{c.level, "-g", "-o", filepath.Join(dir, "wrappers"), "wrappers/wrappers.cc", library},
			} {
				out, err := exec.Command(compiler, arguments...).CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			const ranks = 3
			r := trace(t, []string{"--verify"}, launched(c.implementation, ranks, filepath.Join(dir, "wrappers"), dir)...)
			require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
			assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
			got, recursions := shownLines(t, r.dir)
			for rank := range ranks {
				want, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(rank)))
				require.NoError(t, err)
				var lines []string
				for line := range strings.Lines(string(want)) {
					lines = append(lines, strings.TrimSpace(line))
				}
				require.NotEmpty(t, lines)
				assert.Equal(t, lines, got[rank])
			}
			assert.LessOrEqual(t, recursions, 2, "sites of a recursion")
		})
	}
}

// shownLines returns the lines of each rank's calls, without those that the program does not count.
func shownLines(t *testing.T, dir string) (lines map[int][]string, recursions int) {
	t.Helper()
	dump := cairn(t, "", "dump", filepath.Join(dir, "trace.cairn"), "--json")
	require.Equal(t, 0, dump.code, dump.stderr)
	type site struct {
		File string
		Line int
	}
	lines = map[int][]string{}
	sites := map[site]bool{}
	for line := range strings.Lines(dump.stdout) {
		var call struct {
			Rank     int
			Function string
			Site     site `json:"call_site"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		switch call.Function {
		case "MPI_Init", "MPI_Comm_rank", "MPI_Finalize", "MPI_Wtime":
			continue
		case "MPI_Reduce":
			sites[call.Site] = true
			continue
		}
		lines[call.Rank] = append(lines[call.Rank], fmt.Sprintf("%s:%d", filepath.Base(call.Site.File), call.Site.Line))
	}
	return lines, len(sites)
}
