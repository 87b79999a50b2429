package causes_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
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

// Messages between nodes of which many TCP segments were sent again. A few are no news.
func TestRetransmits(t *testing.T) {
	for again, want := range map[int64]uint64{0: 0, 4: 0, 50: 100} {
		b := largeMessages()
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Info().TCP = &trace.TCPUsage{Segments: 2000, Retransmits: again} })
		v := find(t, b.Content()).Verdict
		require.NotEmpty(t, v.Causes, v.Text)
		assert.Equal(t, want, v.Causes[0].Retransmits, v.Text)
	}
}

// overlapped returns four ranks that start a reduction of 8 MiB, compute for ahead, and complete it
// in an MPI_Wait that takes as long as given, 20 times.
func overlapped(ahead, wait float64) *tracetest.Builder {
	b := tracetest.New(4)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.At("n.c:1").Init(0, 1)
		now := 1.0
		for range 20 {
			r.At("n.c:2").Call("MPI_Iallreduce", now, now, tracetest.Args{"count": 1 << 20, "datatype": "MPI_DOUBLE", "request": tracetest.Request(0)}).
				At("n.c:3").Call("MPI_Wait", now+ahead, now+ahead+wait, tracetest.Args{"request": tracetest.Request(0)})
			now += ahead + wait
		}
		r.At("n.c:4").Finalize(now, now+1)
	})
	return b
}

// A wait for a collective is a collective, with its size. If it was started early the advice is not
// to call it less often, but to let it proceed: 15 of computation hide all of its 12, and 9 three
// quarters. Started just before the wait it is a large collective.
func TestCollectivesThatDoNotOverlap(t *testing.T) {
	for ahead, gains := range map[float64]float64{15: 20 * 12, 9: 20 * 9} {
		f := find(t, overlapped(ahead, 12).Content())
		require.Equal(t, verdict.Collectives, f.Verdict.Blames, f.Verdict.Text)
		c := f.Verdict.Causes[0]
		assert.Equal(t, verdict.NoOverlap, c.Form, f.Verdict.Text)
		assert.InDelta(t, 8<<20, c.Bytes, 1)
		assert.InDelta(t, ahead/1e3, c.AheadSeconds, 1e-5)
		assert.InDelta(t, gains/1e3, *c.GainSeconds, 0.001, f.Verdict.Text)
		assert.InDelta(t, 4*20*12, f.milliseconds("collectives"), 1)
		assert.InDelta(t, 0, f.milliseconds("messages"), 1)
		assert.Contains(t, f.Verdict.Text, "MPI_Wait at n.c:3 (80 calls, 12 ms each, collectives of 8.0 MiB on average)")
		advice := strings.Join(c.Advice(verdict.Neighbors{}), " ")
		assert.Contains(t, advice, "call MPI_Test on it now and then")
		assert.NotContains(t, advice, "less often")
	}
	v := judged(t, overlapped(0.1, 12))
	assert.Equal(t, verdict.TooLarge, v.Causes[0].Form, v.Text)
}

// At random: what was started early gains the shorter one of that time and of the wait, unless it
// was started less than half of the wait before.
func TestOverlapAtRandom(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 11))
		ahead, wait := 1+20*random.Float64(), 4+16*random.Float64()
		c := judged(t, overlapped(ahead, wait)).Causes[0]
		form, gain := verdict.NoOverlap, min(ahead, wait)
		if ahead < wait/2 {
			form, gain = verdict.TooLarge, wait
		}
		assert.Equal(t, form, c.Form, "%g, %g", ahead, wait)
		assert.InDelta(t, 20*gain/1e3, *c.GainSeconds, 0.002, "%g, %g", ahead, wait)
	}
}

// Two ranks exchange messages of bytes in each of 20 iterations, each with all its requests
// completed in one MPI_Waitall that takes 10. Messages of 6 MiB are large, whatever starts them.
// Hundreds of 8 bytes are too many. One exchange of a few bytes is neither.
func TestSizesOfWhatIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		messages, bytes, iterations int
		form                        verdict.Form
		says, never                 string
	}{
		"halos": {1, 6 << 20, 20, verdict.TooLarge, "Large messages make this job slow: their time goes to MPI_Waitall at h.c:4 (40 calls, 10 ms each, messages of 6.0 MiB", "fewer"},
		"many":  {100, 8, 20, verdict.TooMany, "Many small messages make this job slow: their time goes to MPI_Waitall at h.c:4 (40 calls, 10 ms each, messages of 8 B", "MPI_Waitall"},
		"few":   {1, 8, 3, verdict.NoForm, "Messages make this job slow: their time goes to MPI_Waitall at h.c:4 (6 calls, 10 ms each, messages of 8 B", "fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.At("h.c:1").Init(0, 1)
				now := 1.0
				for range c.iterations {
					var requests tracetest.Requests
					var statuses []tracetest.Status
					for k := range c.messages {
						r.At("h.c:2").Irecv(now, now, 1-i, tracetest.Request(2*k)).At("h.c:3").Isend(now, now, 1-i, tracetest.Request(2*k+1))
						requests = append(requests, tracetest.Request(2*k), tracetest.Request(2*k+1))
						statuses = append(statuses, tracetest.Status{Source: 1 - i, Bytes: c.bytes}, tracetest.Status{Source: -1, Tag: -1})
					}
					r.At("h.c:4").Waitall(now, now+10, requests, statuses...)
					now += 12
				}
				r.At("h.c:5").Finalize(now, now+1)
			})
			v := judged(t, b)
			require.Equal(t, verdict.Messages, v.Blames, v.Text)
			assert.Equal(t, c.form, v.Causes[0].Form, v.Text)
			assert.Contains(t, v.Text, c.says)
			assert.NotContains(t, strings.Join(v.Causes[0].Advice(verdict.Neighbors{}), " "), c.never)
		})
	}
}

