package eventlog

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Recorder is a match.Watcher that writes a Log during a matching pass.
type Recorder struct {
	log     *Log
	writers []writer
	chunk   int // approximate size of chunks
	slab    int // number of calls of a slab, or more while a section continues
	calls   int // number of calls in the current slab
	within  bool
	now     present
	shapes  map[shapeKey]int
	key     shapeKey // key of the latest shape
	shape   int      // and its number
	free    []*completion

	trees      *waitstate.Trees
	smallSends *waitstate.SmallSends
	late       []waitstate.Late // scratch for treeDependencies
	sending    sending
}

// present is the call that is being matched.
type present struct {
	location    int
	enter, exit int64
	overhead    int64
	index       uint64
	outside     bool
	terminal    int32
	poll        polling.Poll
	there       bool
	posted      bool
	completes   bool
	entries     []entry
}

type entry struct {
	number uint64
	shape  int
	part   int
	bytes  int64
}

// A writer is the state that the entries of a location are relative to.
type writer struct {
	exit        int64  // exit of the latest call
	number      uint64 // number of the latest collective entered
	left        uint64 // number of the latest collective left
	buffer      int64  // size of the latest collective with data
	bytes       int64  // size of the latest message
	ordinal     uint32 // ordinal of the latest call that was depended on
	posted      uint32 // number of calls so far that others may depend on
	outstanding outstanding
}

// A completion is a call whose dependencies are not all known to the matcher.
type completion struct {
	terminal int32
	outside  bool
	taken    waitstate.Taken // for its small messages: the latest one
	depends  []dependency
}

type dependency struct {
	at      int64 // in the trace
	on      match.EventID
	bytes   int64
	number  uint64
	part    int32
	awaited int32 // part
	from    int32 // its location
	hops    int32 // for onEntry: distance in the tree of a collective
	kind    byte
	small   bool // for a small message that a send may have waited for
	handshake
}

// A handshake is the role of a dependency in a handshake.
type handshake struct {
	legs   uint8 // number of latencies of the handshake; 0: the dependency cannot be part of one
	own    bool  // the dependency is on a call of the same thread
	always bool  // for all sizes
	inert  bool  // the call turned out not to have waited for it
}

// Encoded kinds of dependencies.
const (
	onMessage     = iota
	onSuchAnother // message of the same size as the previous one
	onEntry       // entry of another participant into a collective operation
	onCollective
	leftCollective // the call left a collective but does not depend on it
	onHandshake    // handshake of a message: legs, own and always follow in the same byte
)

// Bits of onHandshake.
const (
	legsShift       = 3
	ownCall         = 1 << 5
	alwaysHandshake = 1 << 6
	isInert         = 1 << 7
	kindMask        = 1<<legsShift - 1
)

// Encoded flags of a call; three bits of a polling.Poll follow from pollShift on. endOfSlab is not
// a valid combination: a call that is polling.Aside neither completes nor enters anything.
const (
	isOutside = 1 << iota
	hasOverhead
	isPosted
	completes
	entersCollective
	pollShift = iota
	endOfSlab = 0xff
)

type shapeKey struct {
	class                match.Class
	movement             semantics.Movement
	size, expected, root int
}

func keyOf(c *match.Collective) shapeKey {
	return shapeKey{c.Class, c.Movement, len(c.Parts), c.Expected(), c.Root}
}

// NewRecorder returns a Recorder for a trace.
func NewRecorder(t timeline.Trace) *Recorder {
	r := &Recorder{log: newLog(t), shapes: map[shapeKey]int{}, trees: waitstate.NewTrees(t), smallSends: waitstate.NewSmallSends(t)}
	n := max(1, len(r.log.Locations))
	r.writers = make([]writer, n)
	r.chunk = max(256, min(1<<14, 1<<23/n))
	r.slab = n * max(16, min(256, 1<<15/n)) // the results of root causes depend on this size
	return r
}

