package recorder

import (
	"math/rand/v2"
	"testing"
)

// A randomProgram makes calls of a fake program with two threads: loops, shared request handles, wildcards, polls,
// communicators that come and go. It returns after n calls or some more.
func (s *fakeShim) randomProgram(rng *rand.Rand, n int) {
	s.init(0, 4)
	group := list{0, 1, 2, 3}
	var comms list
	type pending struct {
		raw    int64
		thread uint32
	}
	var requests []pending
	const shared = 0x6c000000
	raw := int64(2000)
	comm := func() int64 {
		if len(comms) == 0 || rng.IntN(2) == 0 {
			return commWorld
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
			s.call(thread, "MPI_Isend", 0, 0x10, rng.IntN(3), typeInt, rng.IntN(4), 7, comm(), r)
			requests = append(requests, pending{r, thread})
		case 2:
			raw++
			s.call(thread, "MPI_Irecv", 0, 1, typeInt, anySource, anyTag, comm(), 0x10, raw)
			requests = append(requests, pending{raw, thread})
		case 3:
			var before, after list
			var statuses stats
			for _, p := range requests {
				before, after = append(before, p.raw), append(after, requestNull)
				statuses = append(statuses, status{source: int64(rng.IntN(4)), tag: 7, bytes: int64(rng.IntN(100))})
			}
			s.call(thread, "MPI_Waitall", 0, len(before), before, after, statuses)
			requests = nil
		case 4:
			if len(requests) > 0 {
				k := rng.IntN(len(requests))
				flag := int64(rng.IntN(2))
				if flag == 0 {
					s.call(thread, "MPI_Test", 0, requests[k].raw, requests[k].raw, 0, noStat{})
				} else {
					s.call(thread, "MPI_Test", 0, requests[k].raw, requestNull, 1, status{source: 3, tag: 7, bytes: 8})
					requests = append(requests[:k], requests[k+1:]...)
				}
			}
		case 5:
			raw++
			s.call(thread, "MPI_Comm_dup", 0, commWorld, raw, descr{raw: raw, size: 4, group: group})
			comms = append(comms, raw)
		case 6:
			if len(comms) > 0 {
				s.call(thread, "MPI_Comm_free", 0, comms[0], commNull)
				comms = comms[1:]
			}
		case 7:
			s.call(thread, "MPI_Recv", 0, 1, typeInt, anySource, anyTag, comm(), 0x10, status{source: int64(rng.IntN(4)), bytes: 4})
		case 8:
			for range 1 + rng.IntN(20) {
				s.callAt(thread, 0x402000, "MPI_Allreduce", 0, 0x10, 1, typeInt, 0x58000003, commWorld, 0x20)
			}
		case 9:
			s.call(thread, "MPI_Pcontrol", 0, []int{0, 1, 1, 2, 100}[rng.IntN(5)])
		default:
			s.callAt(thread, 0x401000+uint64(rng.IntN(4)), "MPI_Barrier", 0, comm())
		}
	}
	s.call(0, "MPI_Pcontrol", 0, 1)
}

// varyingProgram sends messages of another size in every iteration, two at once by requests, and exchanges lists of
// counts; every tenth iteration has another receive.
func varyingProgram(t testing.TB, iterations int) *fakeShim {
	random := rand.New(rand.NewPCG(3, 5))
	s := newFakeShim(t)
	s.process.BootID = ""
	s.init(0, 4)
	for i := range int64(iterations) {
		s.call(0, "MPI_Isend", 0, 0x10, i, typeInt, 1, 7, commWorld, 500)
		s.call(0, "MPI_Isend", 0, 0x10, i/2, typeInt, 2, random.IntN(5), commWorld, 501)
		s.call(0, "MPI_Alltoallv", 0, 0x10, list{1, i, 1, i + 1}, list{0, 1, 2, 3}, typeInt,
			list{2, 2, i, 2}, list{0, 1, 2, 3}, typeInt, commWorld, 0x20)
		if i%10 == 0 {
			s.call(0, "MPI_Recv", 0, i, typeInt, anySource, 7, commWorld, 0x10, status{source: i % 3, tag: 7, bytes: 4 * i})
		}
		s.call(0, "MPI_Wait", 0, 500, 0x2c000000, status{})
		s.call(0, "MPI_Wait", 0, 501, 0x2c000000, status{})
	}
	return s
}

// wideHandles is a program whose calls differ in handles that come and go: requests in lists of all lengths and in any order,
// and datatypes that are never freed. want has, for each wait and send, the raw handles that it names.
func wideHandles(t testing.TB, iterations int) (s *fakeShim, waits [][]int64, sends []int64) {
	random := rand.New(rand.NewPCG(7, 7))
	s = newFakeShim(t)
	s.process.BootID = ""
	s.init(0, 64)
	next := int64(1 << 20)
	for range iterations {
		var some, null list
		var statuses stats
		for k := range 1 + random.IntN(9) {
			if k > 0 && random.IntN(6) == 0 {
				some, null, statuses = append(some, requestNull), append(null, requestNull), append(statuses, status{})
				continue
			}
			next += 16
			s.call(0, "MPI_Irecv", 0, 8, typeInt, random.Int64N(64), random.Int64N(1<<15), commWorld, 0x10, next)
			some, null = append(some, next), append(null, requestNull)
			statuses = append(statuses, status{source: random.Int64N(64), tag: random.Int64N(9), bytes: random.Int64N(1 << 20)})
		}
		random.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
		s.call(0, "MPI_Waitall", 0, len(some), some, null, statuses)
		waits = append(waits, some)
		next += 16
		s.call(0, "MPI_Type_contiguous", 0, 3, typeInt, next)
		made := next
		if len(sends) > 0 && random.IntN(2) == 0 {
			made = sends[random.IntN(len(sends))]
		}
		s.call(0, "MPI_Send", 0, 0x10, 1, made, 1, 7, commWorld)
		sends = append(sends, made)
	}
	return s, waits, sends
}
