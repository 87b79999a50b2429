package causality

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Latency is the minimum time in nanoseconds between a cause and its effect. It is large enough for
// a reader that sorts events by time to get them in order.
const Latency = 1

// never is before every time.
const never = math.MinInt64

// A Finder is a match.Watcher that computes the Correction of a trace. The caller must pass every
// call to See before it passes it to the matcher, and call Finish when the matcher has finished.
type Finder struct {
	communicators []trace.Communicator
	threads       []thread
	posts         map[match.EventID]*enterTime // of sends that may still be received
	correction    Correction
	ready         []int // locations that can advance
}

// An enterTime is the corrected time at which a call was entered, or the latest of
// several of these.
type enterTime struct {
	time int64
	open int // number of missing inputs
	// Dependents: ends of calls, and enterTimes that are the latest of several.
	exits []*exit
	joins []*enterTime
}

// An exit is the end of a call that completed operations.
type exit struct {
	location int
	call     uint64
	at       int64 // uncorrected
	earliest int64 // lower bound by the causes known so far
	open     int   // number of causes without a time yet
	settled  bool  // all causes have been added
}

// after makes x come after a cause; never is no cause.
func (x *exit) after(cause int64) {
	if cause != never {
		x.earliest = max(x.earliest, cause+Latency)
	}
}

// A thread is one location, with its enters and exits that have no corrected time yet, in order.
type thread struct {
	queue []pending
	head  int
	// The call that the matcher processes at present.
	call  uint64
	enter int64
	begun *enterTime // nil: not needed so far
	marks uint32
}

// A pending is an enter or an exit.
type pending struct {
	at    int64
	enter *enterTime
	exit  *exit
}

// NewFinder returns a finder for a trace.
func NewFinder(t timeline.Trace) *Finder {
	locations := t.Threads().Len()
	return &Finder{
		communicators: t.Communicators(), threads: make([]thread, locations), posts: map[match.EventID]*enterTime{},
		correction: Correction{lines: make([]line, locations)},
	}
}

// See records the next call, before it is matched.
func (f *Finder) See(c *match.Call) {
	t := &f.threads[c.Location]
	t.call, t.enter, t.begun = c.Index, c.Enter, nil
}

// entered returns the time at which a location enters the current call.
func (f *Finder) entered(location int) *enterTime {
	t := &f.threads[location]
	if t.begun == nil {
		t.begun = &enterTime{time: never, open: 1}
		if t.head == len(t.queue) {
			f.know(t.begun, f.correction.lines[location].own(t.enter))
		} else {
			t.queue = append(t.queue, pending{at: t.enter, enter: t.begun})
		}
	}
	return t.begun
}

// Posted implements match.Watcher.
func (f *Finder) Posted(e *match.End) {
	t := &f.threads[e.Post.Location]
	if e.Posted != (match.EventID{}) {
		delete(f.posts, e.Posted)
	}
	t.marks++
	e.Posted = match.EventID{Location: int32(e.Post.Location), Ordinal: t.marks}
	f.posts[e.Posted] = f.entered(e.Post.Location)
}

// Opened implements match.Watcher.
func (f *Finder) Opened(c *match.Completion) {
	f.entered(c.Location)
	t := &f.threads[c.Location]
	x := &exit{location: c.Location, call: t.call, at: c.Exit, earliest: never}
	c.Tag = x
	t.queue = append(t.queue, pending{at: c.Exit, exit: x})
}

// Progressed implements match.Watcher.
func (f *Finder) Progressed(*match.End) {}

// Message implements match.Handler.
func (f *Finder) Message(m *match.Message) {
	send := f.posts[m.Send.Posted]
	if !m.Receive.Probe && m.Kind != match.Partition {
		delete(f.posts, m.Send.Posted)
		delete(f.posts, m.Receive.Posted)
	}
	if m.Receive.Done == nil || m.Kind == match.ExposedToStart || m.Kind == match.LockGiven {
		return // nobody had to wait for it, or it is unknown
	}
	f.after(m.Receive.Done, send)
}

// after makes a call end after an enter; nil: unknown.
func (f *Finder) after(done *match.Completion, cause *enterTime) {
	x, is := done.Tag.(*exit)
	if cause == nil || !is {
		return
	}
	if cause.open == 0 {
		x.after(cause.time)
		return
	}
	x.open++
	cause.exits = append(cause.exits, x)
}

// Settled implements match.Handler.
func (f *Finder) Settled(c *match.Completion) {
	if x, is := c.Tag.(*exit); is {
		x.settled = true
		f.ready = append(f.ready, c.Location)
		f.drain()
	}
}

// drain computes the corrected times that can be computed.
func (f *Finder) drain() {
	for len(f.ready) > 0 {
		location := f.ready[len(f.ready)-1]
		f.ready = f.ready[:len(f.ready)-1]
		f.advance(location, false)
	}
}

// advance processes the events of a location as far as causes are known; force: to the end.
func (f *Finder) advance(location int, force bool) {
	t, l := &f.threads[location], &f.correction.lines[location]
	for t.head < len(t.queue) {
		e := &t.queue[t.head]
		if e.exit != nil && !force && (!e.exit.settled || e.exit.open > 0) {
			break
		}
		t.head++
		if e.enter != nil {
			f.know(e.enter, l.own(e.at))
		} else {
			f.end(l, e.exit)
		}
	}
	if t.head == len(t.queue) {
		t.queue, t.head = t.queue[:0], 0
	} else if t.head > len(t.queue)/2+64 {
		t.queue = t.queue[:copy(t.queue, t.queue[t.head:])]
		t.head = 0
	}
}

// end computes the time of an exit.
func (f *Finder) end(l *line, x *exit) {
	own := l.own(x.at)
	if x.earliest <= own {
		return
	}
	l.move(x.at, x.earliest-x.at)
	l.keep(step{x.call, l.shift})
	f.correction.Repaired++
	f.correction.LargestNS = max(f.correction.LargestNS, x.earliest-own)
}

// know supplies one of the inputs of an enterTime.
func (f *Finder) know(m *enterTime, time int64) {
	m.time = max(m.time, time)
	if m.open--; m.open > 0 {
		return
	}
	for _, x := range m.exits {
		x.after(m.time)
		if x.open--; x.open == 0 {
			f.ready = append(f.ready, x.location)
		}
	}
	for _, join := range m.joins {
		f.know(join, m.time)
	}
	m.exits, m.joins = nil, nil
}

// Finish returns the correction. Calls with unknown causes, because ranks ended early, are not
// moved.
func (f *Finder) Finish() *Correction {
	for location := range f.threads {
		f.advance(location, true)
		f.drain()
	}
	return &f.correction
}
