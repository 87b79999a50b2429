//go:build mpi

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	format "github.com/cairn-mpi/cairn/trace"
)

// familyRanks has the number of ranks of the programs that are not for two.
var familyRanks = map[string]int{"collectives": 3, "groups": 3, "neighborhood": 3}

// buildFamilies compiles the programs of families/ and returns where they are, by
// implementation and name.
func buildFamilies(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bin")
	out, err := exec.Command("make", "-s", "-j2", "-C", "families", "OUT="+dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// launchFamily is the command for a program of a family.
func launchFamily(implementation, dir, program string) (command []string, ranks int) {
	ranks = familyRanks[program]
	if ranks == 0 {
		ranks = 2
	}
	command = launch(implementation, ranks, program)
	command[len(command)-1] = filepath.Join(dir, implementation, program)
	return command, ranks
}

// progress is what cairn prints of work that takes more than a second, on a busy machine.
var progress = regexp.MustCompile(`(?m)^cairn: .*, about .* left\n`)

// TestFamilies runs a program for each family of functions under both MPIs. The decoded trace must
// equal the reference log in every call, and the program's own counts. Together the programs must
// call every function.
func TestFamilies(t *testing.T) {
	t.Parallel()
	dir := buildFamilies(t)
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			t.Parallel()
			programs, err := filepath.Glob("families/*.c")
			require.NoError(t, err)
			called := map[string]bool{}
			for _, source := range programs {
				program := strings.TrimSuffix(filepath.Base(source), ".c")
				t.Run(program, func(t *testing.T) {
					command, ranks := launchFamily(implementation, dir, program)
					r := trace(t, []string{"--verify"}, command...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					assert.Regexp(t, fmt.Sprintf(`verify: all \d+ calls on %d ranks agree with the reference log`, ranks), r.stdout+r.stderr)
					assert.NotRegexp(t, `(?m)^cairn: `, progress.ReplaceAllString(r.stderr, ""))
					printed := printedCounts(t, r.stdout)
					require.Len(t, printed, ranks, r.stdout)
					assert.Equal(t, printed, dumpCounts(t, worldOf(t, r.dir)))
					for _, functions := range printed {
						for name := range functions {
							called[name] = true
						}
					}
				})
			}
			if !t.Failed() {
				checkCoverage(t, implementation, called)
			}
		})
	}
}

// worldOf returns the trace of the MPI_COMM_WORLD that was started first: a program that spawns
// creates several.
func worldOf(t *testing.T, dir string) string {
	t.Helper()
	if files, _ := filepath.Glob(filepath.Join(dir, "run-*", "trace.cairn")); len(files) > 0 {
		return files[0]
	}
	return filepath.Join(dir, "trace.cairn")
}

// TestSpawnedWorldsAreJoined: the program spawns two worlds, one after the other, and each of the
// three traces names the worlds that its communicators lead to. Only Open MPI can spawn here.
func TestSpawnedWorldsAreJoined(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bin")
	program := filepath.Join(dir, "openmpi", "dynamic")
	out, err := exec.Command("make", "-s", "-C", "families", "OUT="+dir, program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	command, _ := launchFamily("openmpi", dir, "dynamic")
	r := trace(t, nil, command...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	files, err := filepath.Glob(filepath.Join(r.dir, "run-*", "trace.cairn"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	var worlds []string
	var met [][]string
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		defer f.Close()
		info, err := f.Stat()
		require.NoError(t, err)
		opened, err := format.Open(f, info.Size())
		require.NoError(t, err)
		c, err := opened.Content()
		require.NoError(t, err)
		var remote []string
		for i := range c.Communicators {
			if w := c.Communicators[i].RemoteWorld; w != "" && !slices.Contains(remote, w) {
				remote = append(remote, w)
			}
		}
		assert.NotContains(t, strings.Join(c.Meta.Notes, "\n"), "other side")
		worlds, met = append(worlds, c.Meta.World), append(met, remote)
	}
	assert.ElementsMatch(t, worlds[1:], met[0])
	assert.Equal(t, worlds[:1], met[1])
	assert.Equal(t, worlds[:1], met[2])
}
