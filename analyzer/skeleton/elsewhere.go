package skeleton

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An exchange is what calls of a step send, or receive, with any number of ranks.
type exchange struct {
	send      bool
	peer      expression
	tag, comm string // "": any tag
	times     []func(*spot) float64
	turns     func(*spot) int64 // iterations with different peers; nil: there are none
}

// exchanges records what the calls of a step send and receive. If only some ranks make them, the
// program is for the recorded number of ranks only, unless balance finds that everything sent is
// received with other numbers, too.
func (c *caller) exchanges(in scope) {
	partial := ""
	if n := len(c.ranksOf([]*step{c.step})); n < len(c.ranks) {
		partial = fmt.Sprintf("only %d of %d ranks come to %s", n, len(c.ranks), c.step.text())
	}
	op := c.step.meaning.Operation
	switch op {
	case semantics.Send, semantics.Receive, semantics.SendReceive:
	case semantics.MatchedReceive, semantics.Probe, semantics.MatchedProbe, semantics.RemoteAccess:
		c.noteRestriction(expression{fixed: partial})
		return
	default:
		return
	}
	if partial != "" {
		c.partial = append(c.partial, partial)
	}
	add := func(send bool, peer, tag semantics.Role) {
		one := exchange{send: send, peer: c.roles[peer], comm: c.comm(), times: in.times}
		if e := c.roles[tag]; isNumber(e.text) {
			one.tag = e.text
		}
		if c.turns != nil {
			one.turns = c.turns.value
		} else if one.peer.turns {
			one.peer.value = nil
		}
		c.messagesElsewhere = append(c.messagesElsewhere, one)
	}
	if op != semantics.Receive {
		add(true, semantics.Destination, semantics.Tag)
	}
	switch op {
	case semantics.Receive:
		add(false, semantics.Source, semantics.Tag)
	case semantics.SendReceive:
		tag := semantics.ReceiveTag
		if _, own := c.roles[tag]; !own {
			tag = semantics.Tag
		}
		add(false, semantics.Source, tag)
	}
}

// tested returns the numbers of ranks that balance checks: all up to twice the recorded number, or
// a few.
func tested(recorded int) []int {
	const all = 32
	var list []int
	for n := 1; n <= min(2*recorded, all); n++ {
		list = append(list, n)
	}
	if recorded > all/2 {
		list = append(list, recorded-1, recorded+1, 2*recorded)
	}
	return list
}

// minimumRanks decides whether the program runs on other numbers of ranks: everything sent must be
// received. It returns the smallest number for which that is so.
func (w *writer) minimumRanks() int {
	if len(w.fixed) > 0 {
		w.restrict("")
		return 0
	}
	for _, x := range w.messagesElsewhere {
		if x.peer.value == nil || slices.ContainsFunc(x.times, func(f func(*spot) float64) bool { return f == nil }) {
			w.restrict("")
			return 1
		}
	}
	recordedSpots := make([]spot, len(w.ranks))
	for i := range recordedSpots {
		recordedSpots[i] = *w.spotOf(i)
	}
	// unreceived messages in the recorded run make the check useless
	if w.balance(recordedSpots) != "" {
		w.restrict("")
		return 1
	}
	// number of ranks for which a program may be too large: a pipeline has two ends
	const fewest = 4
	least, recorded := 1, len(w.ranks)
	for _, n := range tested(recorded) {
		if spots := w.shape.spots(n); spots != nil {
			if why := w.balance(spots); why != "" {
				if n >= min(fewest, recorded) {
					w.restrict(why)
					return 0
				}
				least = n + 1
			}
		}
	}
	return least
}

// restrict records why the program is for the recorded number of ranks only, if it is: a reason,
// and what only some ranks do. If a grid has two ranks along a dimension, that is the reason: the
// logical program is that of ranks with all neighbors ("maximal communication processes",
// Logicalization of MPI communication traces, §4.3).
func (w *writer) restrict(why string) {
	reasons := append([]string{why}, w.partial...)
	if w.shape.isGrid() && slices.Contains(w.shape.extents, 2) && len(w.fixed)+len(w.partial) > 0 {
		w.fixed = append([]string{"in the " + w.shape.name + " that was recognized no rank has neighbors on both sides: record the program on 3 ranks or more along each dimension"}, w.fixed...)
	}
	for _, one := range reasons {
		w.noteRestriction(expression{fixed: one})
	}
}

// A channel is a sender and a receiver.
type channel struct {
	from, to  int64
	tag, comm string
}

// balance describes messages that are sent but not received in a run, or vice versa; "": none.
func (w *writer) balance(spots []spot) string {
	tags, sources := true, true
	for _, x := range w.messagesElsewhere {
		tags = tags && x.tag != ""
		sources = sources && x.peer.text != "MPI_ANY_SOURCE"
	}
	open := map[channel]float64{}
	var channels []channel // in order of first use
	why := ""
	for _, x := range w.messagesElsewhere {
		x.each(spots, func(rank int, peer int64, n float64) {
			if peer >= int64(len(spots)) || peer < 0 && peer != noRank && peer != anyRank {
				why = cmp.Or(why, fmt.Sprintf("on %d ranks, rank %d would have a peer %d", len(spots), rank, peer))
			}
			if peer == noRank {
				return
			}
			c := channel{int64(rank), peer, x.tag, x.comm}
			if !x.send {
				c.from, c.to, n = peer, int64(rank), -n
			}
			if !sources {
				c.from = anyRank
			}
			if !tags {
				c.tag = ""
			}
			if _, known := open[c]; !known {
				channels = append(channels, c)
			}
			open[c] += n
		})
	}
	const rounding = 1e-6
	for _, c := range channels {
		if n := open[c]; n > rounding || n < -rounding {
			done := "sent"
			if n < 0 {
				done = "received"
			}
			return cmp.Or(why, fmt.Sprintf("on %d ranks, %g messages from rank %d to %d would be %s only", len(spots), max(n, -n), c.from, c.to, done))
		}
	}
	return why
}

// anyRank is MPI_ANY_SOURCE as a number.
const anyRank = noRank - 1

// each visits the messages of an exchange by rank.
func (x *exchange) each(spots []spot, f func(rank int, peer int64, n float64)) {
	for i := range spots {
		s := &spots[i]
		n := 1.0
		for _, times := range x.times {
			n *= times(s)
		}
		if n == 0 {
			continue
		}
		if x.turns == nil || !x.peer.turns {
			f(s.rank, x.peer.value(s), n)
			continue
		}
		for turn := range int(x.turns(s)) {
			at := *s
			at.turn = turn
			f(s.rank, x.peer.value(&at), n/float64(x.turns(s)))
		}
	}
}
