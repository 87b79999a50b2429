package recorder

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A family that becomes wide does so on every path that a record can take, and for calls that
// were repeats before.
func TestWideningWithoutRepeats(t *testing.T) {
	s := recordtest.VaryingProgram(t, 3*key.MaxAlike)
	for range 5 {
		for i := range int64(2 * key.MaxAlike) {
			s.Call(0, "MPI_Send", 0, 0x10, i, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		}
	}
	requireRestorable(t, s, sameWithoutRepeats(t, s))
}

// requireRestorable fails the test if the recorder and one that is restored from its state do not
// go on alike. The calls of VaryingProgram and WideHandles come again, with other numbers.
func requireRestorable(t *testing.T, s *recordtest.Shim, r *Recorder) {
	t.Helper()
	again, err := Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	require.Positive(t, r.keys.Era(), "families are wide")
	require.Equal(t, r.keys.Era(), again.keys.Era())
	s.Threads[0].Words = recordtest.NewBuffer(0, 0)
	for i := range int64(2 * key.MaxAlike) {
		s.Call(0, "MPI_Isend", 0, 0x10, i*i, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 500)
		s.Call(0, "MPI_Irecv", 0, 8, recordtest.TypeInt, i%64, 5*i, recordtest.CommWorld, 0x10, 600)
		s.Waitall(recordtest.List{500, 600})
		s.Call(0, "MPI_Send", 0, 0x10, 1, recordtest.TypeInt, i%7, i%5, recordtest.CommWorld)
	}
	for _, r := range []*Recorder{r, again} {
		r.thread(0).sequence, r.thread(0).offset = 0, 0
		r.Consume(sourcesOf(s, r, true))
	}
	require.Equal(t, r.keys.Len(), again.keys.Len())
	require.True(t, bytes.Equal(r.AppendState(nil), again.AppendState(nil)), "the states differ")
}

// A million iterations with different sizes make one signature and a run of one step; the times
// are in the file.
func TestAMillionSizes(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.BootID, s.Process.Timing = "", "aggregated"
	s.Init(0, 2)
	r := recorderOf(s)
	send := Call{Function: mpi.ByName("MPI_Send").ID, Words: make([]uint64, record.HeaderWords+6)}
	play := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			copy(send.Words[record.HeaderWords:], []uint64{0x10, uint64(i), recordtest.TypeInt, 1, 7, recordtest.CommWorld})
			send.Enter, send.Exit = int64(10_000+100*i), int64(10_050+100*i)
			r.Record(0, &send)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := play(0, 10_000)
	signatures := r.keys.Len()
	require.Less(t, signatures, key.MaxAlike+4)
	after := play(10_000, 1_000_000)
	require.Equal(t, signatures, r.keys.Len())
	require.Less(t, int64(after)-int64(before), int64(24<<20), "of which the values that wait for the file are most")
	c, err := r.Content()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	require.Less(t, b.Len(), 24<<10)
}

// A restored recorder knows the families that the recorder knew.
func TestFamiliesOfHandlesAreRestored(t *testing.T) {
	s, _, _ := recordtest.WideHandles(t, 800)
	requireRestorable(t, s, recorderOf(s))
}

// Calls that differ in numbers and handles that they are given or return, alone or in lists,
// become wide families and keep every value. Short lists that are returned may have names
// among the numbers.
func TestFamiliesOfResults(t *testing.T) {
	const most = 3 // elements of a list: each length is a family
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := recordtest.NewShim(t)
		s.Init(0, 1<<20)
		list := func(n int, of func() int64) (l recordtest.List) {
			for range n {
				l = append(l, of())
			}
			return l
		}
		rank := func() int64 { return 1 + random.Int64N(1<<20) }
		var types recordtest.List
		var expected [][]int64
		for range 20_000 {
			n := 1 + random.IntN(most)
			switch random.IntN(4) {
			case 0:
				in, out := list(n, rank), list(n, rank)
				if n == most {
					out[1] = recordtest.ProcNull
				}
				s.Call(0, "MPI_Group_translate_ranks", 0, recordtest.GroupEmpty, n, in, recordtest.GroupEmpty, out)
				expected = append(expected, slices.Concat(in, out))
			case 1:
				out := list(n, rank)
				s.Call(0, "MPI_Dims_create", 0, 1<<20, n, make(recordtest.List, n), out)
				expected = append(expected, slices.Concat(make([]int64, n), out))
			case 2:
				size := random.Int64N(1 << 30)
				s.Call(0, "MPI_Type_size", 0, recordtest.TypeInt, size)
				expected = append(expected, []int64{size})
			case 3:
				made := int64(0x4c00_0000 + 16*len(types))
				if len(types) < 300 {
					s.Call(0, "MPI_Type_contiguous", 0, 3, recordtest.TypeInt, made)
					expected = append(expected, nil)
				} else {
					lengths, at := list(n, rank), list(n, rank)
					// numbers of handles, in order of creation
					of := list(n, func() int64 { return random.Int64N(300) })
					raw := make(recordtest.List, n)
					for k := range of {
						raw[k] = types[of[k]]
					}
					s.Call(0, "MPI_Type_create_struct", 0, n, lengths, at, raw, made)
					expected = append(expected, slices.Concat(lengths, at, of))
				}
				types = append(types, made)
			}
		}
		c, err := recorderOf(s).Content()
		require.NoError(t, err)
		// lists of arguments have one family for all lengths, those of results one for each
		families := most + most + 1 + 1 + 1
		require.LessOrEqual(t, len(c.Signatures), families*(key.MaxAlike+1)+1)
		cursor, err := c.Cursor(0, 0)
		require.NoError(t, err)
		for cursor.Next() {
			e := cursor.Event()
			if e.Function.Name == "MPI_Init" {
				continue
			}
			var values []int64
			for _, v := range slices.Concat(e.In, e.Out) {
				for _, element := range v.List {
					if element.Form == trace.Name {
						require.Equal(t, "MPI_PROC_NULL", element.Text)
						element.Int = recordtest.ProcNull
					}
					values = append(values, element.Int)
				}
			}
			if e.Function.Name == "MPI_Type_size" {
				values = append(values, e.Out[0].Int)
			}
			require.Equal(t, expected[0], values, "seed %d: %s", seed, e.Text())
			expected = expected[1:]
		}
		require.NoError(t, cursor.Err())
		require.Empty(t, expected)
	}
}
