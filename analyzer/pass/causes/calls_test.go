package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

const big = 1 << 20 // bytes of a message that no implementation sends eagerly

// Both ranks compute 10 in each of 20 rounds, rank 0 the most part after its send:
//
//	rank 0: computes 2, Send 2-11 (waits until 10), computes 8, Barrier 19-20
//	rank 1: computes 10, Recv 10-11,                           Barrier 11-20 (waits until 19)
//
// If the send did not wait, rank 0 would enter the barrier at 10 and rank 1 at 11: a round takes 12
// instead of 20.
func TestLateReceiver(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("l.c:1").Init(0, 1) })
	for k := range 20 {
		at := 1 + 20*float64(k)
		b.Rank(0).At("l.c:2").Send(at+2, at+11, 1).At("l.c:9").Collective("MPI_Barrier", at+19, at+20)
		b.Rank(1).At("l.c:3").Recv(at+10, at+11, 0, big).At("l.c:9").Collective("MPI_Barrier", at+11, at+20)
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("l.c:10").Finalize(401, 402) })
	v := judged(t, b)
	require.Equal(t, verdict.LateReceiver, v.Blames, v.Text)
	assert.Equal(t, verdict.NotPosted, v.Causes[0].Form)
	assert.Equal(t, "1", v.Ranks, v.Text)
	assert.InDelta(t, 20*0.008, *v.GainSeconds, 1e-6, v.Text)
}

// Rank 1 has posted its receive, but computes outside of MPI while the message could be
// transferred: the send waits for its progress.
func TestLateProgress(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("p.c:1").Init(0, 1) })
	for k := range 20 {
		at := 1 + 20*float64(k)
		b.Rank(0).At("p.c:2").Send(at+2, at+11, 1).At("p.c:9").Collective("MPI_Barrier", at+19, at+20)
		b.Rank(1).At("p.c:3").Irecv(at, at, 0, 0).At("p.c:4").Waitall(at+10, at+11, tracetest.Requests{0}, tracetest.Status{Source: 0, Bytes: big}).
			At("p.c:9").Collective("MPI_Barrier", at+11, at+20)
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("p.c:10").Finalize(401, 402) })
	v := judged(t, b)
	require.Equal(t, verdict.LateReceiver, v.Blames, v.Text)
	assert.Equal(t, verdict.NotInside, v.Causes[0].Form)
}

// largeMessages returns two ranks whose messages of 1 MiB take 10 while they compute 2, and none
// waits.
func largeMessages() *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("m.c:1").Init(0, 1)
		for k := range 20 {
			at := 1 + 12*float64(k)
			if i == 0 {
				r.At("m.c:2").Call("MPI_Send", at+2, at+12, tracetest.Args{"dest": 1, "count": big, "datatype": "MPI_BYTE"})
			} else {
				r.At("m.c:3").Recv(at+2, at+12, 0, big)
			}
		}
		r.At("m.c:4").Finalize(241, 242)
	})
	return b
}

// The cause is the messages, without which the run takes 242 − 20 · 10. They are named by their
// call sites on one node, and are the network's between two.
func TestLargeMessages(t *testing.T) {
	f := find(t, largeMessages().Content())
	v := f.Verdict
	require.Equal(t, verdict.Messages, v.Blames, v.Text)
	assert.Equal(t, verdict.TooLarge, v.Causes[0].Form, v.Text)
	assert.InDelta(t, big, v.Causes[0].Bytes, 1, v.Text)
	assert.InDelta(t, 42, predicted(f)[v.Causes[0].Before.At()+" and 1 call site like it cost nothing"], 1e-6)
	assert.NotContains(t, predicted(f), "messages cost nothing")

	b := largeMessages()
	b.Ranks(func(i int, r *tracetest.Rank) { r.Info().Node = []string{"node1", "node2"}[i] })
	f = find(t, b.Content())
	assert.Equal(t, verdict.Network, f.Verdict.Blames, f.Verdict.Text)
	assert.InDelta(t, 42, predicted(f)["messages cost nothing"], 1e-6)
}

// The tracer keeps both ranks for 30 of 100.
func TestTracerOverhead(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Init(0, 5).Call("MPI_Barrier", 29, 30, nil).Overhead(30).Call("MPI_Barrier", 80, 81, nil).Finalize(99, 100)
	})
	f := find(t, b.Content())
	assert.Equal(t, verdict.Tracer, f.Verdict.Blames, f.Verdict.Text)
	assert.InDelta(t, 70, predicted(f)["the tracer took no time"], 1e-6)
}

// Both ranks turn tracing off for 40 of 100.
func TestUntracedTimeComesFirst(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Init(0, 5).Call("MPI_Pcontrol", 20, 20, nil).Untraced().Call("MPI_Pcontrol", 60, 60, tracetest.Args{"level": 1}).Finalize(95, 100)
	})
	assert.Regexp(t, "^Tracing was off for 40% of the ranks' time, of which nothing is known", judged(t, b).Text)
}
