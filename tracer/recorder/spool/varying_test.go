package spool

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// Handles that vary without end are values of few signatures, and each call keeps its own.
func TestVaryingHandlesAreBounded(t *testing.T) {
	const iterations = 6_000
	s, waits, sends := recordtest.WideHandles(t, iterations)
	statuses := 0
	w, dir := startSpool(t, s)
	w.play(s, nil)
	c, _, err := Recover(dir)
	require.NoError(t, err)
	require.Less(t, len(c.Signatures), 20*256, "256 are alike before they become one")
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	file, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	cursor, err := file.Cursor(0, 0)
	require.NoError(t, err)
	requests, datatypes := map[int64]int64{}, map[int64]int64{} // raw handles by id
	next := int64(1 << 20)
	created := func(to map[int64]int64, v trace.Value) {
		require.Equal(t, trace.Handle, v.Form)
		next += 16
		to[v.Int] = next
	}
	for cursor.Next() {
		switch e := cursor.Event(); e.Function.Name {
		case "MPI_Irecv":
			created(requests, e.Out[len(e.Out)-1])
		case "MPI_Type_contiguous":
			created(datatypes, e.Out[0])
		case "MPI_Send":
			require.Equal(t, trace.Handle, e.In[2].Form)
			require.Equal(t, sends[0], datatypes[e.In[2].Int])
			sends = sends[1:]
		case "MPI_Waitall":
			require.EqualValues(t, len(waits[0]), e.In[0].Int)
			require.Len(t, e.In[1].List, len(waits[0]))
			for i, v := range e.In[1].List {
				if waits[0][i] == recordtest.RequestNull {
					require.Equal(t, "MPI_REQUEST_NULL", v.Text)
					continue
				}
				require.Equal(t, waits[0][i], requests[v.Int])
				delete(requests, v.Int)
			}
			require.Len(t, e.Out[len(e.Out)-1].List, len(waits[0]))
			for _, v := range e.Out[len(e.Out)-1].List {
				require.Equal(t, trace.Status, v.Form)
				statuses++
			}
			waits = waits[1:]
		}
	}
	require.NoError(t, cursor.Err())
	require.Empty(t, waits)
	require.Empty(t, sends)
	require.Empty(t, requests)
	require.Positive(t, statuses)
}

// Arguments that vary without end are values of one signature: neither the table of signatures nor
// the memory nor a checkpoint grows with them, and every call keeps its own.
func TestVaryingArgumentsAreBounded(t *testing.T) {
	const iterations = 20_000
	s := recordtest.VaryingProgram(t, iterations)
	w, dir := startSpool(t, s)
	w.play(s, nil)
	require.Less(t, w.spool.stateSize, int64(300<<10))
	c, _, err := Recover(dir)
	require.NoError(t, err)
	require.Less(t, len(c.Signatures), 5*256, "256 are alike before they become one")

	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	file, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	cursor, err := file.Cursor(0, 0)
	require.NoError(t, err)
	count := func(e *trace.Event, at int) int64 { return e.In[at].Int }
	sends, receives, exchanges := 0, 0, 0
	for cursor.Next() {
		switch e := cursor.Event(); e.Function.Name {
		case "MPI_Isend":
			i := sends / 2
			if sends%2 == 1 {
				i /= 2
			}
			require.EqualValues(t, i, count(e, 1), "send %d", sends)
			sends++
		case "MPI_Recv":
			require.EqualValues(t, 10*receives, count(e, 0), "receive %d", receives)
			require.EqualValues(t, 40*receives, e.Out[len(e.Out)-1].List[4].Int)
			receives++
		case "MPI_Alltoallv":
			require.EqualValues(t, exchanges, e.In[1].List[1].Int, "exchange %d", exchanges)
			exchanges++
		}
	}
	require.NoError(t, cursor.Err())
	require.Equal(t, []int{2 * iterations, iterations, iterations / 10}, []int{sends, exchanges, receives})
}
