package recorder

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

func TestSignificance(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(1, 4)
	// a rank that is not the root may pass anything as the receive side
	s.Call(0, "MPI_Gatherv", 0, 0x10, 1, recordtest.TypeInt, recordtest.Special{Length: record.LengthNotSignificant}, recordtest.Special{Length: record.LengthNotSignificant}, 31337, 0, recordtest.CommWorld, 0x20)
	s.Call(0, "MPI_Gatherv", 0, 0x10, 1, recordtest.TypeInt, recordtest.List{1, 1, 1, 1}, recordtest.List{0, 1, 2, 3}, recordtest.TypeInt, 1, recordtest.CommWorld, 0x20)
	// nothing of the send side counts in place
	s.Call(0, "MPI_Alltoall", 0, recordtest.InPlace, -77, 0xbad, 1, recordtest.TypeInt, recordtest.CommWorld, 0x20)
	// nor does the receive side of a scatter
	s.Call(0, "MPI_Scatter", 0, 0x10, 2, recordtest.TypeInt, -77, 0xbad, 1, recordtest.CommWorld, recordtest.InPlace)
	s.Call(0, "MPI_Send", 0, 0, 0, recordtest.TypeInt, recordtest.ProcNull, 0, recordtest.CommWorld)
	recordtest.Expect(t, recordtest.Lines(t, contentOf(s), 0)[1:],
		"Gatherv(ptr 1 INT - - - 0 COMM_WORLD -> -)",
		"Gatherv(ptr 1 INT [1 1 1 1] [0 1 2 3] INT 1 COMM_WORLD -> ptr)",
		"Alltoall(IN_PLACE - - 1 INT COMM_WORLD -> ptr)",
		"Scatter(ptr 2 INT - - 1 COMM_WORLD -> IN_PLACE)",
		"Send(BOTTOM 0 INT PROC_NULL 0 COMM_WORLD -> )",
	)
}

func TestDenseHandles(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	for range 2 {
		// the same raw values in another order the second time
		s.Call(0, "MPI_Type_contiguous", 0, 4, recordtest.TypeInt, 700)
		s.Call(0, "MPI_Type_contiguous", 0, 4, 700, 701)
		s.Call(0, "MPI_Type_free", 0, 700, 0x0c000000)
		s.Call(0, "MPI_Type_free", 0, 701, 0x0c000000)
	}
	// an object that was returned twice under one handle must be freed twice
	s.Call(0, "MPI_Comm_group", 0, recordtest.CommWorld, 800)
	s.Call(0, "MPI_Comm_group", 0, recordtest.CommWorld, 800)
	s.Call(0, "MPI_Group_free", 0, 800, recordtest.GroupNull)
	s.Call(0, "MPI_Group_size", 0, 800, 2)
	s.Call(0, "MPI_Group_free", 0, 800, recordtest.GroupNull)
	s.Call(0, "MPI_Group_incl", 0, recordtest.GroupEmpty, 0, recordtest.List{}, recordtest.GroupEmpty)
	s.Call(0, "MPI_Comm_group", 0, recordtest.CommWorld, 900)
	recordtest.Expect(t, recordtest.Lines(t, contentOf(s), 0)[1:3],
		"Type_contiguous(4 INT -> #0)",
		"Type_contiguous(4 #0 -> #1)",
	)
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, contentOf(s), 0), 7),
		"Comm_group(COMM_WORLD -> #0)",
		"Comm_group(COMM_WORLD -> #0)",
		"Group_free(#0 -> GROUP_NULL)",
		"Group_size(#0 -> 2)",
		"Group_free(#0 -> GROUP_NULL)",
		"Group_incl(GROUP_EMPTY 0 [] -> GROUP_EMPTY)",
		"Comm_group(COMM_WORLD -> #0)",
	)
}

