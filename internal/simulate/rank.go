package simulate

import (
	"time"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A Rank makes the MPI calls of one rank of a pattern. Peers, roots and sources are ranks in the communicator that is
// given; times are nanoseconds since the program's start.
type Rank struct {
	sim  *Simulation
	rank int
	now  int64
	line int

	world *Comm
	raw   rawHandles
	calls uint64   // so far
	log   []uint64 // records that the recorder has not seen
	rec   *recorder.Recorder

	evidence evidence

	// of the replay; nil and empty when the rank is alone
	yield      func(struct{}) bool
	next       func() (struct{}, bool)
	unexpected []*message // arrived, not received, in order of arrival
	posted     []*Request // receives without a message, in order
	missing    int        // awaited requests that have to be done before it goes on
	ended      bool
	waits      []Wait
}

// Rank is its number in MPI_COMM_WORLD.
func (r *Rank) Rank() int { return r.rank }

// Now is how long the program has run.
func (r *Rank) Now() time.Duration { return time.Duration(r.now) }

// At sets the line of the source that the next calls come from.
func (r *Rank) At(line int) *Rank {
	r.line = line
	return r
}

// World is MPI_COMM_WORLD.
func (r *Rank) World() *Comm { return r.world }

// A Comm is a rank's view of a communicator.
type Comm struct {
	id          uint64 // equal on all members
	raw         int64
	size, own   int
	members     []int // world ranks; nil: all, in order
	collectives uint64
}

// Own is the caller's rank in it.
func (c *Comm) Own() int { return c.own }

// Size is the number of its ranks.
func (c *Comm) Size() int { return c.size }

func (c *Comm) worldRank(rank int) int {
	if c.members == nil || rank < 0 {
		return rank
	}
	return c.members[rank]
}

// rankOf is the rank of a member.
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

// rawHandles hands out handles as MPI libraries do: one that was given back is the next to be used.
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