// See adds the next call. It must be called before the matcher's Call.
func (r *Recorder) See(c *match.Call) {
	r.write()
	n := &r.now // field by field: see match.Point.set
	n.location, n.enter, n.exit, n.overhead, n.index, n.outside = c.Location, c.Enter, c.Exit, c.Overhead, c.Index, c.Outside
	n.terminal, n.poll, n.there, n.posted, n.completes, n.entries = c.Terminal, c.Poll, true, false, false, n.entries[:0]
}

// Finish completes and returns the event log, after the matcher has finished.
func (r *Recorder) Finish() *Log {
	r.write()
	r.endSlab()
	r.vote()
	for i := range r.writers[:len(r.log.logs)] {
		l, w := &r.log.logs[i], &r.writers[i]
		for !w.outstanding.empty() {
			l.posts.tail = append(l.posts.tail, w.outstanding.pop())
		}
		for _, s := range [...]*stream{&l.calls, &l.completions, &l.posts} {
			s.flush(r.log.Spool)
			s.tail = nil
		}
	}
	return r.log
}

// Spool returns the spool of the log, for other data of the same pass.
func (r *Recorder) Spool() *Spool { return r.log.Spool }

// Close discards the event log.
func (r *Recorder) Close() { r.log.Close() }

// write writes the present call, which the matcher has processed.
func (r *Recorder) write() {
	n := &r.now
	if !n.there {
		return
	}
	n.there = false
	l, w := &r.log.logs[n.location], &r.writers[n.location]
	if !l.begun {
		l.begun, l.first = true, n.index
	}
	flags := byte(n.poll) << pollShift
	if n.outside {
		flags |= isOutside
	}
	if n.overhead != 0 {
		flags |= hasOverhead
	}
	if n.posted {
		flags |= isPosted
	}
	if n.completes {
		flags |= completes
	}
	if len(n.entries) > 0 {
		flags |= entersCollective
	}
	l.calls.tail = append(l.calls.tail, flags)
	b := binary.AppendUvarint(l.calls.tail, uint64(n.terminal))
	b = binary.AppendVarint(b, n.enter-w.exit)
	b = binary.AppendUvarint(b, uint64(n.exit-n.enter))
	w.exit = n.exit
	if n.overhead != 0 {
		b = binary.AppendVarint(b, n.overhead)
	}
	if len(n.entries) > 0 {
		b = binary.AppendUvarint(b, uint64(len(n.entries)))
		for _, e := range n.entries {
			b = binary.AppendVarint(b, int64(e.number-w.number))
			b = binary.AppendUvarint(b, uint64(e.shape))
			b = binary.AppendVarint(b, int64(e.part-n.location))
			if r.log.shapes[e.shape].Movement != semantics.NoMovement {
				b = binary.AppendVarint(b, e.bytes-w.buffer)
				w.buffer = e.bytes
			}
			w.number = e.number
		}
	}
	l.calls.tail = b
	l.calls.ended(r.log.Spool, r.chunk)
	if n.posted {
		r.settlePosts(n.location)
	}
	if r.calls++; r.calls >= r.slab && !r.within {
		r.endSlab()
	}
}

// Section implements match.Sectioner. A slab ends only at the end of a section, because the calls
// of a section may come location by location.
func (r *Recorder) Section(within bool) {
	r.smallSends.Section(within)
	r.write()
	if r.within = within; !within && r.calls >= r.slab {
		r.endSlab()
	}
}

func (r *Recorder) endSlab() {
	r.log.Calls += uint64(r.calls)
	r.calls = 0
	r.log.Slabs++
	for i := range r.log.logs {
		l := &r.log.logs[i].calls
		l.tail = append(l.tail, endOfSlab)
		l.ended(r.log.Spool, r.chunk)
	}
}

// eventID assigns the present call an id that dependencies refer to.
func (r *Recorder) eventID() match.EventID {
	w := &r.writers[r.now.location]
	if !r.now.posted {
		r.now.posted = true
		w.posted++
		w.outstanding.push()
	}
	w.outstanding.open(w.posted)
	return match.EventID{Location: int32(r.now.location), Ordinal: w.posted}
}

