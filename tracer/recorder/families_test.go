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
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A family that becomes wide does so on every path that a record can take, and for calls that
// were repeats before.
func TestWideningWithoutRepeats(t *testing.T) {
	s := recordtest.VaryingProgram(t, 3*maxAlike)
	for range 5 {
		for i := range int64(2 * maxAlike) {
			s.Call(0, "MPI_Send", 0, 0x10, i, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		}
	}
	r := sameWithoutRepeats(t, s)
	again, err := Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	require.Equal(t, r.families, again.families)
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
	signatures := len(r.signatures.terminals)
	require.Less(t, signatures, maxAlike+4)
	after := play(10_000, 1_000_000)
	require.Len(t, r.signatures.terminals, signatures)
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
	r := recorderOf(s)
	again, err := Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	require.Positive(t, r.families.wide)
	require.Equal(t, r.families, again.families)
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
		require.LessOrEqual(t, len(c.Signatures), families*(maxAlike+1)+1)
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