func TestFailedCall(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(0, "MPI_Recv", 5, 1, recordtest.TypeInt, 99, 0, recordtest.CommWorld, 0x10, recordtest.NoStatus{})
	s.Call(0, "MPI_Comm_dup", 5, recordtest.CommWorld, 0)
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, contentOf(s), 0), 2),
		"Recv(1 INT 99 0 COMM_WORLD -> ptr -)=~5",
		"Comm_dup(COMM_WORLD -> -)=~5",
	)
}

func TestResultsGoToStreams(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	before := len(contentOf(s).Signatures)
	for k := range int64(4) {
		s.Call(0, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: k, Tag: k * k, Bytes: 4 * k})
		s.Call(0, "MPI_Get_count", 0, recordtest.Status{Source: k, Tag: k * k, Bytes: 4 * k}, recordtest.TypeInt, k)
		s.Call(0, "MPI_Wtime", int64(math.Float64bits(1.5*float64(k))))
	}
	c := contentOf(s)
	if n := len(c.Signatures) - before; n != 3 {
		t.Errorf("%d signatures, want 3", n)
	}
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, c, 0), 3)[:2],
		"Recv(1 INT ANY_SOURCE ANY_TAG COMM_WORLD -> ptr [~3 ~9 ~0 ~0 ~12])",
		"Get_count([~3 ~9 ~0 ~0 ~12] INT -> ~3)",
	)
	wtime := c.Signatures[len(c.Signatures)-1]
	if wtime.Return.Form != trace.Stream {
		t.Error(wtime)
	}
}

func TestSites(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	for _, address := range []uint64{0x401234, 0x700010, 0x123, 0x401234, 0} {
		s.CallAt(0, address, "MPI_Barrier", 0, recordtest.CommWorld)
	}
	c := contentOf(s)
	want := []trace.Site{
		{BuildID: "cafe", Module: "app", Offset: 0x1000},
		{BuildID: "cafe", Module: "app", Offset: 0x1234},
		{BuildID: "/lib/libx.so", Module: "libx.so", Offset: 0x10},
	}
	if len(c.Sites) != len(want) {
		t.Fatal(c.Sites)
	}
	for i := range want {
		if c.Sites[i] != want[i] {
			t.Errorf("site %d: %v", i, c.Sites[i])
		}
	}
	// 0x123 and 0 are the same unknown call site
	if n := len(c.Signatures); n != 4 {
		t.Errorf("%d signatures", n)
	}
}

func TestTiming(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Clock += 5
	s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	th := contentOf(s).Threads.At(0)
	if th.FirstTick != 1010 || th.Gaps[0] != 0 || th.Gaps[1] != 15 || th.Durations[1] != 20 {
		t.Error(th.FirstTick, th.Gaps, th.Durations)
	}
}

// MPICH makes up error codes: calls that fail alike are one terminal, with the codes in a stream. A
// code that is a constant stays one.
func TestCodesOfAnImplementation(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	for i := range 3 {
		s.Call(0, "MPI_Send", int64(0x2a00c806+i<<16), 0x10, 1, recordtest.TypeInt, 7, 1, recordtest.CommWorld)
		s.Call(0, "MPI_Send", 17, 0x10, 1, recordtest.TypeInt, 7, 1, recordtest.CommWorld)
	}
	c := contentOf(s)
	codes := map[trace.Form]int{}
	for i := range c.Signatures {
		if c.Signatures[i].Function == mpi.ByName("MPI_Send").ID {
			codes[c.Signatures[i].Return.Form]++
		}
	}
	require.Equal(t, map[trace.Form]int{trace.Stream: 1, trace.Name: 1}, codes)
	cursor, err := c.Cursor(0, 0)
	require.NoError(t, err)
	var returned []string
	for cursor.Next() {
		if e := cursor.Event(); e.Function.Name == "MPI_Send" {
			require.False(t, e.Succeeded())
			_, result, _ := strings.Cut(e.Text(), ") = ")
			returned = append(returned, result)
		}
	}
	require.NoError(t, cursor.Err())
	require.Equal(t, []string{"704694278", "MPI_ERR_IN_STATUS", "704759814", "MPI_ERR_IN_STATUS", "704825350", "MPI_ERR_IN_STATUS"}, returned)
}