// Posted implements match.Watcher.
func (r *Recorder) Posted(e *match.End) { e.Posted = r.eventID() }

// Progressed implements match.Watcher.
func (r *Recorder) Progressed(e *match.End) { e.Progressed = r.eventID() }

// Entered implements match.Watcher.
func (r *Recorder) Entered(c *match.Collective, part int) {
	key := keyOf(c)
	if key != r.key || len(r.log.shapes) == 0 {
		n, known := r.shapes[key]
		if !known {
			n = len(r.log.shapes)
			r.shapes[key] = n
			r.log.shapes = append(r.log.shapes, &Shape{Class: c.Class, Movement: c.Movement, Size: len(c.Parts), Expected: c.Expected(), Root: c.Root})
		}
		r.key, r.shape = key, n
	}
	if hasTree(c) {
		c.Parts[part].Entered = r.eventID()
	}
	r.now.entries = append(r.now.entries, entry{c.Number, r.shape, part, c.Parts[part].Bytes})
}

// hasTree reports whether participants may wait for others in the middle of a collective; see
// treeDependencies.
func hasTree(c *match.Collective) bool {
	return c.Class == match.OneToAll || c.Class == match.AllToOne || c.Class == match.Prefix
}

// Retired implements match.Watcher.
func (r *Recorder) Retired(c *match.Collective) {
	if hasTree(c) {
		for i := range c.Parts {
			r.done(c.Parts[i].Entered)
		}
	}
}

// Opened implements match.Watcher.
func (r *Recorder) Opened(c *match.Completion) {
	r.now.completes = true
	var d *completion
	if n := len(r.free); n > 0 {
		d = r.free[n-1]
		r.free = r.free[:n-1]
		d.depends = d.depends[:0]
	} else {
		d = new(completion)
	}
	d.terminal, d.outside, d.taken = r.now.terminal, r.now.outside, waitstate.Taken{}
	c.Tag = d
}

// Settled implements match.Handler.
func (r *Recorder) Settled(c *match.Completion) {
	d := c.Tag.(*completion)
	r.settleSmall(c, d)
	if !d.outside {
		r.learn(c, d)
	}
	l, w := &r.log.logs[c.Location], &r.writers[c.Location]
	header := uint64(len(d.depends)) << 1
	if c.Begin < c.Enter {
		header |= 1
	}
	b := binary.AppendUvarint(l.completions.tail, header)
	if c.Begin < c.Enter {
		b = binary.AppendUvarint(b, uint64(c.Enter-c.Begin))
	}
	for i := range d.depends {
		on := &d.depends[i]
		if on.kind == onMessage && on.bytes == w.bytes {
			on.kind = onSuchAnother
		}
		if on.legs > 0 {
			b = append(b, on.handshake.kind())
			b = binary.AppendVarint(b, int64(on.on.Location)-int64(c.Location))
			b = binary.AppendVarint(b, int64(on.on.Ordinal)-int64(w.ordinal))
			b = binary.AppendVarint(b, on.bytes)
			w.ordinal = on.on.Ordinal
			continue
		}
		b = append(b, on.kind)
		switch on.kind {
		case onMessage, onSuchAnother, onEntry:
			b = binary.AppendVarint(b, int64(on.on.Location)-int64(c.Location))
			b = binary.AppendVarint(b, int64(on.on.Ordinal)-int64(w.ordinal))
			w.ordinal = on.on.Ordinal
			if on.kind == onMessage {
				b = binary.AppendVarint(b, on.bytes)
				w.bytes = on.bytes
			}
			if on.kind == onEntry {
				b = binary.AppendUvarint(b, uint64(on.hops))
			}
		default:
			b = binary.AppendVarint(b, int64(on.number-w.left))
			w.left = on.number
			if on.kind == onCollective {
				b = binary.AppendVarint(b, int64(on.part)-int64(c.Location))
				b = binary.AppendVarint(b, int64(on.awaited-on.part))
				b = binary.AppendVarint(b, int64(on.from)-int64(c.Location))
			}
		}
	}
	l.completions.tail = b
	l.completions.ended(r.log.Spool, r.chunk)
	r.free = append(r.free, d)
}

