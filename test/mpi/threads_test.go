//go:build mpi

package mpi

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThreadsInAnyOrder: in whichever order the threads of the ranks make their first calls, the
// program of the run is the same, and so is what a re-execution does.
func TestThreadsInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			pool := filepath.Join(t.TempDir(), "pool")
			out, err := exec.Command("mpicc."+implementation, "-g", "-O1", "-Wall", "-Werror", "-pthread", "-o", pool, "threads/pool.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			var first string
			for seed := range 2 {
				r := trace(t, nil, append(launcher(implementation, 4), pool, fmt.Sprint(seed))...)
				require.Equal(t, 0, r.code, r.stderr)
				program := cairn(t, "", "program", filepath.Join(r.dir, "trace.cairn"))
				require.Equal(t, 0, program.code, program.stderr)
				if seed == 0 {
					first = program.stdout
					for k, calls := range []int{10, 7, 4} {
						assert.Regexp(t, fmt.Sprintf(`sendtag=%d, .*× %d times  @`, k, calls), first)
					}
				}
				assert.Equal(t, first, program.stdout, "seed %d", seed)
				again := replay(t, r.dir, implementation, 4, "--speed", "max", "--check")
				assert.Equal(t, 0, again.code, "seed %d: %s%s", seed, again.stdout, again.stderr)
			}
		})
	}
}

// TestThreadsWithObjectsOfOneNumber: an object's number is given again once it is freed. A thread
// of a re-execution that needs it does not wait for the thread that has it: that may be in a
// collective operation, which other ranks enter only after their thread has gone on.
func TestThreadsWithObjectsOfOneNumber(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			objects := filepath.Join(t.TempDir(), "objects")
			out, err := exec.Command("mpicc."+implementation, "-g", "-O1", "-Wall", "-Werror", "-pthread", "-o", objects, "threads/objects.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			r := trace(t, nil, append(launcher(implementation, 3), objects)...)
			require.Equal(t, 0, r.code, r.stderr)
			again := 3
			if testing.Short() {
				again = 1
			}
			for range again {
				again := replay(t, r.dir, implementation, 3, "--speed", "max", "--check")
				require.Equal(t, 0, again.code, "%s%s", again.stdout, again.stderr)
			}
		})
	}
}

// TestAThreadPerTask: a run of 100,000 threads, one after the other and 1,000 at a time, is
// recorded as a whole. (MPICH's threads spin for locks: 1,000 of them take as long as they like,
// also untraced.)
func TestAThreadPerTask(t *testing.T) {
	t.Parallel()
	threads, many, mostBytes := 100_000, 1000, 2_000_000.0
	if testing.Short() {
		threads, many, mostBytes = 2000, 100, 100_000
	}
	for together, implementation := range map[int]string{1: "mpich", many: "openmpi"} {
		t.Run(fmt.Sprint(together), func(t *testing.T) {
			tasks := filepath.Join(t.TempDir(), "tasks")
			out, err := exec.Command("mpicc."+implementation, "-g", "-O1", "-Wall", "-Werror", "-pthread", "-o", tasks, "../../tracer/shim/testdata/tasks.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			r := trace(t, nil, append(launcher(implementation, 1), tasks, fmt.Sprint(threads), fmt.Sprint(together))...)
			require.Equal(t, 0, r.code, r.stderr)
			made := info(t, filepath.Join(r.dir, "trace.cairn"))
			require.EqualValues(t, 4+3*threads, made["calls"])
			require.LessOrEqual(t, made["bytes"].(map[string]any)["total"], mostBytes)
		})
	}
}
