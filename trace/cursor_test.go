package trace

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/stretchr/testify/require"
)

func texts(t testing.TB, cursor *Cursor, err error) []string {
	t.Helper()
	require.NoError(t, err)
	var lines []string
	for cursor.Next() {
		e := cursor.Event()
		lines = append(lines, fmt.Sprintf("%d %s [%d-%d] comm %d own %d new %d", e.Index, e.Text(), e.Enter, e.Exit, e.Comm,
			e.OwnRank, e.NewComm))
	}
	require.NoError(t, cursor.Err())
	return lines
}

func TestCursorFromFileAndFromMemoryAgree(t *testing.T) {
	c := stencil(5, 40, true)
	r := opened(t, written(t, c))
	for rank := range 5 {
		fromMemory, err1 := c.Cursor(rank, 0)
		fromFile, err2 := r.Cursor(rank, 0)
		lines := texts(t, fromMemory, err1)
		require.Equal(t, lines, texts(t, fromFile, err2))
		require.Len(t, lines, int(c.Threads.At(rank).Calls))
	}
	_, err := r.Cursor(5, 0)
	require.Error(t, err)
}

func TestCursorResolves(t *testing.T) {
	c := stencil(5, 20, false)
	cursor, err := c.Cursor(3, 0)
	lines := texts(t, cursor, err)
	require.Equal(t, "0 MPI_Init() = MPI_SUCCESS [0-0] comm -1 own -1 new -1", lines[0])
	require.Equal(t, "1 MPI_Send(buf=…, count=100, datatype=MPI_DOUBLE, dest=2, tag=7, comm=MPI_COMM_WORLD) = MPI_SUCCESS "+
		"[0-0] comm 0 own 3 new -1", lines[1])
	require.Equal(t, "42 MPI_Comm_split(comm=MPI_COMM_WORLD, color=1, key=0, newcomm=comm#0) = MPI_SUCCESS "+
		"[0-0] comm 0 own 3 new 2", lines[42])
	require.Equal(t, "83 MPI_Allreduce(sendbuf=…, recvbuf=…, count=1, datatype=MPI_DOUBLE, op=MPI_SUM, comm=comm#0) = "+
		"MPI_SUCCESS [0-0] comm 2 own 1 new -1", lines[83])
}

func BenchmarkCursor(b *testing.B) {
	for _, timing := range []bool{false, true} {
		c := stencil(3, 100_000, timing)
		b.Run(fmt.Sprintf("timing=%v", timing), func(b *testing.B) {
			var file bytes.Buffer
			require.NoError(b, Write(&file, c))
			r := opened(b, file.Bytes(), WithMemoryLimit(1<<40))
			b.ReportAllocs()
			b.ResetTimer()
			defer limits.ReportCPU(b)()
			calls := 0
			for calls < b.N {
				cursor, err := r.Cursor(0, 0)
				require.NoError(b, err)
				for calls < b.N && cursor.Next() {
					calls++
				}
				require.NoError(b, cursor.Err())
			}
		})
	}
}
