package recorder

import "testing"

// One thread creates a request and another completes it, both under raw handles that come again at once.
func TestThreadsByEpoch(t *testing.T) {
	s := newFakeShim(t)
	s.init(0, 2)
	for range 3 {
		s.call(0, "MPI_Irecv", 0, 1, typeInt, 1, 7, commWorld, 0x10, 500)
		s.call(1, "MPI_Wait", 0, 500, requestNull, status{source: 1, tag: 7})
		s.call(0, "MPI_Isend", 0, 0x10, 1, typeInt, 1, 7, commWorld, 500)
		s.call(1, "MPI_Wait", 0, 500, requestNull, status{})
		s.call(1, "MPI_Type_contiguous", 0, 2, typeInt, 600)
		s.call(0, "MPI_Send", 0, 0x10, 1, 600, 1, 7, commWorld)
		s.call(0, "MPI_Type_free", 0, 600, 0x0c000000)
	}
	c := contentOf(s)
	for round := range 3 {
		expect(t, lines(t, c, 0)[1+4*round:][:3],
			"Irecv(1 INT 1 7 COMM_WORLD -> ptr #0)",
			"Isend(ptr 1 INT 1 7 COMM_WORLD -> #1)",
			"Send(ptr 1 #0 1 7 COMM_WORLD -> )",
		)
		expect(t, lines(t, c, 1)[3*round:][:2],
			"Wait(#0 -> - [~1 ~7 ~0 ~0 ~0])",
			"Wait(#1 -> - [~0 ~0 ~0 ~0 ~0])",
		)
	}
}

// A call that has not returned is not waited for by other threads, and its own thread goes on when it has.
func TestOpenRecords(t *testing.T) {
	s := newFakeShim(t)
	s.init(0, 2)
	s.call(1, "MPI_Barrier", 0, commWorld)
	s.open(1, "MPI_Recv", 1, typeInt, 1, 7, commWorld)
	s.call(1, "MPI_Barrier", 0, commSelf)
	s.isend(1, 7, 100)

	r := New(s.process)
	living := sourcesOf(s, r, false)
	r.consume(living)
	if n := r.Calls(); n != 3 {
		t.Errorf("%d calls of a living process, want 3", n)
	}
	gone := sourcesOf(s, r, true)
	r.consume(gone)
	if n := r.Calls(); n != 5 {
		t.Errorf("%d calls in the end, want 5", n)
	}
	if got := r.endedEarly(); got != "killed in MPI_Recv" {
		t.Error(got)
	}
}
