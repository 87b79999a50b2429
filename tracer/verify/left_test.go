//go:build mpi

package verify

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// tracedCalls returns the calls of a trace as the program logs its own, in the order of their
// entries.
func tracedCalls(t *testing.T, reader *trace.Reader) (calls []string) {
	type call struct {
		text  string
		enter int64
	}
	var list []call
	for row := range reader.Threads().Len() {
		at := reader.Threads().At(row)
		cursor, err := reader.Cursor(at.Rank, at.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			e := cursor.Event()
			text := e.Function.Name + " returned"
			if e.Left() {
				text = e.Function.Name + " left"
			}
			require.False(t, e.Unfinished(), text)
			list = append(list, call{text, e.Enter})
		}
		require.NoError(t, cursor.Err())
	}
	slices.SortStableFunc(list, func(a, b call) int { return cmp.Compare(a.enter, b.enter) })
	for _, c := range list {
		calls = append(calls, c.text)
	}
	return calls
}

// A call that the program leaves is in the trace as one that was left, all others as they are.
func TestCallsThatAreLeft(t *testing.T) {
	t.Parallel()
	// MPICH with its one lock does not survive that an error handler is left; so threads are apart
	runs := [][]string{
		{"throw", "jump", "throw-op", "jump-op", "throw-two", "jump-two", "within", "attribute", "throw"},
		{"exit", "thread", "cancel", "thread", "exit", "throw-op", "jump-op"},
		{"stack", "jump-stack", "stack-within", "stack", "jump-op", "stack"},
		{"caught", "caught"},
		{"coroutine", "coroutine-never"},
		{"jump-stack", "coroutine", "jump-two", "coroutine", "throw-two", "coroutine-never", "jump-op"},
	}
	for implementation, program := range shimtest.CompileForAll(t, source("left.cc"), "-pthread") {
		for _, how := range runs {
			t.Run(implementation+"/"+strings.Join(how, "_"), func(t *testing.T) {
				t.Parallel()
				command := append([]string{program}, how...)
				plain := shimtest.Run(t, nil, command...)
				require.Equal(t, 0, plain.Code, plain.Stderr)
				tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "timing": "lossless"})
				traced := tracer.Run(t, command...)
				require.Equal(t, plain, traced)
				directories := tracer.Processes(t)
				require.Len(t, directories, 1)
				reader := open(t, directories)
				require.Equal(t, strings.Split(strings.TrimSpace(plain.Stdout), "\n"), tracedCalls(t, reader))
				result, err := Compare(reader, directories)
				require.NoError(t, err)
				require.Empty(t, result.Disagreements)
				content, report, err := spool.Recover(directories[0])
				require.NoError(t, err)
				require.Zero(t, report.Lost)
				require.Empty(t, content.Ranks.At(0).EndedEarly)
			})
		}
	}
}

// A call that an exception has not left is the one that hangs, whatever was left within it.
func TestCallAroundOneThatIsLeft(t *testing.T) {
	t.Parallel()
	for implementation, program := range shimtest.CompileForAll(t, source("left.cc"), "-pthread") {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{})
			require.Equal(t, "killed", tracer.Run(t, program, "killed").Signal)
			cursor, err := open(t, tracer.Processes(t)).Cursor(0, 0)
			require.NoError(t, err)
			var open, left []string
			for cursor.Next() {
				switch e := cursor.Event(); {
				case e.Unfinished():
					open = append(open, e.Function.Name)
				case e.Left():
					left = append(left, e.Function.Name)
				}
			}
			require.NoError(t, cursor.Err())
			require.Equal(t, []string{"MPI_Comm_delete_attr"}, open)
			require.Equal(t, []string{"MPI_Send"}, left)
		})
	}
}

// Signals interrupt the recorder anywhere and jump out of it. The calls after that are recorded.
func TestSignalsThatJumpOutOfTheRecorder(t *testing.T) {
	t.Parallel()
	const jumps = 50
	for implementation, program := range shimtest.CompileForAll(t, source("left.cc"), "-pthread") {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"timing": "lossless"})
			traced := tracer.Run(t, program, "timer")
			require.Equal(t, 0, traced.Code, traced.Stderr)
			made := uint64(strings.Count(traced.Stdout, "\n"))
			_, report, err := spool.Recover(tracer.Processes(t)[0])
			require.NoError(t, err)
			require.Empty(t, report.EndedEarly)
			require.LessOrEqual(t, report.Lost, uint64(jumps))
			// a jump may come before the call has reached the shim
			require.LessOrEqual(t, report.Calls+report.Lost, made)
			require.GreaterOrEqual(t, report.Calls+report.Lost+jumps, made)
			reader := open(t, tracer.Processes(t))
			cursor, err := reader.Cursor(0, 0)
			require.NoError(t, err)
			for last := int64(math.MinInt64); cursor.Next(); last = cursor.Event().Enter {
				require.LessOrEqual(t, last, cursor.Event().Enter, "the clock of a call that was left may not have been read")
			}
			require.NoError(t, cursor.Err())
		})
	}
}
