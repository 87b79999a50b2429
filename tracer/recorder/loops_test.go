package recorder

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// A loopBody makes one iteration of a random loop; iteration counts from 0.
type loopBody []func(iteration int)

// randomLoop makes the body of a loop of a thread: calls that are always the same, and calls that sometimes differ in what
// must not matter, or in what must.
func randomLoop(s *recordtest.Shim, rng *rand.Rand, thread uint32, base int64) loopBody {
	var body loopBody
	for range 1 + rng.IntN(6) {
		at := uint64(0x401000 + rng.IntN(8)*0x10)
		peer, rare := int64(rng.IntN(4)), 3+rng.IntN(40)
		now := func(i int) int64 { // 1 now and then
			if i%rare == rare-1 {
				return 1
			}
			return 0
		}
		switch rng.IntN(13) {
		case 0:
			body = append(body, func(int) { s.CallAt(thread, at, "MPI_Barrier", 0, recordtest.CommWorld) })
		case 1: // another buffer each time
			body = append(body, func(i int) {
				s.CallAt(thread, at, "MPI_Allreduce", 0, 0x10+int64(i%3), 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
			})
		case 2: // MPI_IN_PLACE now and then: another signature
			body = append(body, func(i int) {
				buffer := int64(0x10)
				if now(i) == 1 {
					buffer = recordtest.InPlace
				}
				s.CallAt(thread, at, "MPI_Allreduce", 0, buffer, 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
			})
		case 3: // results that differ
			body = append(body, func(i int) {
				s.CallAt(thread, at, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: now(i), Tag: 7, Bytes: 4})
			})
		case 4: // the same signature twice, with different results
			body = append(body, func(i int) {
				for k := range int64(2) {
					s.CallAt(thread, at, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: k, Tag: now(i), Bytes: 4})
				}
			})
		case 5: // requests that come and go, some with one handle
			body = append(body, func(i int) {
				raws := recordtest.List{base, base + 1 + now(i), 0x6c000000, 0x6c000000}
				for k, raw := range raws {
					s.CallAt(thread, at, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, peer, k, recordtest.CommWorld, raw)
				}
				for k := range raws { // ended from behind, one by one
					k = len(raws) - 1 - k
					before, after := append(recordtest.List{}, raws...), append(recordtest.List{}, raws...)
					after[k], raws[k] = recordtest.RequestNull, recordtest.RequestNull
					s.CallAt(thread, at, "MPI_Waitany", 0, len(before), before, after, k, recordtest.Status{Source: 0})
				}
			})
		case 6: // one that is ended in the next iteration
			live := recordtest.List{}
			body = append(body, func(i int) {
				s.CallAt(thread, at, "MPI_Irecv", 0, 1, recordtest.TypeInt, peer, 3, recordtest.CommWorld, 0x10, base+10+int64(i%2))
				if len(live) > 0 {
					s.CallAt(thread, at, "MPI_Wait", 0, live[0], recordtest.RequestNull, recordtest.Status{Source: peer, Tag: 3, Bytes: 4})
				}
				live = recordtest.List{base + 10 + int64(i%2)}
			})
		case 7: // persistent
			s.CallAt(thread, at, "MPI_Send_init", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, base+20)
			body = append(body, func(int) {
				s.CallAt(thread, at, "MPI_Start", 0, base+20, base+20)
				s.CallAt(thread, at, "MPI_Wait", 0, base+20, base+20, recordtest.Status{})
			})
			base += 100
		case 8: // polls, as many as it takes
			body = append(body, func(i int) {
				s.CallAt(thread, at, "MPI_Irecv", 0, 1, recordtest.TypeInt, peer, 3, recordtest.CommWorld, 0x10, base+30)
				for range 2 + now(i) {
					s.CallAt(thread, at, "MPI_Test", 0, base+30, base+30, 0, recordtest.NoStatus{})
				}
				s.CallAt(thread, at, "MPI_Test", 0, base+30, recordtest.RequestNull, 1, recordtest.Status{Source: peer, Tag: 3, Bytes: 4})
			})
		case 9: // a handle that means something else now and then
			body = append(body, func(i int) {
				if now(i) == 1 {
					s.CallAt(thread, at, "MPI_Type_contiguous", 0, 2+rng.IntN(2), recordtest.TypeInt, 700)
					s.CallAt(thread, at, "MPI_Send", 0, 0x10, 1, 700, 1, 7, recordtest.CommWorld)
					s.CallAt(thread, at, "MPI_Type_free", 0, 700, 0x0c000000)
				}
				s.CallAt(thread, at, "MPI_Comm_rank", 0, recordtest.CommWorld, 0)
			})
		case 10: // a flag that says whether there is a status
			body = append(body, func(i int) {
				if now(i) == 1 {
					s.CallAt(thread, at, "MPI_Iprobe", 0, recordtest.AnySource, 1, recordtest.CommWorld, 1, recordtest.Status{Source: 1, Bytes: 4})
				} else {
					s.CallAt(thread, at, "MPI_Iprobe", 0, recordtest.AnySource, 1, recordtest.CommWorld, 0, recordtest.NoStatus{})
				}
			})
		case 11: // statuses of requests that differ
			body = append(body, func(i int) {
				s.CallAt(thread, at, "MPI_Irecv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, base+40)
				s.CallAt(thread, at, "MPI_Waitall", 0, 1, recordtest.List{base + 40}, recordtest.List{recordtest.RequestNull}, recordtest.Statuses{{Source: now(i), Bytes: int64(i % 2)}})
			})
		case 12: // a loop inside, whose trip count may change; a switch of tracing
			inner := randomLoop(s, rng, thread, base+1000)
			body = append(body, func(i int) {
				for k := range 3 + int(now(i)) {
					for _, f := range inner {
						f(k)
					}
				}
				if rare < 5 && now(i) == 1 {
					s.Call(thread, "MPI_Pcontrol", 0, i/rare%2)
				}
			})
		}
		base += 100
	}
	return body
}

// Comparison by iterations leads to the same trace as call by call.
func TestLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	var iterated uint64
	for seed := range uint64(150) {
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
				iterated += th.loop.consumed
			}
		})
	}
	require.Greater(t, iterated, uint64(20000), "calls that were worked off by iterations")
}

// All but the first and the last iterations of a steady loop are consumed as a whole, even if its buffers and results
// change.
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
	require.Greater(t, r.threads[0].loop.consumed, uint64((iterations-11)*calls))
}

// So are iterations that span buffers, and iterations that are two of the grammar's because handles are exchanged.
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
	r := inBuffers(s, New(s.Process))
	require.Greater(t, r.threads[0].loop.consumed, uint64(iterations*calls*95/100))
}

// Calls of another thread between two iterations matter: requests get other ids, handles have other meanings.
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
	// The other thread's call comes before the last call of an iteration: the next iteration is a complete one.
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
	require.Greater(t, r.threads[0].loop.consumed, uint64(100))
}

// A loop of one call continues after another call.
func TestLoopGoesOn(t *testing.T) {
	for n := range 40 {
		s := recordtest.NewShim(t)
		s.Init(0, 4)
		for range n { // so that the pieces are others
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
