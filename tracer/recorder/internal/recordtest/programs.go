package recordtest

import (
	"math/rand/v2"
	"testing"
)

// A RandomProgram makes calls of a fake program with two threads: loops, shared request handles,
// wildcards, polls, communicators that come and go. It returns after n calls or some more.
func (s *Shim) RandomProgram(rng *rand.Rand, n int) {
	s.Init(0, 4)
	group := List{0, 1, 2, 3}
	var comms List
	type pending struct {
		raw    int64
		thread uint32
	}
	var requests []pending
	const shared = 0x6c000000
	raw := int64(2000)
	comm := func() int64 {
		if len(comms) == 0 || rng.IntN(2) == 0 {
			return CommWorld
		}
		return comms[rng.IntN(len(comms))]
	}
	for calls := 0; calls < n; calls++ {
		thread := uint32(rng.IntN(2))
		switch rng.IntN(13) {
		case 0, 1:
			r := int64(shared)
			if rng.IntN(2) == 0 {
				raw++
				r = raw
			}
			s.Call(thread, "MPI_Isend", 0, 0x10, rng.IntN(3), TypeInt, rng.IntN(4), 7, comm(), r)
			requests = append(requests, pending{r, thread})
		case 2:
			raw++
			s.Call(thread, "MPI_Irecv", 0, 1, TypeInt, AnySource, AnyTag, comm(), 0x10, raw)
			requests = append(requests, pending{raw, thread})
		case 3:
			var before, after List
			var statuses Statuses
			for _, p := range requests {
				before, after = append(before, p.raw), append(after, RequestNull)
				statuses = append(statuses, Status{Source: int64(rng.IntN(4)), Tag: 7, Bytes: int64(rng.IntN(100))})
			}
			s.Call(thread, "MPI_Waitall", 0, len(before), before, after, statuses)
			requests = nil
		case 4:
			if len(requests) > 0 {
				k := rng.IntN(len(requests))
				flag := int64(rng.IntN(2))
				if flag == 0 {
					s.Call(thread, "MPI_Test", 0, requests[k].raw, requests[k].raw, 0, NoStatus{})
				} else {
					s.Call(thread, "MPI_Test", 0, requests[k].raw, RequestNull, 1, Status{Source: 3, Tag: 7, Bytes: 8})
					requests = append(requests[:k], requests[k+1:]...)
				}
			}
		case 5:
			raw++
			s.Call(thread, "MPI_Comm_dup", 0, CommWorld, raw, Description{Raw: raw, Size: 4, Group: group})
			comms = append(comms, raw)
		case 6:
			if len(comms) > 0 {
				s.Call(thread, "MPI_Comm_free", 0, comms[0], CommNull)
				comms = comms[1:]
			}
		case 7:
			s.Call(thread, "MPI_Recv", 0, 1, TypeInt, AnySource, AnyTag, comm(), 0x10, Status{Source: int64(rng.IntN(4)), Bytes: 4})
		case 8:
			for range 1 + rng.IntN(20) {
				s.CallAt(thread, 0x402000, "MPI_Allreduce", 0, 0x10, 1, TypeInt, 0x58000003, CommWorld, 0x20)
			}
		case 9:
			s.Call(thread, "MPI_Pcontrol", 0, []int{0, 1, 1, 2, 100}[rng.IntN(5)])
		default:
			s.CallAt(thread, 0x401000+uint64(rng.IntN(4)), "MPI_Barrier", 0, comm())
		}
	}
	s.Call(0, "MPI_Pcontrol", 0, 1)
}

// VaryingProgram sends messages of another size in every iteration, two at once by requests, and
// exchanges lists of counts; every tenth iteration has another receive.
func VaryingProgram(t testing.TB, iterations int) *Shim {
	random := rand.New(rand.NewPCG(3, 5))
	s := NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 4)
	for i := range int64(iterations) {
		s.Call(0, "MPI_Isend", 0, 0x10, i, TypeInt, 1, 7, CommWorld, 500)
		s.Call(0, "MPI_Isend", 0, 0x10, i/2, TypeInt, 2, random.IntN(5), CommWorld, 501)
		s.Call(0, "MPI_Alltoallv", 0, 0x10, List{1, i, 1, i + 1}, List{0, 1, 2, 3}, TypeInt,
			List{2, 2, i, 2}, List{0, 1, 2, 3}, TypeInt, CommWorld, 0x20)
		if i%10 == 0 {
			s.Call(0, "MPI_Recv", 0, i, TypeInt, AnySource, 7, CommWorld, 0x10, Status{Source: i % 3, Tag: 7, Bytes: 4 * i})
		}
		s.Call(0, "MPI_Wait", 0, 500, 0x2c000000, Status{})
		s.Call(0, "MPI_Wait", 0, 501, 0x2c000000, Status{})
	}
	return s
}

// WideHandles returns a program whose calls differ in handles that come and go: requests in lists
// of all lengths and in any order, and datatypes that are never freed. waits and sends are the raw
// handles that each wait and send names.
func WideHandles(t testing.TB, iterations int) (s *Shim, waits [][]int64, sends []int64) {
	random := rand.New(rand.NewPCG(7, 7))
	s = NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 64)
	next := int64(1 << 20)
	for range iterations {
		var some, null List
		var statuses Statuses
		for k := range 1 + random.IntN(9) {
			if k > 0 && random.IntN(6) == 0 {
				some, null, statuses = append(some, RequestNull), append(null, RequestNull), append(statuses, Status{})
				continue
			}
			next += 16
			s.Call(0, "MPI_Irecv", 0, 8, TypeInt, random.Int64N(64), random.Int64N(1<<15), CommWorld, 0x10, next)
			some, null = append(some, next), append(null, RequestNull)
			statuses = append(statuses, Status{Source: random.Int64N(64), Tag: random.Int64N(9), Bytes: random.Int64N(1 << 20)})
		}
		random.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
		s.Call(0, "MPI_Waitall", 0, len(some), some, null, statuses)
		waits = append(waits, some)
		next += 16
		s.Call(0, "MPI_Type_contiguous", 0, 3, TypeInt, next)
		made := next
		if len(sends) > 0 && random.IntN(2) == 0 {
			made = sends[random.IntN(len(sends))]
		}
		s.Call(0, "MPI_Send", 0, 0x10, 1, made, 1, 7, CommWorld)
		sends = append(sends, made)
	}
	return s, waits, sends
}
