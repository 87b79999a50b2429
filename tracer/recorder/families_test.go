package recorder

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// varyingProgram sends messages of another size in every iteration, two at once by requests, and exchanges lists of
// counts; every tenth iteration has another receive.
func varyingProgram(t testing.TB, iterations int) *fakeShim {
	random := rand.New(rand.NewPCG(3, 5))
	s := newFakeShim(t)
	s.process.BootID = ""
	s.init(0, 4)
	for i := range int64(iterations) {
		s.call(0, "MPI_Isend", 0, 0x10, i, typeInt, 1, 7, commWorld, 500)
		s.call(0, "MPI_Isend", 0, 0x10, i/2, typeInt, 2, random.IntN(5), commWorld, 501)
		s.call(0, "MPI_Alltoallv", 0, 0x10, list{1, i, 1, i + 1}, list{0, 1, 2, 3}, typeInt,
			list{2, 2, i, 2}, list{0, 1, 2, 3}, typeInt, commWorld, 0x20)
		if i%10 == 0 {
			s.call(0, "MPI_Recv", 0, i, typeInt, anySource, 7, commWorld, 0x10, status{source: i % 3, tag: 7, bytes: 4 * i})
		}
		s.call(0, "MPI_Wait", 0, 500, 0x2c000000, status{})
		s.call(0, "MPI_Wait", 0, 501, 0x2c000000, status{})
	}
	return s
}

// Arguments that vary without end are values of one signature: neither the table of signatures nor the memory nor a
// checkpoint grows with them, and every call is what it was.
func TestVaryingArgumentsAreBounded(t *testing.T) {
	const iterations = 20_000
	s := varyingProgram(t, iterations)
	w, dir := startSpool(t, s)
	w.play(s, nil)
	r := w.spool.recorder
	require.Less(t, len(r.signatures.terminals), 5*mostAlike)
	require.Less(t, w.spool.stateSize, int64(300<<10))
	c, _, err := Recover(dir)
	require.NoError(t, err)
	require.Less(t, len(c.Signatures), 5*mostAlike)

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

// A family that becomes wide is so on every path that a record can take, also of calls that were repeats before.
func TestWideningWithoutRepeats(t *testing.T) {
	s := varyingProgram(t, 3*mostAlike)
	for range 5 {
		for i := range int64(2 * mostAlike) {
			s.call(0, "MPI_Send", 0, 0x10, i, typeInt, 1, 7, commWorld)
			s.call(0, "MPI_Barrier", 0, commWorld)
		}
	}
	r := sameWithoutRepeats(t, s)
	again, err := Restore(s.process, r.AppendState(nil))
	require.NoError(t, err)
	require.Equal(t, r.families, again.families)
}

// A million iterations of another size each make one signature and a run of one step; the times are in the file.
func TestAMillionSizes(t *testing.T) {
	s := newFakeShim(t)
	s.process.BootID, s.process.Timing = "", "aggregated"
	s.init(0, 2)
	r := s.recorder()
	send := Call{Function: mpi.ByName("MPI_Send").ID, Words: make([]uint64, record.HeaderWords+6)}
	play := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			copy(send.Words[record.HeaderWords:], []uint64{0x10, uint64(i), typeInt, 1, 7, commWorld})
			send.Enter, send.Exit = int64(10_000+100*i), int64(10_050+100*i)
			r.Record(0, &send)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := play(0, 10_000)
	signatures := len(r.signatures.terminals)
	require.Less(t, signatures, mostAlike+4)
	after := play(10_000, 1_000_000)
	require.Len(t, r.signatures.terminals, signatures)
	require.Less(t, int64(after)-int64(before), int64(24<<20), "of which the values that wait for the file are most")
	c, err := r.Content()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	require.Less(t, b.Len(), 24<<10)
}
