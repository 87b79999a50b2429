package match_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// recorder records what the matcher finds: for messages "enter of the send → enter of the receive
// (enter of its completion)", in units.
type recorder struct {
	messages    []string
	collectives []string
	settled     map[int][]float64 // by location: enters
}

func units(ns int64) float64 { return float64(ns) / tracetest.Unit }

func (r *recorder) Message(m *match.Message) {
	text := fmt.Sprintf("%v → %v", units(m.Send.Post.Enter), units(m.Receive.Post.Enter))
	if m.Receive.Done != nil {
		text += fmt.Sprintf(" (%v)", units(m.Receive.Done.Enter))
	}
	if m.Receive.Probe {
		text += " probe"
	}
	r.messages = append(r.messages, text)
}

func (r *recorder) Collective(c *match.Collective, part int) {
	r.collectives = append(r.collectives, fmt.Sprintf("%d: %v", part, units(c.Parts[c.Last].Post.Enter)))
}

func (r *recorder) Settled(c *match.Completion) {
	if r.settled == nil {
		r.settled = map[int][]float64{}
	}
	r.settled[c.Location] = append(r.settled[c.Location], units(c.Enter))
}

func run(t *testing.T, b *tracetest.Builder) (*recorder, []match.Leftover) {
	t.Helper()
	trace := timeline.Of(b.Open(t))
	r := &recorder{}
	left, err := match.All(context.Background(), trace, nil, r, nil)
	require.NoError(t, err)
	for location, enters := range r.settled {
		assert.IsIncreasing(t, append([]float64{-1}, enters...), "location %d settles in program order", location)
	}
	return r, left
}

// TestWildcardKeepsItsPlace: a wildcard receive was posted before a specific one, and both are
// for the same channel. The specific one is completed first, but the first message belongs to the
// wildcard (MPI 4.0 §3.5: order).
func TestWildcardKeepsItsPlace(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).
		Call("MPI_Irecv", 1, 2, tracetest.Args{"source": "MPI_ANY_SOURCE", "tag": 5, "request": tracetest.Request(0)}).
		Call("MPI_Irecv", 3, 4, tracetest.Args{"source": 1, "tag": 5, "request": tracetest.Request(1)}).
		Call("MPI_Wait", 20, 21, tracetest.Args{"request": tracetest.Request(1), "status": tracetest.Status{Source: 1, Tag: 5, Bytes: 8}}).
		Call("MPI_Wait", 22, 23, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: 1, Tag: 5, Bytes: 8}})
	b.Rank(1).
		Call("MPI_Send", 10, 11, tracetest.Args{"dest": 0, "tag": 5}).
		Call("MPI_Send", 12, 13, tracetest.Args{"dest": 0, "tag": 5})
	r, left := run(t, b)
	assert.Equal(t, []string{"10 → 1 (22)", "12 → 3 (20)"}, r.messages)
	assert.Empty(t, left)
}

// TestTagsAndCommunicatorsSeparate: messages overtake each other between tags and
// communicators, never within.
func TestTagsAndCommunicatorsSeparate(t *testing.T) {
	b := tracetest.New(2)
	dup := b.Comm("dup", 0, 1)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Call("MPI_Comm_dup", 0, 1, tracetest.Args{"newcomm": tracetest.Comm(dup)})
	})
	send := func(at float64, tag, comm int) {
		args := tracetest.Args{"dest": 0, "tag": tag}
		if comm > 0 {
			args["comm"] = tracetest.Comm(comm)
		}
		b.Rank(1).Call("MPI_Send", at, at+1, args)
	}
	receive := func(at float64, tag, comm int) {
		args := tracetest.Args{"source": 1, "tag": tag, "status": tracetest.Status{Source: 1, Tag: tag, Bytes: 8}}
		if comm > 0 {
			args["comm"] = tracetest.Comm(comm)
		}
		b.Rank(0).Call("MPI_Recv", at, at+1, args)
	}
	send(10, 1, 0)
	send(12, 2, 0)
	send(14, 1, dup)
	send(16, 1, 0)
	receive(20, 1, dup)
	receive(22, 2, 0)
	receive(24, 1, 0)
	receive(26, 1, 0)
	r, left := run(t, b)
	assert.Equal(t, []string{"14 → 20 (20)", "12 → 22 (22)", "10 → 24 (24)", "16 → 26 (26)"}, r.messages)
	assert.Empty(t, left)
}

// TestCancelledReceive: a cancelled receive takes no message; the next one does.
func TestCancelledReceive(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Irecv(1, 2, 1, 0).
		Call("MPI_Cancel", 3, 4, tracetest.Args{"request": tracetest.Request(0)}).
		Call("MPI_Wait", 5, 6, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: 1, Cancelled: true}}).
		Recv(7, 12, 1, 8)
	b.Rank(1).Send(10, 11, 0)
	r, left := run(t, b)
	assert.Equal(t, []string{"10 → 7 (7)"}, r.messages)
	assert.Empty(t, left)
}

