package recorder

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// A loopBody makes the calls of one iteration of a random loop; iteration counts from 0.
type loopBody []func(iteration int)

// randomLoop makes the body of a loop of a thread. Some of its calls are equal in all iterations;
// others differ now and then in details that must not matter, or in details that must. Handles from
// base on belong to the loop.
func randomLoop(s *recordtest.Shim, rng *rand.Rand, thread uint32, base int64) loopBody {
	var body loopBody
	for n := range int64(1 + rng.IntN(6)) {
		c := loopCalls{
			Shim: s, random: rng, thread: thread, base: base + 100*n,
			at: uint64(0x401000 + rng.IntN(8)*0x10), peer: int64(rng.IntN(4)), rare: 3 + rng.IntN(40),
		}
		switch kind := rng.IntN(13); kind {
		case 5, 6, 7, 8, 11:
			body = append(body, c.withRequests(kind))
		case 12:
			body = append(body, c.innerLoop())
		default:
			body = append(body, c.withoutRequests(kind))
		}
	}
	return body
}

// loopCalls makes calls at one call site of a loop's body.
type loopCalls struct {
	*recordtest.Shim
	random *rand.Rand
	thread uint32
	at     uint64
	peer   int64
	rare   int   // one of this many iterations differs
	base   int64 // first handle of the loop
}

func (c *loopCalls) call(name string, result int64, args ...any) {
	c.CallAt(c.thread, c.at, name, result, args...)
}

// now returns 1 in the iterations that differ, otherwise 0.
func (c *loopCalls) now(i int) int64 {
	if i%c.rare == c.rare-1 {
		return 1
	}
	return 0
}

