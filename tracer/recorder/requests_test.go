package recorder

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// The fake shim's arguments of the calls that the tests make, in the order of the record.

// Three receives that complete in changing order always get the same ids (Pilgrim §3.4.3).
func TestRequestIDsDoNotDependOnCompletionOrder(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for round, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		raw := recordtest.List{}
		for k := range 3 {
			raw = append(raw, int64(1000+100*round+k))
			s.Irecv(int64(k+1), 7, raw[k])
		}
		for _, k := range order {
			after := append(recordtest.List{}, raw...)
			after[k] = recordtest.RequestNull
			s.Call(0, "MPI_Waitany", 0, 3, raw, after, k, recordtest.Status{Source: int64(k + 1), Tag: 7, Bytes: 4})
			raw = after
		}
	}
	c := contentOf(s)
	got := recordtest.Lines(t, c, 0)
	for round := range 3 {
		recordtest.Expect(t, got[1+6*round:4+6*round],
			"Irecv(1 INT 1 7 COMM_WORLD -> ptr #0)",
			"Irecv(1 INT 2 7 COMM_WORLD -> ptr #1)",
			"Irecv(1 INT 3 7 COMM_WORLD -> ptr #2)",
		)
	}
	recordtest.Expect(t, got[10:13],
		"Waitany(3 [#0 #1 #2] -> - ~2 [~3 ~7 ~0 ~0 ~4])",
		"Waitany(3 [#0 #1 REQUEST_NULL] -> - ~0 [~1 ~7 ~0 ~0 ~4])",
		"Waitany(3 [REQUEST_NULL #1 REQUEST_NULL] -> - ~1 [~2 ~7 ~0 ~0 ~4])",
	)
}

// Both MPIs use one handle for all small sends that complete at once.
func TestSharedRequestHandle(t *testing.T) {
	const shared = 0x6c000000
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for range 2 {
		s.Isend(1, 1, shared)
		s.Isend(2, 1, shared)
		s.Irecv(1, 1, 77)
		s.Isend(1, 1, shared)
		s.Waitall(recordtest.List{shared, 77, shared, recordtest.RequestNull, shared})
	}
	got := recordtest.Lines(t, contentOf(s), 0)
	want := []string{
		"Isend(ptr 1 INT 1 1 COMM_WORLD -> #0)",
		"Isend(ptr 1 INT 2 1 COMM_WORLD -> #1)",
		"Irecv(1 INT 1 1 COMM_WORLD -> ptr #2)",
		"Isend(ptr 1 INT 1 1 COMM_WORLD -> #3)",
		"Waitall(5 [#0 #2 #1 REQUEST_NULL #3] -> - [[~0 ~5 ~0 ~0 ~4] [~1 ~5 ~0 ~0 ~4] [~2 ~5 ~0 ~0 ~4] [~3 ~5 ~0 ~0 ~4] [~4 ~5 ~0 ~0 ~4]])",
	}
	recordtest.Expect(t, got[1:], append(append([]string{}, want...), want...)...)
}

func TestWaitsomeKeepsTheOrderOfCompletion(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for k := range 3 {
		s.Irecv(int64(k), 7, int64(100+k))
	}
	s.Call(0, "MPI_Waitsome", 0, 3, recordtest.List{100, 101, 102}, recordtest.List{recordtest.RequestNull, 101, recordtest.RequestNull}, 2, recordtest.List{2, 0},
		recordtest.Statuses{{Source: 2, Tag: 7, Bytes: 8}, {Source: 0, Tag: 7, Bytes: 4}})
	s.Call(0, "MPI_Testsome", 0, 3, recordtest.List{recordtest.RequestNull, 101, recordtest.RequestNull}, recordtest.List{recordtest.RequestNull, 101, recordtest.RequestNull}, 0, recordtest.List{}, recordtest.Statuses{})
	s.Call(0, "MPI_Testsome", 0, 3, recordtest.List{recordtest.RequestNull, 101, recordtest.RequestNull}, recordtest.List{recordtest.RequestNull, recordtest.RequestNull, recordtest.RequestNull}, 1, recordtest.List{1},
		recordtest.Statuses{{Source: 1, Tag: 7, Bytes: 4}})
	s.Call(0, "MPI_Waitsome", 0, 3, recordtest.List{recordtest.RequestNull, recordtest.RequestNull, recordtest.RequestNull}, recordtest.List{recordtest.RequestNull, recordtest.RequestNull, recordtest.RequestNull}, recordtest.Undefined, recordtest.List{}, recordtest.Statuses{})
	c := contentOf(s)
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, c, 0), 4),
		"Waitsome(3 [#0 #1 #2] -> - ~2 ~(2 0) ~(2 7 0 0 8 0 7 0 0 4))",
		"Testsome(3 [REQUEST_NULL #1 REQUEST_NULL] -> - ~0 ~() ~())",
		"Testsome(3 [REQUEST_NULL #1 REQUEST_NULL] -> - ~1 ~(1) ~(1 7 0 0 4))",
		"Waitsome(3 [REQUEST_NULL REQUEST_NULL REQUEST_NULL] -> - ~-32766 ~() ~())",
	)
}

