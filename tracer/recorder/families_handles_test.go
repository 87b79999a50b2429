package recorder

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// wideHandles is a program whose calls differ in handles that come and go: requests in lists of all lengths and in any order,
// and datatypes that are never freed. want has, for each wait and send, the raw handles that it names.
func wideHandles(t testing.TB, iterations int) (s *fakeShim, waits [][]int64, sends []int64) {
	random := rand.New(rand.NewPCG(7, 7))
	s = newFakeShim(t)
	s.process.BootID = ""
	s.init(0, 64)
	next := int64(1 << 20)
	for range iterations {
		var some, null list
		var statuses stats
		for k := range 1 + random.IntN(9) {
			if k > 0 && random.IntN(6) == 0 {
				some, null, statuses = append(some, requestNull), append(null, requestNull), append(statuses, status{})
				continue
			}
			next += 16
			s.call(0, "MPI_Irecv", 0, 8, typeInt, random.Int64N(64), random.Int64N(1<<15), commWorld, 0x10, next)
			some, null = append(some, next), append(null, requestNull)
			statuses = append(statuses, status{source: random.Int64N(64), tag: random.Int64N(9), bytes: random.Int64N(1 << 20)})
		}
		random.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
		s.call(0, "MPI_Waitall", 0, len(some), some, null, statuses)
		waits = append(waits, some)
		next += 16
		s.call(0, "MPI_Type_contiguous", 0, 3, typeInt, next)
		made := next
		if len(sends) > 0 && random.IntN(2) == 0 {
			made = sends[random.IntN(len(sends))]
		}
		s.call(0, "MPI_Send", 0, 0x10, 1, made, 1, 7, commWorld)
		sends = append(sends, made)
	}
	return s, waits, sends
}

// Handles that vary without end are values of few signatures, and each call names what it named.
func TestVaryingHandlesAreBounded(t *testing.T) {
	const iterations = 6_000
	s, waits, sends := wideHandles(t, iterations)
	statuses := 0
	w, dir := startSpool(t, s)
	w.play(s, nil)
	require.Less(t, len(w.spool.recorder.signatures.terminals), 20*mostAlike)
	c, _, err := Recover(dir)
	require.NoError(t, err)
	require.Equal(t, len(w.spool.recorder.signatures.terminals), len(c.Signatures))
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
				if waits[0][i] == requestNull {
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

// A restored recorder knows the families that the recorder knew.
func TestFamiliesOfHandlesAreRestored(t *testing.T) {
	s, _, _ := wideHandles(t, 800)
	r := s.recorder()
	again, err := Restore(s.process, r.AppendState(nil))
	require.NoError(t, err)
	require.Positive(t, r.families.wide)
	require.Equal(t, r.families, again.families)
}