func (c *loopCalls) withoutRequests(kind int) func(iteration int) {
	switch kind {
	case 0:
		return func(int) { c.call("MPI_Barrier", 0, recordtest.CommWorld) }
	case 1: // another buffer each time
		return func(i int) {
			c.call("MPI_Allreduce", 0, 0x10+int64(i%3), 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
		}
	case 2: // MPI_IN_PLACE now and then: another signature
		return func(i int) {
			buffer := int64(0x10)
			if c.now(i) == 1 {
				buffer = recordtest.InPlace
			}
			c.call("MPI_Allreduce", 0, buffer, 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
		}
	case 3: // results that differ
		return func(i int) {
			c.call("MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: c.now(i), Tag: 7, Bytes: 4})
		}
	case 4: // the same signature twice, with different results
		return func(i int) {
			for k := range int64(2) {
				c.call("MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: k, Tag: c.now(i), Bytes: 4})
			}
		}
	case 9: // a handle that now and then refers to another object
		return func(i int) {
			if c.now(i) == 1 {
				c.call("MPI_Type_contiguous", 0, 2+c.random.IntN(2), recordtest.TypeInt, 700)
				c.call("MPI_Send", 0, 0x10, 1, 700, 1, 7, recordtest.CommWorld)
				c.call("MPI_Type_free", 0, 700, 0x0c000000)
			}
			c.call("MPI_Comm_rank", 0, recordtest.CommWorld, 0)
		}
	case 10: // a flag that reports whether there is a status
		return func(i int) {
			if c.now(i) == 1 {
				c.call("MPI_Iprobe", 0, recordtest.AnySource, 1, recordtest.CommWorld, 1, recordtest.Status{Source: 1, Bytes: 4})
			} else {
				c.call("MPI_Iprobe", 0, recordtest.AnySource, 1, recordtest.CommWorld, 0, recordtest.NoStatus{})
			}
		}
	}
	panic(kind)
}

func (c *loopCalls) withRequests(kind int) func(iteration int) {
	switch kind {
	case 5: // requests that are created and completed, some with the same handle
		return func(i int) {
			raws := recordtest.List{c.base, c.base + 1 + c.now(i), 0x6c000000, 0x6c000000}
			for k, raw := range raws {
				c.call("MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, c.peer, k, recordtest.CommWorld, raw)
			}
			for k := range raws { // completed one by one, last first
				k = len(raws) - 1 - k
				before, after := append(recordtest.List{}, raws...), append(recordtest.List{}, raws...)
				after[k], raws[k] = recordtest.RequestNull, recordtest.RequestNull
				c.call("MPI_Waitany", 0, len(before), before, after, k, recordtest.Status{Source: 0})
			}
		}
	case 6: // a request that is completed in the next iteration
		live := recordtest.List{}
		return func(i int) {
			c.call("MPI_Irecv", 0, 1, recordtest.TypeInt, c.peer, 3, recordtest.CommWorld, 0x10, c.base+10+int64(i%2))
			if len(live) > 0 {
				c.call("MPI_Wait", 0, live[0], recordtest.RequestNull, recordtest.Status{Source: c.peer, Tag: 3, Bytes: 4})
			}
			live = recordtest.List{c.base + 10 + int64(i%2)}
		}
	case 7: // persistent
		c.call("MPI_Send_init", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, c.base+20)
		return func(int) {
			c.call("MPI_Start", 0, c.base+20, c.base+20)
			c.call("MPI_Wait", 0, c.base+20, c.base+20, recordtest.Status{})
		}
	case 8: // polls until completion
		return func(i int) {
			c.call("MPI_Irecv", 0, 1, recordtest.TypeInt, c.peer, 3, recordtest.CommWorld, 0x10, c.base+30)
			for range 2 + c.now(i) {
				c.call("MPI_Test", 0, c.base+30, c.base+30, 0, recordtest.NoStatus{})
			}
			c.call("MPI_Test", 0, c.base+30, recordtest.RequestNull, 1, recordtest.Status{Source: c.peer, Tag: 3, Bytes: 4})
		}
	case 11: // different statuses of requests
		return func(i int) {
			c.call("MPI_Irecv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, c.base+40)
			c.call("MPI_Waitall", 0, 1, recordtest.List{c.base + 40}, recordtest.List{recordtest.RequestNull}, recordtest.Statuses{{Source: c.now(i), Bytes: int64(i % 2)}})
		}
	}
	panic(kind)
}

// innerLoop is a nested loop whose trip count may change, and a switch of tracing.
func (c *loopCalls) innerLoop() func(iteration int) {
	inner := randomLoop(c.Shim, c.random, c.thread, c.base+1000)
	return func(i int) {
		for k := range 3 + int(c.now(i)) {
			for _, f := range inner {
				f(k)
			}
		}
		if c.rare < 5 && c.now(i) == 1 {
			c.Call(c.thread, "MPI_Pcontrol", 0, i/c.rare%2)
		}
	}
}

// Comparing by iterations makes the same trace as comparing call by call.
func TestLoops(t *testing.T) {
	var iterated uint64
	seeds, consumed := uint64(150), uint64(20_000)
	if testing.Short() {
		seeds, consumed = 40, 4500
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			s := recordtest.NewShim(t)
			s.Process.Timing = []string{"lossless", "lossy", "aggregated"}[seed%3]
			s.Init(0, 4)
			for base := int64(10000); base < 30000; base += 10000 {
				threads := 1 + rng.IntN(2)
				bodies := make([]loopBody, threads)
				for k := range bodies {
					bodies[k] = randomLoop(s, rng, uint32(k), base+int64(k)*5000)
				}
				for i := range 20 + rng.IntN(100) {
					for k := range bodies {
						for _, f := range bodies[k] {
							f(i)
						}
					}
				}
			}
			r := sameWithoutRepeats(t, s)
			for _, th := range r.threads {
				iterated += th.repeats.Iterated()
			}
		})
	}
	require.Greater(t, iterated, consumed, "calls that were worked off by iterations")
}

// All but the first and the last iterations of a steady loop are consumed as a whole, even if their
// buffers and results change.
func TestSteadyLoopIsIterations(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	const iterations, calls = 100, 9
	for i := range int64(iterations) {
		s.Call(0, "MPI_Irecv", 0, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 0x10+i, 1000)
		s.Call(0, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 0x6c000000)
		s.Waitall(recordtest.List{1000, 0x6c000000})
		s.Call(0, "MPI_Iprobe", 0, recordtest.AnySource, 1, recordtest.CommWorld, 0, recordtest.NoStatus{})
		s.Call(0, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: i % 5, Tag: 7, Bytes: 4})
		s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		for k := range int64(2) {
			s.CallAt(0, 0x402000, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: k, Bytes: 4})
		}
	}
	r := sameWithoutRepeats(t, s)
	require.Greater(t, r.threads[0].repeats.Iterated(), uint64((iterations-11)*calls))
}

// Iterations that span buffers are consumed as a whole, too, and so are pairs of iterations that
// the grammar has as one because handles are swapped.
func TestLongIterationsSpanBuffers(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	const n = 6
	const iterations, calls = 400, 2*n + 1
	for i := range int64(iterations) {
		var raw recordtest.List
		for k := range int64(n) {
			s.CallAt(0, 0x401100, "MPI_Irecv", 0, 1, recordtest.TypeInt, k%4, k, recordtest.CommWorld, 0x10, 1000+(k+i%2)%n)
			raw = append(raw, 1000+(k+i%2)%n)
		}
		for k := range int64(n) {
			before := append(recordtest.List{}, raw...)
			raw[k] = recordtest.RequestNull
			s.CallAt(0, 0x401200, "MPI_Waitany", 0, n, before, append(recordtest.List{}, raw...), k, recordtest.Status{Source: k % 4, Tag: k, Bytes: 4})
		}
		s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	}
	sameWithoutRepeats(t, s)
	for _, short := range []bool{false, true} {
		r := inBuffers(s, New(s.Process), short)
		require.Greater(t, r.threads[0].repeats.Iterated(), uint64(iterations*calls*95/100))
	}
}

// Calls of another thread between two iterations matter: requests get other ids, and handles refer
// to other objects.
func TestLoopsOfThreads(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	s.Call(0, "MPI_Type_contiguous", 0, 2, recordtest.TypeInt, 700)
	send := func(thread uint32, raw int64) {
		s.CallAt(thread, 0x402000, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, raw)
	}
	wait := func(thread uint32, raw int64) {
		s.CallAt(thread, 0x403000, "MPI_Wait", 0, raw, recordtest.RequestNull, recordtest.Status{})
	}
	// The other thread's call comes before the last call of an iteration, so that the next
	// iteration is complete.
	block := func(meanwhile func()) {
		for k := range 12 {
			s.Call(0, "MPI_Send", 0, 0x10, 1, 700, 1, 7, recordtest.CommWorld)
			send(0, 1000)
			wait(0, 1000)
			if k == 11 {
				meanwhile()
			}
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		}
	}
	block(func() { send(1, 1001) })
	block(func() { wait(1, 1001) })
	block(func() {
		send(1, 1001)
		send(1, 1002)
		wait(1, 1001)
	})
	block(func() {
		wait(1, 1002)
		send(1, 1003)
	})
	block(func() {
		s.Call(1, "MPI_Type_free", 0, 700, 0x0c000000)
		s.Call(1, "MPI_Type_vector", 0, 2, 3, 4, recordtest.TypeInt, 701)
		s.Call(1, "MPI_Type_vector", 0, 2, 3, 4, recordtest.TypeInt, 700)
	})
	block(func() {})
	r := sameWithoutRepeats(t, s)
	require.Greater(t, r.threads[0].repeats.Iterated(), uint64(100))
}

// A loop of one call continues after another call.
func TestLoopGoesOn(t *testing.T) {
	for n := range 40 {
		s := recordtest.NewShim(t)
		s.Init(0, 4)
		for range n { // so that the lengths of repeated sequences vary
			s.CallAt(0, 0x402000, "MPI_Barrier", 0, recordtest.CommSelf)
		}
		for i := range 300 {
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
			if i%(5+n) == 0 {
				s.Call(0, "MPI_Comm_rank", 0, recordtest.CommWorld, 0)
			}
		}
		sameWithoutRepeats(t, s)
	}
}

// The times of a loop are added to those of a state, however many these are.
func TestTimesOfALoopAfterAWholeBlock(t *testing.T) {
	for _, more := range []int{-1, 0, 1} {
		r := New(recordtest.NewShim(t).Process)
		r.Limits.BlockCalls = 8
		th := r.thread(0)
		th.loop.alike = true
		th.columns.push(make([]int64, 2*(8+more)))
		th.timeLoop([]int64{1, 2, 3, 4, 5, 6})
		n := th.gaps.n
		for _, b := range r.full {
			n += b.N
		}
		require.EqualValues(t, 8+more+3, n)
		require.Equal(t, n, th.timed())
	}
}