// A failed poll is the same terminal as a successful one.
func TestPollsShareATerminal(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Irecv(1, 7, 100)
	before := len(contentOf(s).Signatures)
	for range 5 {
		s.Call(0, "MPI_Test", 0, 100, 100, 0, recordtest.NoStatus{})
	}
	s.Call(0, "MPI_Test", 0, 100, recordtest.RequestNull, 1, recordtest.Status{Source: 1, Tag: 7, Bytes: 4})
	s.Call(0, "MPI_Test", 0, recordtest.RequestNull, recordtest.RequestNull, 1, recordtest.Status{Source: recordtest.AnySource, Tag: recordtest.AnyTag})
	c := contentOf(s)
	if n := len(c.Signatures); n != before+2 {
		t.Errorf("%d new signatures, want 2", n-before)
	}
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, c, 0), 3),
		"Test(#0 -> - ~0 ~())",
		"Test(#0 -> - ~1 ~(1 7 0 0 4))",
		"Test(REQUEST_NULL -> - ~1 ~(-2 -1 0 0 0))",
	)
}

func TestPersistentRequestKeepsItsID(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(0, "MPI_Send_init", 0, 0x1234, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 500)
	s.Call(0, "MPI_Recv_init", 0, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 0x1234, 501)
	for range 2 {
		s.Call(0, "MPI_Startall", 0, 2, recordtest.List{500, 501}, recordtest.List{500, 501})
		s.Call(0, "MPI_Waitall", 0, 2, recordtest.List{500, 501}, recordtest.List{500, 501}, recordtest.Statuses{{}, {Source: 1, Tag: 7, Bytes: 4}})
	}
	s.Call(0, "MPI_Request_free", 0, 500, recordtest.RequestNull)
	s.Call(0, "MPI_Send_init", 0, 0x1234, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 777)
	s.Call(0, "MPI_Send_init", 0, 0x1234, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 778)
	s.Call(0, "MPI_Cancel", 0, 501)
	recordtest.Expect(t, recordtest.Lines(t, contentOf(s), 0)[1:],
		"Send_init(ptr 1 INT 1 7 COMM_WORLD -> #0)",
		"Recv_init(1 INT 1 7 COMM_WORLD -> ptr #1)",
		"Startall(2 [#0 #1] -> [#0 #1])",
		"Waitall(2 [#0 #1] -> - [[~0 ~0 ~0 ~0 ~0] [~1 ~7 ~0 ~0 ~4]])",
		"Startall(2 [#0 #1] -> [#0 #1])",
		"Waitall(2 [#0 #1] -> - [[~0 ~0 ~0 ~0 ~0] [~1 ~7 ~0 ~0 ~4]])",
		"Request_free(#0 -> REQUEST_NULL)",
		"Send_init(ptr 1 INT 1 7 COMM_WORLD -> #0)",
		"Send_init(ptr 1 INT 1 7 COMM_WORLD -> #2)",
		"Cancel(#1 -> )",
	)
}

// An error in one request leaves the others complete; the outputs are recorded.
func TestWaitallInStatus(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Irecv(0, 1, 10)
	s.Irecv(1, 1, 11)
	s.Call(0, "MPI_Waitall", 17, 2, recordtest.List{10, 11}, recordtest.List{recordtest.RequestNull, 11}, recordtest.Statuses{{Source: 0, Tag: 1}, {Err: 19}})
	s.Irecv(0, 1, 10)
	s.Irecv(1, 1, 12)
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, contentOf(s), 0), 3),
		"Waitall(2 [#0 #1] -> - [[~0 ~1 ~0 ~0 ~0] [~0 ~0 ~19 ~0 ~0]])=ERR_IN_STATUS",
		"Irecv(1 INT 0 1 COMM_WORLD -> ptr #0)",
		"Irecv(1 INT 1 1 COMM_WORLD -> ptr #2)",
	)
}

func TestRequestOfUnknownOrigin(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(0, "MPI_Wait", 0, 999, recordtest.RequestNull, recordtest.Status{Source: 1})
	s.Irecv(0, 1, 999)
	recordtest.Expect(t, recordtest.Tail(recordtest.Lines(t, contentOf(s), 0), 2),
		"Wait(#0 -> - [~1 ~0 ~0 ~0 ~0])",
		"Irecv(1 INT 0 1 COMM_WORLD -> ptr #1)",
	)
}

