package simulate

import (
	"time"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A Rank makes the MPI calls of one rank of a pattern. Peers, roots and sources are ranks in the
// given communicator. Times are in nanoseconds since the program's start.
type Rank struct {
	sim  *Simulation
	rank int
	now  int64
	line int

	world *Comm
	raw   rawHandles
	calls uint64   // so far
	log   []uint64 // records that the recorder has not processed
	rec   *recorder.Recorder

	evidence evidence

	// for the replay; nil and empty if the rank is simulated by itself
	yield      func(struct{}) bool
	next       func() (struct{}, bool)
	unexpected []*message // arrived but not received, in order of arrival
	posted     []*Request // receives without a message, in order
	missing    int        // requests that must complete before it continues
	ended      bool
	waits      []Wait
}

// Rank returns its number in MPI_COMM_WORLD.
func (r *Rank) Rank() int { return r.rank }

// Now returns how long the program has run.
func (r *Rank) Now() time.Duration { return time.Duration(r.now) }

// At sets the source line of the following calls.
func (r *Rank) At(line int) *Rank {
	r.line = line
	return r
}

// World returns MPI_COMM_WORLD.
func (r *Rank) World() *Comm { return r.world }

// A Comm is a rank's view of a communicator.
type Comm struct {
	id          uint64 // the same for all members
	raw         int64
	size, own   int
	members     []int // ranks in MPI_COMM_WORLD; nil: all, in order
	collectives uint64
}

// Own returns the caller's rank in it.
func (c *Comm) Own() int { return c.own }

// Size returns the number of its ranks.
func (c *Comm) Size() int { return c.size }

func (c *Comm) worldRank(rank int) int {
	if c.members == nil || rank < 0 {
		return rank
	}
	return c.members[rank]
}

// rankOf returns the rank of a member.
func (c *Comm) rankOf(world int) int {
	if c.members == nil {
		return world
	}
	for i, m := range c.members {
		if m == world {
			return i
		}
	}
	return -1
}

// rawHandles assigns handles like MPI libraries do: the handle that was freed last is reused first.
type rawHandles struct {
	free []int64
	last int64
}

func (h *rawHandles) take() int64 {
	if n := len(h.free); n > 0 {
		raw := h.free[n-1]
		h.free = h.free[:n-1]
		return raw
	}
	h.last++
	return h.last
}

func (h *rawHandles) give(raw int64) { h.free = append(h.free, raw) }
