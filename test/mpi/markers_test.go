//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Markers are blocking collectives, and fences, in which all processes take part, on any
// communicator or window. Without one there is no vote. Nothing hangs, and the trace has every
// call.
func TestMarkers(t *testing.T) {
	t.Parallel()
	const none = "^$"
	programs := map[string]string{}
	for _, implementation := range implementations {
		programs[implementation] = filepath.Join(t.TempDir(), "loop")
		out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-pthread", "-o", programs[implementation], "markers/loop.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	for i, test := range []struct{ what, states string }{
		{"dup", clusters},
		{"dup-of-dup", clusters},
		{"split", clusters},
		{"reversed", clusters},
		{"cart", clusters},
		{"inter", clusters},
		{"come-and-go", clusters},
		{"one-after-the-other", clusters},
		{"neighbors", clusters},
		{"fences", clusters},
		{"explicit-from-1", clusters},
		{"explicit-from-2", clusters},      // the vote on an interval is still to begin
		{"explicit-from-3", clusters},      // it has begun
		{"explicit-from-300", clusters},    // ranks are clustered
		{"explicit-out-of-order", "^A*E$"}, // ranks have votes at different markers
		{"half", none},
		{"nonblocking", none},
		{"any-order", none},
		{"threads", none},     // the order of collectives of two threads is not defined
		{"threads-dup", none}, // duplicates could have any order, too
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+test.what, func(t *testing.T) {
				command := launch(implementation, 4, "loop", test.what)
				command[len(command)-2] = programs[implementation]
				r := clustered(t, []string{"--verify"}, command...)
				require.Equal(t, 0, r.code, r.stderr)
				require.Contains(t, r.stdout, "agree with the reference log")
				states := outcomes(openTrace(t, r.dir))
				require.Regexp(t, test.states, states)
				t.Log(states)
			})
		}
	}
}

// The stencil reduces its residual on a Cartesian communicator in each tenth iteration: that is
// enough.
func TestStencilIsClustered(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		r := clustered(t, []string{"--verify"}, launch(implementation, 4, "stencil", "--iterations", "400")...)
		require.Equal(t, 0, r.code, r.stderr)
		require.Contains(t, r.stdout, "agree with the reference log")
		trace := openTrace(t, r.dir)
		require.Regexp(t, clusters, outcomes(trace))
		for _, thread := range trace.Threads().All() {
			if thread.Rank == 0 {
				require.Empty(t, thread.Extrapolations)
			} else {
				require.NotEmpty(t, thread.Extrapolations, "rank %d", thread.Rank)
			}
		}
	}
}
