//go:build mpi

package shimtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// What the tracer does in a call may be left by a handler that jumps out of it: no lock is lost
// that other threads wait for. It is not where a canceled thread ends. A call that a signal handler
// may make allocates nothing.
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

// A timer of the process interrupts calls, and its handler jumps to where the program goes on. No
// signal is blocked then, or the kernel would give it to another thread, from whose stack nobody
// can jump there; and the jumps cost the other threads no call.
func TestAlarmsReachTheirThread(t *testing.T) {
	t.Parallel()
	alarms := 10_000
	if testing.Short() {
		alarms = 1500
	}
	source := filepath.Join(Root(), "tracer", "shim", "testdata", "interrupted.c")
	for implementation, program := range CompileForAll(t, source, "-pthread") {
		t.Run(implementation, func(t *testing.T) {
			// small buffers, since they are changed under a lock
			tracer := NewTracer(t, map[string]any{"segment_bytes": 32768})
			r := tracer.Run(t, program, "alarm", fmt.Sprint(alarms))
			require.Zero(t, r.Code, "%+v", r)
			var handled, elsewhere int
			var calls uint64
			_, err := fmt.Sscanf(r.Stdout, "alarms %d others %d calls %d", &handled, &elsewhere, &calls)
			require.NoError(t, err, r.Stdout)
			require.GreaterOrEqual(t, handled, alarms)
			// signals are blocked a few times per process, in first calls
			require.LessOrEqual(t, elsewhere, alarms/200)
			content, report, err := spool.Recover(tracer.Processes(t)[0])
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			counts, err := content.Counts()
			require.NoError(t, err)
			made := uint64(0)
			for _, c := range counts {
				if content.Functions[slices.IndexFunc(content.Functions, func(f trace.Function) bool { return f.ID == c.Function })].Name == "MPI_Comm_size" {
					made += c.Calls
				}
			}
			require.Equal(t, calls+3, made) // three by another one, in the end
		})
	}
}