// Small sends of all threads share one handle; each thread waits for its own.
func TestSharedHandleOfThreads(t *testing.T) {
	const shared = 0x6c000000
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	for thread := range uint32(2) {
		s.Call(thread, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, 1, int64(thread), recordtest.CommWorld, shared)
	}
	s.Call(1, "MPI_Wait", 0, shared, recordtest.RequestNull, recordtest.Status{})
	s.Call(0, "MPI_Wait", 0, shared, recordtest.RequestNull, recordtest.Status{})
	c := contentOf(s)
	recordtest.Expect(t, recordtest.Lines(t, c, 0)[1:], "Isend(ptr 1 INT 1 0 COMM_WORLD -> #0)", "Wait(#0 -> - [~0 ~0 ~0 ~0 ~0])")
	recordtest.Expect(t, recordtest.Lines(t, c, 1), "Isend(ptr 1 INT 1 1 COMM_WORLD -> #1)", "Wait(#1 -> - [~0 ~0 ~0 ~0 ~0])")
}

// MPI_Imrecv on thread 0 takes its epoch before the call, since another thread may get its
// message's handle before it returns: here thread 1 gets a message with that handle. Its request's
// handle may be one that thread 1 frees during the call.
func TestHandlesThatChangeHandsInImrecv(t *testing.T) {
	const message, handle, messageNull = 0x7c000000, 0x6c000001, 0x2c000000
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(1, "MPI_Irecv", 0, 1, recordtest.TypeInt, 1, 5, recordtest.CommWorld, 0x20, handle)
	s.Call(0, "MPI_Mprobe", 0, 1, 7, recordtest.CommWorld, message, recordtest.Status{Source: 1, Tag: 7, Bytes: 4})
	s.Call(0, "MPI_Imrecv", 0, 1, recordtest.TypeInt, message, 0x10, messageNull, handle)
	s.Call(1, "MPI_Wait", 0, handle, recordtest.RequestNull, recordtest.Status{Source: 1, Tag: 5, Bytes: 4})
	s.Call(1, "MPI_Mprobe", 0, 1, 8, recordtest.CommWorld, message, recordtest.Status{Source: 1, Tag: 8, Bytes: 4})
	s.Call(1, "MPI_Mrecv", 0, 1, recordtest.TypeInt, message, 0x20, messageNull, recordtest.Status{Source: 1, Tag: 8, Bytes: 4})
	s.Call(0, "MPI_Wait", 0, handle, recordtest.RequestNull, recordtest.Status{Source: 1, Tag: 7, Bytes: 4})
	c := contentOf(s)
	recordtest.Expect(t, recordtest.Lines(t, c, 0)[1:], "Mprobe(1 7 COMM_WORLD -> #0 [~1 ~7 ~0 ~0 ~4])", "Imrecv(1 INT #0 -> ptr #1 #1)", "Wait(#1 -> - [~1 ~7 ~0 ~0 ~4])")
	recordtest.Expect(t, recordtest.Lines(t, c, 1), "Irecv(1 INT 1 5 COMM_WORLD -> ptr #0)", "Wait(#0 -> - [~1 ~5 ~0 ~0 ~4])",
		"Mprobe(1 8 COMM_WORLD -> #0 [~1 ~8 ~0 ~0 ~4])", "Mrecv(1 INT #0 -> ptr #1 [~1 ~8 ~0 ~0 ~4])")
}

func ExampleRecorder() {
	s := recordtest.NewShim(nil)
	s.Init(0, 2)
	s.Isend(1, 7, 100)
	r := recorderOf(s)
	fmt.Println(r.Calls(), r.rank, r.worldSize)
	// Output: 2 0 2
}

// An ignored status is recorded as such, and a failed poll is the same call as a successful one.
func TestIgnoredStatuses(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for range 3 {
		s.Irecv(1, 7, 1000)
		s.Call(0, "MPI_Test", 0, 1000, 1000, 0, recordtest.NoStatus{})
		s.Call(0, "MPI_Test", 0, 1000, 1000, 0, recordtest.Ignored{Value: recordtest.NoStatus{}})
		s.Call(0, "MPI_Test", 0, 1000, recordtest.RequestNull, 1, recordtest.Ignored{Value: recordtest.Status{Source: 1, Tag: 7, Bytes: 4}})
	}
	c := contentOf(s)
	byIgnored := map[bool]int{}
	for _, signature := range c.Signatures {
		if signature.Function == mpi.ByName("MPI_Test").ID {
			byIgnored[signature.StatusIgnored]++
		}
	}
	if d := cmp.Diff(map[bool]int{false: 1, true: 1}, byIgnored); d != "" {
		t.Errorf("signatures of MPI_Test: -want +got\n%s", d)
	}
}