// learn updates the minimum cost of a call's class.
func (r *Recorder) learn(c *match.Completion, d *completion) {
	at, bytes, any := c.Begin, int64(0), false
	for i := range d.depends {
		on := &d.depends[i]
		if on.kind == leftCollective || on.own || on.inert {
			continue
		}
		if !any || on.at > at {
			at = on.at
		}
		any, bytes = true, max(bytes, on.bytes)
	}
	if !any {
		return
	}
	if all := r.log.leastOf(d.terminal, bytes); at > c.Begin {
		all.Transfer = max(0, min(all.Transfer, c.Exit-at))
	} else {
		all.Local = min(all.Local, c.Exit-c.Begin)
	}
}

// Message implements match.Handler.
func (r *Recorder) Message(m *match.Message) {
	send, receive := m.Send, m.Receive
	if done := receive.Done; done != nil {
		d := dependency{at: send.Post.Enter, on: send.Posted, bytes: m.Bytes, from: int32(send.Post.Location)}
		if m.Kind == match.Data && !receive.Probe && large(m) {
			d.legs = 3
		}
		if m.Kind != match.ExposedToStart && m.Kind != match.LockGiven || may(done, &send.Post) {
			r.depend(done, d)
		}
	}
	if m.Kind == match.Data && !receive.Probe {
		r.see(m)
		if waitstate.Rendezvous(m) {
			r.rendezvous(m)
		} else {
			r.small(m)
		}
	}
	switch m.Kind {
	case match.Data, match.ExposedToStart, match.Exposed, match.Accessed:
		if !receive.Probe {
			r.closed(send)
			r.closed(receive)
		}
	case match.Partition, match.LockGiven: // the same End may be reported again
	}
}

// large reports whether a message is large enough for a possible handshake.
func large(m *match.Message) bool { return m.Bytes >= waitstate.EagerLimit && waitstate.Rendezvous(m) }

// rendezvous adds the dependencies between both sides of a large message: the sender's request (one
// latency), the receiver's answer when it is ready (another one), and the data (the third).
func (r *Recorder) rendezvous(m *match.Message) {
	send, receive := m.Send, m.Receive
	always := send.Mode == semantics.Synchronous
	if done := receive.Done; done != nil {
		if send.Progressed.Ordinal > 0 && waitstate.Pulled(send, receive) {
			h := handshake{legs: 1, always: always}
			r.depend(done, dependency{at: send.Progress, on: send.Progressed, bytes: m.Bytes, handshake: h})
		}
		if large(m) {
			r.depend(done, dependency{on: readyCall(receive), bytes: m.Bytes, handshake: handshake{legs: 2, own: true}})
		}
	}
	done := send.Done
	if done == nil {
		return
	}
	// A send that ended before shows that it did not need the receive (unless it is synchronous),
	// or not the receiver's help.
	on, at := receive.Posted, receive.Post.EnterStamp()
	if there, again := waitstate.ReceiverReady(send, receive); again && receive.Progressed.Ordinal > 0 && waitstate.Awaited(done, there) {
		on, at = receive.Progressed, there
	}
	if always || waitstate.Awaited(done, at) {
		r.depend(done, dependency{at: at.At, on: on, bytes: m.Bytes, handshake: handshake{legs: 1, always: always}})
		r.depend(done, dependency{on: send.Posted, bytes: m.Bytes, handshake: handshake{legs: 2, own: true, always: always}})
	}
}

// small adds the dependency of a small send on its receiver. Whether the send waited for it is
// known when its call is settled.
func (r *Recorder) small(m *match.Message) {
	taken := r.smallSends.See(m)
	if taken.Class == 0 {
		return
	}
	own := m.Send.Done.Tag.(*completion)
	if best := own.taken; best.Class == 0 || taken.At > best.At || taken.At == best.At && taken.Class < best.Class {
		own.taken = taken
	}
	r.depend(m.Send.Done, dependency{at: taken.At, small: true, on: readyCall(m.Receive), bytes: m.Bytes, handshake: handshake{legs: 1}})
}

