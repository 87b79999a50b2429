//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A skeleton compiles without a warning, runs, and, traced again, makes the calls of the program. A
// shortened one runs, too. `make bench-skeleton` does that for all examples.
func TestSkeletons(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		for _, example := range []struct {
			name      string
			arguments []string
		}{
			{"ring", []string{"--work-us", "1000"}},
			{"stencil", []string{"--iterations", "20", "--work-us", "100"}},
			{"master_worker", []string{"--tasks", "9", "--work-us", "1000"}},
		} {
			t.Run(implementation+" "+example.name, func(t *testing.T) {
				original := trace(t, []string{"--call-sites", "path"}, launch(implementation, 4, example.name, example.arguments...)...)
				require.Equal(t, 0, original.code, original.stderr)
				file := filepath.Join(original.dir, "trace.cairn")
				run := func(flags ...string) result {
					dir := t.TempDir()
					r := cairn(t, "", append([]string{"skeleton", file, "-o", dir}, flags...)...)
					require.Equal(t, 0, r.code, r.stderr)
					out, err := exec.Command("make", "-C", dir, "CC=mpicc."+implementation, "CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror").CombinedOutput()
					require.NoError(t, err, "%s", out)
					command := launch(implementation, 4, "")
					command[len(command)-1] = filepath.Join(dir, "skeleton")
					again := trace(t, nil, command...)
					require.Equal(t, 0, again.code, again.stderr)
					return again
				}
				compared := cairn(t, "", "skeleton", file, "--compare", filepath.Join(run().dir, "trace.cairn"))
				assert.Equal(t, 0, compared.code, compared.stderr)
				if example.name == "stencil" {
					compared = cairn(t, "", "skeleton", file, "--compare", filepath.Join(run("--scale", "0.1").dir, "trace.cairn"))
					assert.NotEqual(t, 0, compared.code)
					assert.Contains(t, compared.stderr, "is not the program of")
				}
			})
		}
	}
}

// A skeleton recorded on a grid of 9 ranks makes on 6 the calls that the program makes on 6.
func TestSkeletonElsewhere(t *testing.T) {
	t.Parallel()
	const implementation = "openmpi"
	sweep := func(ranks int) string {
		r := trace(t, nil, launch(implementation, ranks, "sweep", "--iterations", "2", "--work-us", "100")...)
		require.Equal(t, 0, r.code, r.stderr)
		return filepath.Join(r.dir, "trace.cairn")
	}
	dir := t.TempDir()
	r := cairn(t, "", "skeleton", sweep(9), "-o", dir)
	require.Equal(t, 0, r.code, r.stderr)
	out, err := exec.Command("make", "-C", dir, "CC=mpicc."+implementation, "CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror").CombinedOutput()
	require.NoError(t, err, "%s", out)
	command := launch(implementation, 6, "")
	command[len(command)-1] = filepath.Join(dir, "skeleton")
	again := trace(t, nil, command...)
	require.Equal(t, 0, again.code, again.stderr)
	compared := cairn(t, "", "skeleton", sweep(6), "--compare", filepath.Join(again.dir, "trace.cairn"))
	assert.Equal(t, 0, compared.code, compared.stderr)
}
