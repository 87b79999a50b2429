package match

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/polling"
)

// A packed call is a Call in one cache line, without its time of entry, which its queue has. The
// calls of all locations are queued until their turn in the order of time. With many ranks the time
// for matching is dominated by fetching them from memory.
type packed struct {
	exit                  int64
	enterError, exitError uint32
	terminal              int32
	index                 uint32 // of the call, relative to the first one of the batch
	// its requests in the batch; or first is the request that it makes, or its index in whole
	first, after uint32
	comm, own    int32
	peer         int32 // destination; of a collective: the root
	source       int32 // of a collective: the lower half of its bytes
	tag          int32 // of a collective: the upper half of its bytes
	poll         polling.Poll
	flags        packedFlags
}

type packedFlags uint8

const (
	packedWhole packedFlags = 1 << iota // it is kept as a Call
	packedOutside
	packedApart
	packedOpen
	packedIdle
	packedUnsuccessful
	packedRequest // it makes a request
	packedKnown   // its requests are those of all calls of its terminal on its thread; see knownCalls
)

// pack packs a call whose requests in the batch begin at first. Calls of rare kinds, and calls with
// numbers that do not fit, are kept unpacked.
func (r *reader) pack(c *Call, first int, to *packed) {
	if !c.isPackable(r.begin) {
		to.flags, to.first = packedWhole, uint32(len(r.whole))
		r.whole = append(r.whole, *c)
		return
	}
	to.exit, to.terminal, to.poll, to.flags = c.Exit, c.Terminal, c.Poll, c.packedFlags()
	to.enterError, to.exitError, to.index = uint32(c.EnterError), uint32(c.ExitError), uint32(c.Index-r.begin)
	if c.idle {
		return
	}
	to.first, to.after = uint32(first), uint32(len(r.requests))
	to.comm, to.own, to.peer, to.source, to.tag = c.comm, c.own, c.dest, c.source, int32(c.tag)
	if c.plan.action == collective {
		to.peer, to.source, to.tag = c.root, int32(c.bytes), int32(c.bytes>>32)
	}
	if c.request != noRequest {
		to.flags |= packedRequest
		to.first = uint32(c.request)
	}
}

// isPackable reports whether c can be packed without loss, in a batch that begins with the call of
// index begin.
func (c *Call) isPackable(begin uint64) bool {
	if uint64(c.EnterError|c.ExitError)|(c.Index-begin) > math.MaxUint32 || c.Overhead != 0 || c.event != nil {
		return false
	}
	if c.idle || !c.operates() {
		return true
	}
	if c.plan.action == collective && (c.dest != noValue || c.source != noValue || c.tag != noValue) ||
		c.plan.action != collective && c.root != noValue {
		return false
	}
	return c.partitions == 0 && c.receiveTag == c.tag && c.tag == int64(int32(c.tag)) &&
		(c.request == noRequest || uint64(c.request) <= math.MaxUint32 && len(c.requests) == 0)
}

// operates reports whether the call's arguments describe an operation that it creates.
func (c *Call) operates() bool {
	switch c.plan.action {
	case send, receive, sendReceive, collective:
		return true
	}
	return c.open && (c.plan.action == probe || c.plan.action == matchedProbe)
}

func (c *Call) packedFlags() (flags packedFlags) {
	if c.Outside {
		flags |= packedOutside
	}
	if c.Apart {
		flags |= packedApart
	}
	if c.open {
		flags |= packedOpen
	}
	if c.idle {
		flags |= packedIdle
	}
	if c.unsuccessful {
		flags |= packedUnsuccessful
	}
	return flags
}

// unpack restores the call.
func (r *reader) unpack(p *packed, enter int64, c *Call) {
	if p.flags&packedWhole != 0 {
		*c = r.whole[p.first]
		return
	}
	of := &r.terminals[p.terminal]
	c.Location, c.Index = r.location, r.begin+uint64(p.index)
	c.Enter, c.Exit, c.EnterError, c.ExitError = enter, p.exit, int64(p.enterError), int64(p.exitError)
	c.Outside, c.Apart, c.Overhead = p.flags&packedOutside != 0, p.flags&packedApart != 0, 0
	c.Function, c.Semantics, c.Signature = of.function, of.semantics, of.signature
	c.Poll, c.Terminal = p.poll, p.terminal
	c.open, c.idle, c.unsuccessful = p.flags&packedOpen != 0, p.flags&packedIdle != 0, p.flags&packedUnsuccessful != 0
	c.prototype = prototype{plan: of.plan}
	c.request, c.requests, c.event = 0, nil, nil
	if c.idle {
		return
	}
	c.comm, c.own, c.request = p.comm, p.own, noRequest
	if c.operates() {
		c.dest, c.source, c.root = p.peer, p.source, noValue
		c.tag, c.receiveTag = int64(p.tag), int64(p.tag)
		if c.plan.action == collective {
			c.dest, c.source, c.root, c.tag, c.receiveTag = noValue, noValue, p.peer, noValue, noValue
			c.bytes = int64(p.tag)<<32 | int64(uint32(p.source))
		}
	}
	if p.flags&packedRequest != 0 {
		c.request = int64(p.first)
		return
	}
	if p.flags&packedKnown != 0 {
		c.requests = r.known[r.location].calls[p.terminal].requests
		return
	}
	c.requests = r.requests[p.first:p.after]
}