// settleSmall decides whether a call waited for the receivers of its small messages, and makes the
// dependencies inert if it did not.
func (r *Recorder) settleSmall(c *match.Completion, d *completion) {
	if d.taken.Class == 0 {
		return
	}
	since := c.Begin
	for i := range d.depends {
		if on := &d.depends[i]; !on.small && on.kind != leftCollective && !on.own {
			since = max(since, min(on.at, c.Exit))
		}
	}
	waited := r.smallSends.Waited(c, d.taken, since)
	for i := range d.depends {
		if on := &d.depends[i]; on.small {
			on.inert = !waited
		}
	}
}

// readyCall returns the call in which a receiver was ready to answer.
func readyCall(receive *match.End) match.EventID {
	if receive.Progressed.Ordinal > 0 && !receive.Brief {
		return receive.Progressed
	}
	return receive.Posted
}

// depend records that a call cannot end before an event. By the clocks it may have, because of
// rounding, clock errors or the times of lead ranks. The dependency is recorded all the same:
// otherwise the wait would count as the call's own cost. Its transfer time is then negative.
func (r *Recorder) depend(done *match.Completion, d dependency) {
	own := done.Tag.(*completion)
	own.depends = append(own.depends, d)
	if d.on.Ordinal > 0 {
		r.writers[d.on.Location].outstanding.use(d.on.Ordinal)
	}
}

// may reports whether a call can have waited for a cause that only some implementations, or some
// sizes, wait for: not if it clearly ended before.
func may(done *match.Completion, cause *match.Point) bool {
	return !cause.EnterStamp().After(done.ExitStamp())
}

// Collective implements match.Handler.
func (r *Recorder) Collective(c *match.Collective, part int) {
	done, awaited := c.Parts[part].Done, c.Awaited(part)
	if hasTree(c) {
		r.treeDependencies(c, part)
	}
	d := dependency{kind: leftCollective, number: c.Number, part: int32(part)}
	if awaited >= 0 && c.Complete() && c.Parts[awaited].Present() {
		at := &c.Parts[awaited].Post
		d.at, d.awaited, d.from = at.Enter, int32(awaited), int32(at.Location)
		// others need not synchronize, or not with a rank whose share is empty
		if c.Class == match.Barrier || c.Class == match.AllToAll || may(done, at) {
			d.kind = onCollective
		}
	}
	if c.Class == match.Prefix && c.Expected() < len(c.Parts) {
		r.absent(c)
	}
	r.depend(done, d)
}

// absent records the parts that are not in the trace.
func (r *Recorder) absent(c *match.Collective) {
	s := r.log.shapes[r.shapes[keyOf(c)]]
	if s.Absent != nil {
		return
	}
	for i := range c.Parts {
		if !c.Parts[i].Present() {
			s.Absent = append(s.Absent, i)
		}
	}
}

// closed releases the ids of an end: no other call will depend on it.
func (r *Recorder) closed(e *match.End) {
	r.done(e.Posted)
	r.done(e.Progressed)
}

func (r *Recorder) done(m match.EventID) {
	if m.Ordinal > 0 {
		r.writers[m.Location].outstanding.close(m.Ordinal)
		r.settlePosts(int(m.Location))
	}
}

// settlePosts writes the number of dependents of calls for which all dependents are known.
func (r *Recorder) settlePosts(location int) {
	l, w := &r.log.logs[location], &r.writers[location]
	for !w.outstanding.empty() && (w.outstanding.closed() || w.outstanding.isOverLimit()) {
		if r.now.there && r.now.posted && r.now.location == location && w.outstanding.first == w.posted {
			return // it may still be posted again
		}
		l.posts.tail = append(l.posts.tail, w.outstanding.pop())
	}
	l.posts.ended(r.log.Spool, r.chunk)
}
