//go:build mpi

package shimtest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the tracer does in a call is not interrupted by a handler that jumps out of it, which would
// lose a lock that other threads wait for, nor is it where a canceled thread ends. A call that a
// signal handler may make allocates nothing.
func TestInterruptedTracer(t *testing.T) {
	t.Parallel()
	source := filepath.Join(Root(), "tracer", "shim", "testdata", "interrupted.c")
	for implementation, program := range CompileForAll(t, source, "-pthread") {
		for how, sites := range map[string]string{"jump": "path", "cancel": "path", "memory": "none"} {
			t.Run(implementation+"/"+how, func(t *testing.T) {
				t.Parallel()
				plain := Run(t, nil, program, how)
				require.Zero(t, plain.Code, plain.Stderr)
				tracer := NewTracer(t, map[string]any{"call_sites": sites})
				require.Equal(t, plain, tracer.Run(t, program, how))
				require.Len(t, tracer.Processes(t), 1)
			})
		}
	}
}
