package recorder

import (
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// One thread creates a request and another completes it, both under raw handles that
// are reused at once.
func TestThreadsByEpoch(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	for range 3 {
		s.Call(0, "MPI_Irecv", 0, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 0x10, 500)
		s.Call(1, "MPI_Wait", 0, 500, recordtest.RequestNull, recordtest.Status{Source: 1, Tag: 7})
		s.Call(0, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 500)
		s.Call(1, "MPI_Wait", 0, 500, recordtest.RequestNull, recordtest.Status{})
		s.Call(1, "MPI_Type_contiguous", 0, 2, recordtest.TypeInt, 600)
		s.Call(0, "MPI_Send", 0, 0x10, 1, 600, 1, 7, recordtest.CommWorld)
		s.Call(0, "MPI_Type_free", 0, 600, 0x0c000000)
	}
	c := contentOf(s)
	for round := range 3 {
		recordtest.Expect(t, recordtest.Lines(t, c, 0)[1+4*round:][:3],
			"Irecv(1 INT 1 7 COMM_WORLD -> ptr #0)",
			"Isend(ptr 1 INT 1 7 COMM_WORLD -> #1)",
			"Send(ptr 1 #0 1 7 COMM_WORLD -> )",
		)
		recordtest.Expect(t, recordtest.Lines(t, c, 1)[3*round:][:2],
			"Wait(#0 -> - [~1 ~7 ~0 ~0 ~0])",
			"Wait(#1 -> - [~0 ~0 ~0 ~0 ~0])",
		)
	}
}

// Other threads do not wait for a call that has not returned; its own thread continues when it has.
func TestOpenRecords(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 2)
	s.Call(1, "MPI_Barrier", 0, recordtest.CommWorld)
	s.Open(1, "MPI_Recv", 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
	s.Call(1, "MPI_Barrier", 0, recordtest.CommSelf)
	s.Isend(1, 7, 100)

	r := New(s.Process)
	living := sourcesOf(s, r, false)
	r.Consume(living)
	if n := r.Calls(); n != 3 {
		t.Errorf("%d calls of a living process, want 3", n)
	}
	gone := sourcesOf(s, r, true)
	r.Consume(gone)
	if n := r.Calls(); n != 5 {
		t.Errorf("%d calls in the end, want 5", n)
	}
	if got := r.EndedEarly(); got != "killed in MPI_Recv" {
		t.Error(got)
	}
}
