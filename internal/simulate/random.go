package simulate

import (
	"errors"
	"math"
)

// A step of a random program is what one rank, two ranks or all ranks do together.
type step struct {
	kind     stepKind
	from, to int
	tag      int
	bytes    int
	line     int
}

type stepKind uint8

const (
	stepSend stepKind = iota // a blocking send and receive
	stepSynchronous
	stepPost     // a send and a receive that complete later
	stepWildcard // the receiver takes what arrives first
	stepExchange // MPI_Sendrecv both ways
	stepComplete // one rank completes what it has posted
	stepReduce   // all ranks, like the following kinds
	stepBroadcast
	stepAllToAll
	stepBarrier
	stepRows // all ranks, in communicators of every second rank
)

// Tags of a random program. Wildcard receives have their own tags, since they may take each other's
// messages.
const (
	tagWildcard = 1
	tagRandom   = 2
	randomTags  = 200
)

// random makes random calls. c.Variety different steps are drawn from a heavy-tailed distribution,
// singly or in phrases that are repeated a few times. All ranks follow the same order of steps, so
// that there is no deadlock, but each rank completes posted requests at random times.
func random(c *Config) (func(r *Rank), error) {
	if c.NoReplay {
		return nil, errors.New("simulate: random needs the replay: what is received next depends on time")
	}
	steps := make([]step, c.Variety)
	for i := range steps {
		steps[i] = randomStep(c, uint64(i))
	}
	order := randomOrder(c)
	return func(r *Rank) {
		rows := everyOther(r)
		var posted []*Request
		for i, s := range order {
			posted = r.step(&steps[s], i, rows, posted)
		}
		if len(posted) > 0 {
			r.At(80).Waitall(posted)
		}
	}, nil
}

// randomStep returns the i-th kind of step.
func randomStep(c *Config, i uint64) step {
	h := mix(c.Seed, i, 1)
	s := step{line: 100 + int(mix(h, 2)%64), tag: tagRandom + int(mix(h, 3)%randomTags)}
	s.from = int(mix(h, 4) % uint64(c.Ranks))
	s.to = (s.from + 1 + heavy(mix(h, 5), c.Ranks)) % c.Ranks
	s.bytes = c.Bytes / 8 * (1 + heavy(mix(h, 6), randomTags))
	switch k := mix(h, 7) % 100; {
	case k < 20:
		s.kind = stepSend
	case k < 25:
		s.kind = stepSynchronous
	case k < 60:
		s.kind = stepPost
	case k < 68:
		s.kind, s.tag, s.bytes = stepWildcard, tagWildcard, min(s.bytes, c.Model.Eager)
	case k < 75:
		s.kind = stepExchange
	case k < 97:
		s.kind = stepComplete
	default:
		s.kind = stepReduce + stepKind(mix(h, 8)%uint64(stepRows-stepReduce+1))
	}
	if s.from == s.to && s.kind != stepComplete && s.kind < stepReduce {
		s.kind = stepPost // only the rank itself receives what it sends to itself
	}
	return s
}

// randomOrder returns the sequence of steps: about as many for each rank as it has iterations.
func randomOrder(c *Config) []int32 {
	n := c.Iterations * (c.Ranks + 1) / 2
	order := make([]int32, 0, n)
	draw := func(h uint64) int32 { return int32(heavy(h, c.Variety)) }
	for k := uint64(0); len(order) < n; k++ {
		h := mix(c.Seed, k, 11)
		if h%4 == 0 {
			order = append(order, draw(mix(h, 12)))
			continue
		}
		phrase := uint64(heavy(mix(h, 13), c.Variety))
		length, times := 1+mix(phrase, 14)%8, 1+heavy(mix(h, 15), 30)
		for range times {
			for i := range length {
				order = append(order, draw(mix(c.Seed, phrase, i, 16)))
			}
		}
	}
	return order[:n]
}

// heavy returns a number below n with a uniformly distributed logarithm, so that small ones are
// more frequent.
func heavy(h uint64, n int) int {
	u := float64(h>>11) / (1 << 53)
	return min(n, int(math.Pow(float64(n)+1, u))) - 1
}

// everyOther returns the communicator of all ranks with the caller's parity.
func everyOther(r *Rank) *Comm {
	var members []int
	for i := r.rank % 2; i < r.sim.config.Ranks; i += 2 {
		members = append(members, i)
	}
	return r.At(20).Split(r.World(), r.rank%2, r.rank, members)
}

// maxPosted limits the incomplete requests of a rank.
const maxPosted = 40

// step is a rank's part of a step, if it has one. It returns the requests that are incomplete after
// it.
func (r *Rank) step(s *step, number int, rows *Comm, posted []*Request) []*Request {
	r.At(s.line)
	if s.kind >= stepReduce {
		r.Work(number)
		r.together(s, rows)
		return posted
	}
	if r.rank == s.from {
		r.Work(number)
		switch s.kind {
		case stepSend, stepWildcard:
			r.Send(r.World(), s.to, s.tag, s.bytes)
		case stepSynchronous:
			r.Ssend(r.World(), s.to, s.tag, s.bytes)
		case stepPost:
			posted = append(posted, r.Isend(r.World(), s.to, s.tag, s.bytes))
		case stepExchange:
			r.Sendrecv(r.World(), s.to, s.tag, s.bytes, s.to, s.tag)
		case stepComplete:
			posted = r.completeSome(posted, mix(r.sim.config.Seed, uint64(number), uint64(r.rank)))
		}
	}
	if r.rank == s.to {
		switch s.kind {
		case stepSend, stepSynchronous:
			r.Recv(r.World(), s.from, s.tag, s.bytes)
		case stepWildcard:
			r.Recv(r.World(), AnySource, s.tag, s.bytes)
		case stepPost:
			posted = append(posted, r.Irecv(r.World(), s.from, s.tag, s.bytes))
		case stepExchange:
			r.Sendrecv(r.World(), s.from, s.tag, s.bytes, s.from, s.tag)
		}
	}
	if len(posted) > maxPosted {
		r.Waitall(posted)
		posted = nil
	}
	return posted
}

// together is a collective step.
func (r *Rank) together(s *step, rows *Comm) {
	switch s.kind {
	case stepReduce:
		r.Allreduce(r.World(), s.bytes)
	case stepBroadcast:
		r.Bcast(r.World(), s.from, s.bytes)
	case stepAllToAll:
		r.Alltoall(r.World(), s.bytes)
	case stepBarrier:
		r.Barrier(r.World())
	case stepRows:
		r.Allreduce(rows, s.bytes)
	}
}

// completeSome completes all of the posted requests, one of them, or the first that completes.
func (r *Rank) completeSome(posted []*Request, h uint64) []*Request {
	if len(posted) == 0 {
		return posted
	}
	switch h % 4 {
	case 0:
		r.Waitall(posted)
		return nil
	case 1:
		index, _ := r.Waitany(posted)
		return append(posted[:index:index], posted[index+1:]...)
	default:
		index := int(mix(h, 21) % uint64(len(posted)))
		r.Wait(posted[index])
		return append(posted[:index:index], posted[index+1:]...)
	}
}
