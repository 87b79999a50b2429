package recorder

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The last call of a process that was killed in it has its arguments, no result, and lasts until
// the process was last known to live.
func TestUnfinishedCallKeepsItsArguments(t *testing.T) {
	for want, open := range map[string]func(s *recordtest.Shim){
		"MPI_Recv(buf=-, count=1, datatype=MPI_INT, source=1, tag=7, comm=MPI_COMM_WORLD, status=-) = never returned": func(s *recordtest.Shim) {
			s.Open(0, "MPI_Recv", 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
		},
		"MPI_Waitall(count=2, array_of_requests=[request#0, request#1], array_of_statuses=-) = never returned": func(s *recordtest.Shim) {
			s.Isend(1, 7, 100)
			s.Irecv(1, 7, 101)
			s.Open(0, "MPI_Waitall", 2, recordtest.List{100, 101})
		},
		"MPI_Barrier(comm=MPI_COMM_WORLD) = never returned":             func(s *recordtest.Shim) { s.Open(0, "MPI_Barrier", recordtest.CommWorld) },
		"MPI_Abort(comm=MPI_COMM_WORLD, errorcode=7) = never returned":  func(s *recordtest.Shim) { s.Open(0, "MPI_Abort", recordtest.CommWorld, 7) },
		"MPI_Comm_dup(comm=MPI_COMM_WORLD, newcomm=-) = never returned": func(s *recordtest.Shim) { s.Open(0, "MPI_Comm_dup", recordtest.CommWorld) },
	} {
		s := recordtest.NewShim(t)
		s.Init(0, 2)
		open(s)
		r := New(s.Process)
		r.life = observed.Life{Alive: int64(s.Clock) + 5000}
		r.Consume(sourcesOf(s, r, true))
		c, err := r.Content()
		require.NoError(t, err)
		cursor, err := c.Cursor(0, 0)
		require.NoError(t, err)
		var last string
		for cursor.Next() {
			e := cursor.Event()
			if last = e.Text(); e.Unfinished() {
				require.Equal(t, int64(s.Clock)+5000, e.ExitTicks)
				require.Equal(t, int64(s.Clock)-20, e.EnterTicks)
			}
		}
		require.NoError(t, cursor.Err())
		require.Equal(t, want, last)
		require.Equal(t, "killed in "+cursor.Event().Function.Name, r.EndedEarly())
	}
}

// A process can be killed between the publication of a call and the reading of the clock: the first
// call of a thread then began when its buffer did, not at the clock's zero.
func TestFirstCallWithoutTime(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Open(1, "MPI_Barrier", recordtest.CommWorld)
	words := s.Threads[1].Words
	words[record.HeaderSample] = s.Clock - 3
	words[record.BufferHeaderWords+record.EnterWord] = 0
	r := New(s.Process)
	r.life = observed.Life{Alive: int64(s.Clock) + 5000}
	r.Consume(sourcesOf(s, r, true))
	c, err := r.Content()
	require.NoError(t, err)
	cursor, err := c.Cursor(0, 1)
	require.NoError(t, err)
	require.True(t, cursor.Next())
	require.Equal(t, int64(s.Clock)-3, cursor.Event().EnterTicks)
	require.Equal(t, int64(s.Clock)+5000, cursor.Event().ExitTicks)
}

// Any content of the file about the end of a process is read, and a signal that did not
// end it is ignored.
func TestLifeOfEnds(t *testing.T) {
	dir := t.TempDir()
	write := func(magic string, fields ...uint64) {
		b := []byte(magic)
		for _, f := range append(fields, 0, 0) { // lost calls, MPI_Finalize among them
			b = binary.NativeEndian.AppendUint64(b, f)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, observed.FileName), b, 0o644))
	}
	end := func() *trace.End {
		b, err := os.ReadFile(filepath.Join(dir, observed.FileName))
		require.True(t, err == nil || os.IsNotExist(err), err)
		r := New(recordtest.NewShim(t).Process)
		r.life = observed.Content(b).Life()
		return r.End()
	}
	require.Nil(t, end(), "no file")
	write("CAIRNLF1", 100, 0, 0, 0, 0)
	require.Equal(t, &trace.End{Ticks: 100, ExitCode: -1}, end())
	write("CAIRNLF1", 100, 11, 150, 0, 0)
	require.Equal(t, &trace.End{Ticks: 150, Signal: 11, ExitCode: -1}, end())
	write("CAIRNLF1", 300, 11, 150, 0, 0)
	require.Equal(t, &trace.End{Ticks: 300, Signal: 11, ExitCode: -1}, end(), "the handler took its time")
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	r := recorderOf(s)
	r.life = observed.Life{Alive: 1 << 40, Signal: 11, SignalAt: 5}
	require.Equal(t, &trace.End{Ticks: 1 << 40, ExitCode: -1}, r.End(), "it went on")
	write("CAIRNLF1", 300, 0, 0, 4, 320)
	require.Equal(t, &trace.End{Ticks: 320, ExitCode: 3, CalledExit: true}, end())
	write("CAIRNLF9", 300, 0, 0, 4, 320)
	require.Nil(t, end(), "another format")
	write("CAIRNLF1", 300)
	require.Nil(t, end(), "cut short")
}
