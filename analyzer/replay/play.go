package replay

import (
	"context"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Play returns how long the run takes in each scenario, in nanoseconds, from the first entry into MPI_Init to the last
// exit from MPI_Finalize.
func Play(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, scenarios []Scenario) ([]int64, error) {
	p := newPlayer(t, scenarios)
	matcher := match.New(t, p)
	err := timeline.Each(ctx, t, clocks, func(c *timeline.Call) error {
		p.push(c)
		matcher.Call(c)
		p.pushed(c.Location)
		p.run()
		return nil
	})
	if err != nil {
		return nil, err
	}
	matcher.Finish()
	for i := range p.threads {
		p.ready = append(p.ready, i)
	}
	p.run()
	p.finish()
	return p.lengths(), nil
}

// player plays all scenarios at once. It is a match.Watcher.
type player struct {
	scenarios []Scenario
	locations []timeline.Location
	threads   []thread
	polls     match.Polls
	current   *step   // of the call that the matcher is told of
	ready     []int   // locations to look at
	room      []int64 // for times
	costs     costs
	free      []*step
}

// A thread is where its play is.
type thread struct {
	queue   []*step
	head    int
	entered bool // the first step has begun

	started  bool
	clock    []int64 // by scenario: when the last call ended
	last     int64   // and in the trace
	function uint16  // of the last call
	site     uint32

	attempt match.Attempt
	since   []int64 // when the polls began of which the next successful one is the last

	begin, end           []int64 // of the thread's part of the run
	initialized, through bool
}

// A step is a call that is waiting to be played.
type step struct {
	enter, exit int64
	function    uint16
	site        uint32
	kind        stepKind
	begin       int64 // since when it waited
	polls       bool  // it is the first of polls in vain
	nested      bool  // inside another call: a callback's
	completes   bool
	settled     bool
	posts       []*moment
	depends     []dependency
}

type stepKind uint8

const (
	ordinary stepKind = iota
	inputOutput
	initialization
	finalization
)

// A dependency is what a call cannot end before.
type dependency struct {
	on    *moment
	at    int64 // in the trace
	bytes int64
	hops  int32
}

func newPlayer(t timeline.Trace, scenarios []Scenario) *player {
	p := &player{scenarios: scenarios, locations: timeline.Locations(t)}
	p.threads, p.costs = make([]thread, len(p.locations)), costs{}
	return p
}

// push notes a call before the matcher is told of it.
func (p *player) push(c *timeline.Call) {
	s := new(step)
	if n := len(p.free); n > 0 {
		s = p.free[n-1]
		p.free = p.free[:n-1]
		*s = step{posts: s.posts[:0], depends: s.depends[:0]}
	}
	s.enter, s.exit, s.function, s.site = c.Enter, c.Exit, c.Function.ID, c.Signature.Site
	s.begin = c.Enter
	s.kind = kindOf(c.Function.Class)
	p.current = s
	th := &p.threads[c.Location]
	if !th.started {
		p.start(th, c)
	}
	kind := p.polls.Of(c.Event)
	th.attempt.See(kind, c)
	s.polls = kind == match.Missed && th.attempt.Since == c.Enter
	th.queue = append(th.queue, s)
}

func (p *player) pushed(location int) {
	p.current = nil
	p.ready = append(p.ready, location)
}

// start sets a thread's clock: the rank's first thread starts when it did, another as long after the first as it did.
func (p *player) start(th *thread, c *timeline.Call) {
	th.started, th.last = true, c.Enter
	for _, times := range []*[]int64{&th.clock, &th.since, &th.begin, &th.end} {
		*times = make([]int64, len(p.scenarios))
	}
	main := &p.threads[p.locations[c.Location].Main]
	for k := range th.clock {
		th.clock[k] = c.Enter
		if main != th && main.started {
			th.clock[k] = main.clock[k] + c.Enter - main.last
		}
	}
	copy(th.begin, th.clock)
}

// Posted implements match.Watcher.
func (p *player) Posted(e *match.End) {
	m := &moment{left: 1}
	e.Tag = m
	p.current.posts = append(p.current.posts, m)
}

// Opened implements match.Watcher.
func (p *player) Opened(c *match.Completion) {
	p.current.completes = true
	c.Tag = p.current
}

// Settled implements match.Handler.
func (p *player) Settled(c *match.Completion) {
	s := c.Tag.(*step)
	s.settled, s.begin = true, c.Begin
	p.costs.learn(s)
	p.ready = append(p.ready, c.Location)
}

// Message implements match.Handler.
func (p *player) Message(m *match.Message) {
	sent, posted := m.Send.Tag.(*moment), m.Receive.Tag
	if m.Receive.Done != nil {
		depend(m.Receive.Done, sent, m.Send.Post.Enter, m.Bytes, 1)
	}
	if !m.Receive.Probe && m.Send.Done != nil && rendezvous(m) {
		depend(m.Send.Done, posted.(*moment), m.Receive.Post.Enter, m.Bytes, 1)
	}
}

// depend notes that a call could not end before something happened, unless it did.
func depend(done *match.Completion, on *moment, at, bytes int64, hops int32) {
	if s := done.Tag.(*step); at <= s.exit {
		s.depends = append(s.depends, dependency{on, at, bytes, hops})
	}
}

// run plays what can be played.
func (p *player) run() {
	for len(p.ready) > 0 {
		location := p.ready[len(p.ready)-1]
		p.ready = p.ready[:len(p.ready)-1]
		p.advance(location)
	}
}

// advance plays a thread's calls as far as their dependencies are known.
func (p *player) advance(location int) {
	th := &p.threads[location]
	for th.head < len(th.queue) {
		s := th.queue[th.head]
		if s == p.current {
			return
		}
		if !th.entered {
			p.enter(th, location, s)
			th.entered = true
		}
		if s.completes && !s.settled {
			return
		}
		for i := range s.depends {
			if m := s.depends[i].on; !m.known() {
				m.waiting = append(m.waiting, location)
				return
			}
		}
		p.leave(th, s)
		th.entered = false
		th.queue[th.head] = nil
		th.head++
		p.free = append(p.free, s)
	}
	th.queue, th.head = th.queue[:0], 0
}

// enter plays the computation before a call, up to its entry.
func (p *player) enter(th *thread, location int, s *step) {
	gap := s.enter - th.last
	if s.nested = gap < 0; s.nested {
		p.enterNested(th, s, gap)
		return
	}
	r := Region{th.function, s.function, th.site, s.site}
	for k := range p.scenarios {
		passed := gap
		if f := p.scenarios[k].Compute; f != nil && th.function != 0 {
			passed = int64(math.Round(float64(gap) * f(location, r)))
		}
		th.clock[k] += passed
	}
	th.last = s.enter
	if s.kind == initialization && !th.initialized {
		th.initialized = true
		copy(th.begin, th.clock)
	}
	if s.polls {
		copy(th.since, th.clock)
	}
	for _, m := range s.posts {
		p.happens(m, th.clock)
	}
}

// enterNested plays the entry of a call that another call made, through a callback. It takes none of the thread's
// time, which the outer call has already taken.
func (p *player) enterNested(th *thread, s *step, gap int64) {
	at := make([]int64, len(th.clock))
	for k := range at {
		at[k] = th.clock[k]
		if p.scenarios[k].Network == nil {
			at[k] += gap
		}
	}
	for _, m := range s.posts {
		p.happens(m, at)
	}
}

// leave plays the call itself.
func (p *player) leave(th *thread, s *step) {
	if s.nested {
		return
	}
	if s.begin < s.enter {
		copy(th.clock, th.since) // it has been waiting since its first poll
	}
	own := p.costs.of(s)
	for k := range p.scenarios {
		th.clock[k] = p.end(&p.scenarios[k], k, s, th.clock[k], own)
	}
	th.last, th.function, th.site = s.exit, s.function, s.site
	if !th.through {
		copy(th.end, th.clock)
		th.through = s.kind == finalization
	}
}

// end is when a call that began at t ends in the k-th scenario.
func (p *player) end(scenario *Scenario, k int, s *step, t int64, own cost) int64 {
	n := scenario.Network
	if s.kind == inputOutput {
		n = nil
	}
	if scenario.Free != nil && scenario.Free(s.function, s.site) {
		own, n = cost{}, nil
	}
	if n == nil {
		t += own.local
	}
	for i := range s.depends {
		d := &s.depends[i]
		if at := d.on.at[k]; n == nil {
			t = max(t, at+own.transfer)
		} else {
			t = max(t, n.arrival(at, d.bytes, d.hops))
		}
	}
	if n != nil {
		t += int64(n.Overhead)
	}
	return t
}

// finish plays what depends on what never came: ranks that the trace lacks, or that ended early.
func (p *player) finish() {
	for again := true; again; {
		again = false
		for i := range p.threads {
			th := &p.threads[i]
			if th.head >= len(th.queue) {
				continue
			}
			s := th.queue[th.head]
			s.settled = true
			s.depends = slices.DeleteFunc(s.depends, func(d dependency) bool { return !d.on.known() })
			p.ready = append(p.ready, i)
			p.run()
			again = true
		}
	}
}

// lengths of the run.
func (p *player) lengths() []int64 {
	lengths := make([]int64, len(p.scenarios))
	for k := range lengths {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for i := range p.threads {
			if th := &p.threads[i]; th.started {
				first, last = min(first, th.begin[k]), max(last, th.end[k])
			}
		}
		if last > first {
			lengths[k] = last - first
		}
	}
	return lengths
}