// TestWaitsomeAndTest: indices and flags determine what is completed; an unsuccessful test
// completes nothing.
func TestWaitsomeAndTest(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Irecv(1, 2, 1, 0).Irecv(2, 3, 1, 1).Irecv(3, 4, 1, 2).
		Call("MPI_Test", 5, 6, tracetest.Args{"request": tracetest.Request(0), "flag": 0}).
		Call("MPI_Waitsome", 7, 23, tracetest.Args{
			"incount": 3, "array_of_requests": tracetest.Requests{0, 1, 2}, "outcount": 2, "array_of_indices": []int{2, 0},
			"array_of_statuses": []tracetest.Status{{Source: 1, Bytes: 8}, {Source: 1, Bytes: 16}},
		}).
		Call("MPI_Testany", 24, 25, tracetest.Args{
			"count": 3, "array_of_requests": tracetest.Requests{tracetest.Null, 1, tracetest.Null}, "index": 1, "flag": 1,
			"status": tracetest.Status{Source: 1, Bytes: 8},
		})
	b.Rank(1).Send(10, 11, 0).Send(12, 13, 0).Send(20, 21, 0)
	r, left := run(t, b)
	assert.ElementsMatch(t, []string{"10 → 1 (7)", "12 → 2 (24)", "20 → 3 (7)"}, r.messages)
	assert.Empty(t, left)
}

// TestPersistentCollectives: two persistent barriers are distinguished by the order of their
// initialization, in whatever order they are started.
func TestPersistentCollectives(t *testing.T) {
	b := tracetest.New(2)
	starts := [][]struct {
		at float64
		q  tracetest.Request
	}{{{10, 0}, {20, 1}}, {{12, 1}, {40, 0}}}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Call("MPI_Barrier_init", 1, 2, tracetest.Args{"request": tracetest.Request(0)})
		r.Call("MPI_Barrier_init", 3, 4, tracetest.Args{"request": tracetest.Request(1)})
		for _, s := range starts[i] {
			r.Call("MPI_Start", s.at, s.at+1, tracetest.Args{"request": s.q})
		}
		r.Waitall(50, 51, tracetest.Requests{0, 1})
	})
	r, left := run(t, b)
	// barrier 0 was entered at 10 and 40, barrier 1 at 20 and 12
	assert.ElementsMatch(t, []string{"0: 40", "1: 40", "0: 20", "1: 20"}, r.collectives)
	assert.Empty(t, left)
}

// TestFreedRequest: a send whose request was freed is matched; its time of completion is unknown.
func TestFreedRequest(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Isend(1, 2, 1, 0).Call("MPI_Request_free", 3, 4, tracetest.Args{"request": tracetest.Request(0)})
	b.Rank(1).Recv(5, 6, 0, 8)
	r, left := run(t, b)
	assert.Equal(t, []string{"1 → 5 (5)"}, r.messages)
	assert.Empty(t, left)
}

// TestMatchedProbe: a matched probe takes the first message of its envelope, which a later call
// receives; receives in between take the next one.
func TestMatchedProbe(t *testing.T) {
	status := tracetest.Status{Source: 1, Bytes: 8}
	probe := tracetest.Args{"source": "MPI_ANY_SOURCE", "message": tracetest.Message(4), "flag": 1, "status": status}
	received := tracetest.Args{"message": tracetest.Message(4), "request": tracetest.Request(0), "status": status}
	for name, finish := range map[string]func(r *tracetest.Rank){
		"MPI_Mrecv": func(r *tracetest.Rank) { r.Call("MPI_Mrecv", 20, 21, received) },
		"MPI_Imrecv": func(r *tracetest.Rank) {
			r.Call("MPI_Imrecv", 18, 19, received).Waitall(20, 21, tracetest.Requests{0}, status)
		},
	} {
		b := tracetest.New(2)
		b.Rank(0).Call("MPI_Improbe", 10, 11, probe).Recv(14, 15, 1, 8)
		finish(b.Rank(0))
		b.Rank(1).Send(1, 2, 0).Send(3, 4, 0)
		r, left := run(t, b)
		assert.Equal(t, []string{"1 → 10 (10) probe", "3 → 14 (14)", "1 → 10 (20)"}, r.messages, name)
		assert.Empty(t, left, name)
		assert.Contains(t, r.settled[0], 20.0, name)
	}
}

// TestWindowsSettle: every call on a window that may have waited settles, as soon as what it may
// have waited for is known.
func TestWindowsSettle(t *testing.T) {
	b := tracetest.New(2)
	on := tracetest.Args{"win": tracetest.Win(0)}
	b.Ranks(func(i int, r *tracetest.Rank) {
		at := float64(i) / 2
		r.Call("MPI_Win_create", 1+at, 2, on).Call("MPI_Win_fence", 3+at, 4, on).Call("MPI_Win_fence", 5+at, 6, on).
			Call("MPI_Win_free", 7+at, 8, tracetest.Args{"win": tracetest.Freed(0)})
	})
	r, left := run(t, b)
	assert.Equal(t, []string{"0: 1.5", "1: 1.5", "0: 3.5", "1: 3.5", "0: 5.5", "1: 5.5", "0: 7.5", "1: 7.5"}, r.collectives)
	assert.Equal(t, map[int][]float64{0: {1, 3, 5, 7}, 1: {1.5, 3.5, 5.5, 7.5}}, r.settled)
	assert.Empty(t, left)
}