// A server polls for requests every 12 and sleeps in between, as the kernel counts. A client
// computes for 4, sends a request, and waits for the answer, which comes 8 later than it could: 30
// times. Neither the messages nor the client are to blame: the server is late for 8, and the client
// waits for that, each time.
func TestSeldomPolls(t *testing.T) {
	const rounds = 30
	b := tracetest.New(2)
	server, client := b.Rank(0), b.Rank(1)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("p.c:1").Init(0, 1) })
	now := 1.0
	for range rounds {
		server.At("p.c:2").Call("MPI_Iprobe", now, now+0.01, tracetest.Args{"source": "MPI_ANY_SOURCE", "flag": 0})
		client.At("p.c:6").Send(now+4, now+4.01, 0)
		now += 12.01
		server.Call("MPI_Iprobe", now, now+0.01, tracetest.Args{"source": "MPI_ANY_SOURCE", "flag": 1, "status": tracetest.Status{Source: 1, Bytes: 8}}).
			At("p.c:3").Recv(now+0.01, now+0.02, 1, 8).At("p.c:4").Send(now+0.02, now+0.03, 1)
		client.At("p.c:7").Recv(now-8, now+0.04, 0, 8)
		now += 0.04
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("p.c:9").Finalize(now, now+1) })
	for k := range int64(now)/100 + 1 {
		server.Info().Context = append(server.Info().Context, trace.ContextSample{MonotonicNS: 100 * k * tracetest.Unit, CPUNS: k * tracetest.Unit, VoluntarySwitches: 1 + 9*k})
	}
	f := find(t, b.Content())
	v := f.Verdict
	require.Equal(t, verdict.LateReceiver, v.Blames, v.Text)
	assert.Equal(t, verdict.Seldom, v.Causes[0].Form, v.Text)
	assert.Equal(t, "0", v.Ranks, v.Text)
	assert.InDelta(t, rounds*8, 1e3**v.GainSeconds, 2, v.Text)
	assert.InDelta(t, 2*rounds*8, f.milliseconds("late-receiver"), 5)
	assert.Less(t, f.milliseconds("messages"), 10.0)
	assert.Contains(t, v.Text, " makes this job slow: it polls in MPI_Iprobe at p.c:2 only every 12 ms")
}

// A client polls for each answer all the time, as it should, while the server computes for 6:
// thousands of tests that find nothing are no messages, and what the client waits for is named.
func TestPollsAllTheTime(t *testing.T) {
	b := tracetest.New(2)
	server, client := b.Rank(0), b.Rank(1)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("t.c:1").Init(0, 1) })
	now := 1.0
	for range 30 {
		client.At("t.c:6").Send(now+2, now+2.01, 0).At("t.c:7").Irecv(now+2.01, now+2.01, 0, 0)
		server.At("t.c:2").Recv(now, now+2.02, 1, 8).At("t.c:3").Send(now+8.02, now+8.03, 1)
		for at := now + 2.02; at < now+8; at += 0.03 {
			client.At("t.c:8").Call("MPI_Test", at, at+0.02, tracetest.Args{"request": tracetest.Request(0), "flag": 0})
		}
		client.At("t.c:8").Call("MPI_Test", now+8.03, now+8.04, tracetest.Args{"request": tracetest.Request(0), "flag": 1, "status": tracetest.Status{Source: 0, Bytes: 8}})
		now += 8.04
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("t.c:9").Finalize(now, now+1) })
	v := judged(t, b)
	assert.NotContains(t, v.Text, "MPI_Test")
	assert.Equal(t, 0, *v.Rank, v.Text)
	assert.Contains(t, v.Text, "between MPI_Recv at t.c:2 and MPI_Send at t.c:3")
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
