package journal

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
)

// Rooted collectives go along a tree, and who is late in the middle of it holds up those below (one-to-all) or above
// (all-to-one). No trace tells the tree. What can be known is this: of a binomial tree, MPI libraries' usual choice,
// there are two, and a participant below nobody may leave before all above it have entered, nor one with others below
// before these have. Where that holds, and the participant's wait ended soon after the last of them came, compared with
// how long it was late, it waited for that one. What waits in a tree of another shape took its time itself, as far as
// is known, and keeps it as package replay has it.

// A tree is one of the two binomial trees over participants numbered from the root (0).
type tree uint8

const (
	lowBits  tree = iota // a participant's parent is it without its lowest bit (MPICH; Open MPI's in-order tree)
	highBits             // without its highest bit (Open MPI's broadcast)
	trees
)

// parent is who is above a participant other than the root.
func (s tree) parent(v int) int {
	if s == lowBits {
		return v & (v - 1)
	}
	return v &^ (1 << (bits.Len(uint(v)) - 1))
}

// below lists the participants of n whose way to the root goes through v.
func (s tree) below(v, n int, yield func(int)) {
	if s == lowBits {
		for w := v + 1; w < min(n, v+v&-v); w++ {
			yield(w)
		}
		return
	}
	for step, w := 1<<bits.Len(uint(v)), 0; ; {
		if w += step; v+w >= n {
			return
		}
		yield(v + w)
	}
}

// heldUp adds what a participant other than the root seems to have waited for in the middle of the tree.
func (r *Recorder) heldUp(c *match.Collective, part int) {
	n, done := len(c.Parts), c.Parts[part].Done
	if c.Root < 0 || n < 3 || r.between(c.Comm) {
		return
	}
	since := done.Begin
	if c.Class == match.OneToAll {
		since = max(since, c.Parts[c.Root].Post.Enter)
	}
	if done.Exit <= since {
		return
	}
	own := (part - c.Root + n) % n
	for s := range trees {
		last, late, holds := -1, r.late[:0], true
		see := func(v int) {
			i := (v + c.Root) % n
			if !c.Parts[i].Present() {
				return
			}
			at := c.Parts[i].Post
			holds = holds && !at.EnterStamp().After(done.ExitStamp())
			if at.Enter > since {
				late = append(late, c.Parts[i].Entered)
				if last < 0 || at.Enter > c.Parts[last].Post.Enter {
					last = i
				}
			}
		}
		if c.Class == match.OneToAll {
			for v := s.parent(own); v > 0; v = s.parent(v) {
				see(v)
			}
		} else {
			s.below(own, n, see)
		}
		r.late = late
		if !holds || last < 0 {
			continue
		}
		if at := c.Parts[last].Post.Enter; done.Exit-at < (at-since)/4 {
			hops := bits.OnesCount(uint(own)) - bits.OnesCount(uint((last-c.Root+n)%n))
			for _, on := range late {
				r.depend(done, dependency{kind: onEntry, at: at, on: on, hops: max(hops, -hops)})
			}
			return
		}
	}
}

// between tells whether a communicator is between two groups: its trees, if any, are not over all of its members.
func (r *Recorder) between(comm int) bool {
	return comm >= 0 && comm < len(r.communicators) && len(r.communicators[comm].Remote) > 0
}
