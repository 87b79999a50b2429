package recorder

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// untraced returns the functions of a thread's calls that are marked as following untraced time.
func untraced(t *testing.T, c *trace.Content, thread int) []string {
	t.Helper()
	cursor, err := c.Cursor(0, thread)
	require.NoError(t, err)
	var names []string
	for cursor.Next() {
		if e := cursor.Event(); e.Signature.Untraced {
			names = append(names, e.Function.Name)
		}
	}
	require.NoError(t, cursor.Err())
	return names
}

// The gaps in which calls may be missing are marked, on all threads, and requests keep their ids.
func TestRegionsThatAreOff(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(1, "MPI_Barrier", 0, recordtest.CommWorld)
	for range 3 {
		s.Irecv(1, 5, 1000)
		s.Call(0, "MPI_Pcontrol", 0, 0)
		s.Waitall(recordtest.List{1000})
		s.Call(0, "MPI_Pcontrol", 0, 100) // a mark changes nothing
		s.Call(0, "MPI_Pcontrol", 0, 1)
		s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	}
	s.Call(1, "MPI_Barrier", 0, recordtest.CommWorld)
	s.Call(1, "MPI_Barrier", 0, recordtest.CommWorld)
	c := contentOf(s)
	var want []string
	for range 3 {
		want = append(want, "MPI_Waitall", "MPI_Pcontrol", "MPI_Pcontrol")
	}
	require.Equal(t, want, untraced(t, c, 0))
	require.Equal(t, []string{"MPI_Barrier"}, untraced(t, c, 1))
	require.Empty(t, c.Meta.Notes)
	got := recordtest.Lines(t, c, 0)
	require.Equal(t, got[1:7], got[7:13], "the second time is as the first")
	require.Contains(t, got[1], "#0")
	require.Contains(t, got[3], "#0")
}

func TestOffFromTheStart(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.StartOff = 1
	s.Process.Excluded = "rma,io"
	s.Init(0, 2)
	s.Call(0, "MPI_Comm_free", 0, recordtest.CommWorld, recordtest.CommNull)
	c := contentOf(s)
	require.Equal(t, []string{"MPI_Init", "MPI_Comm_free"}, untraced(t, c, 0))
	require.Equal(t, []string{"rank 0: tracing was off at its end"}, c.Meta.Notes)
	require.Equal(t, []string{"io", "rma"}, c.Meta.Excluded)
	resumed, err := Restore(s.Process, recorderOf(s).AppendState(nil))
	require.NoError(t, err)
	again := recordtest.InMemory(t)(resumed.Content())
	require.Empty(t, cmp.Diff(c, again, listed))
}
