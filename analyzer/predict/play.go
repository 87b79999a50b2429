package predict

import (
	"context"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// A Length is the duration of the run in a scenario, in nanoseconds.
type Length struct {
	Run int64 // from the first entry into MPI_Init to the last exit from MPI_Finalize
	// Program leaves out the launch, which differs from run to run: it is from when the last rank
	// has left MPI_Init until the last one enters MPI_Finalize.
	Program int64
}

// Lengths returns the duration of the run in each scenario.
func Lengths(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, scenarios []Scenario) ([]Length, error) {
	if err := timeline.NeedTimes(t, "a prediction"); err != nil {
		return nil, err
	}
	j, err := eventlog.Record(ctx, t, clocks)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	p, err := play(ctx, j, math.MaxInt64, scenarios, nil)
	if err != nil {
		return nil, err
	}
	return p.lengths(), nil
}

// Play returns Length.Run of each scenario.
func Play(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, scenarios []Scenario) ([]int64, error) {
	lengths, err := Lengths(ctx, t, clocks, scenarios)
	return runs(lengths), err
}

// Played is the result of PlayMarks.
type Played struct {
	Runs   []int64   // Length.Run of each scenario
	Marks  Marks     // times of the marks in the first scenario
	Longer [][]int64 // by scenario and location: additional computation in nanoseconds, may be negative
}

// PlayMarks is Play for an event log, of which it replays the part until a time: later times count
// as that one. Marks may be nil.
func PlayMarks(ctx context.Context, j *eventlog.Log, until int64, scenarios []Scenario, marks Marks) (Played, error) {
	p, err := play(ctx, j, until, scenarios, marks)
	if err != nil {
		return Played{}, err
	}
	played := Played{Runs: runs(p.lengths()), Marks: make(Marks, len(marks)), Longer: make([][]int64, len(scenarios))}
	for i := range played.Marks {
		played.Marks[i] = p.threads[i].passed.rest()
	}
	for k := range played.Longer {
		played.Longer[k] = make([]int64, len(p.threads))
		for i := range p.threads {
			if longer := p.threads[i].longer; longer != nil {
				played.Longer[k][i] = longer[k]
			}
		}
	}
	return played, nil
}

func runs(lengths []Length) []int64 {
	runs := make([]int64, len(lengths))
	for k := range lengths {
		runs[k] = lengths[k].Run
	}
	return runs
}

// play replays the event log: in each slab one location after the other, each as far as it gets
// before it needs another one. A call is read when it is its turn: only the call for which a
// location waits is kept.
func play(ctx context.Context, j *eventlog.Log, until int64, scenarios []Scenario, marks Marks) (*player, error) {
	p := newPlayer(j, scenarios)
	p.until = until
	for i := range p.threads {
		p.threads[i].reader = j.Read(i)
	}
	for i := range marks {
		p.threads[i].passed.times = marks[i]
	}
	_, pass, end := passes.Calls(passes.Named(ctx, "replaying calls"), j.Calls)
	defer end()
	for p.slabs < j.Slabs {
		pass.At(p.slabs, j.Slabs)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.slabs++
		for i := range p.threads {
			p.ready = append(p.ready, i)
			p.run()
		}
	}
	p.finish()
	for i := range p.threads {
		if err := p.threads[i].reader.Err(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// player replays all scenarios at once.
type player struct {
	log         *eventlog.Log
	until       int64 // times after this one are not replayed
	handshakes  int64 // minimum size of messages with a handshake, as measured in the run
	scenarios   []Scenario
	computing   []int     // scenarios with changed computations
	keeps       []float64 // by call site and scenario: Scenario.Keeps,
	ignores     []bool    // and Scenario.Ignores
	costly      [][]int   // by call site: scenarios in which its calls have another cost
	locations   []timeline.Location
	threads     []thread
	collectives map[uint64]*collectiveInstance
	slabs       int     // number of slabs that may be replayed
	ready       []int   // locations that may be able to advance
	room        []int64 // memory for times
	freed       []*event
}

// A thread is the position of a thread in the replay.
type thread struct {
	reader  *eventlog.Reader
	slabs   int  // number of slabs completed
	step    step // the current call,
	called  bool // if there is one,
	entered bool // and it has begun
	posts   posts

	started  bool
	last     int64   // end of the last call in the trace,
	late     []int64 // and its delay in each scenario: unchanged durations do not change it
	function uint16  // of the last call that is no local query
	site     uint32
	open     int64 // computation since then, up to the last query

	longer []int64 // by scenario: additional computation

	attempt polling.Attempt
	since   []int64 // begin of the current sequence of unsuccessful polls

	begin, in            []int64 // begin of the thread's part of the run, and exit from MPI_Init
	out, end             []int64 // entry into MPI_Finalize, and exit from it
	initialized, through bool
	left                 bool // MPI_Init
	passed               passed
}

// A step is a call that is being replayed.
type step struct {
	enter, exit int64
	held        int64 // tracer overhead before enter
	function    uint16
	site        uint32
	terminal    int32
	place       int32
	kind        stepKind
	begin       int64 // begin of its wait
	polls       bool  // it is the first of some unsuccessful polls
	query       bool  // it only queries local state
	idle        bool  // the time before it is not computation: polling, or tracing is off
	nested      bool  // inside another call: a callback's
	outside     bool  // outside of the window of the analysis
	posts       []*event
	depends     []dependency
	inert       []dependency // that turned out not to matter
	handshakes  []dependency // on calls of its own thread, for the handshakes of messages on another network
}

type stepKind uint8

const (
	ordinary stepKind = iota
	inputOutput
	initialization
	finalization
)

// A dependency is something that must precede the end of a call.
type dependency struct {
	on    *event
	post  match.EventID // the call whose entry it is; Ordinal 0: a collective operation
	bytes int64
	hops  int32
	// for a collective operation: the operation, and the call's part in it
	of   *collectiveInstance
	part int32
	// for a handshake: whether a network that uses one for the size needs it, or always; hops is
	// the number of latencies
	handshake, always bool
	// for a message: the locations of its ends
	from, to int32
}

func newPlayer(j *eventlog.Log, scenarios []Scenario) *player {
	p := &player{
		log: j, handshakes: j.Handshakes(), scenarios: scenarios,
		locations: j.Locations, threads: make([]thread, len(j.Locations)), collectives: map[uint64]*collectiveInstance{},
	}
	for k := range scenarios {
		if scenarios[k].Compute != nil || scenarios[k].Takes != nil {
			p.computing = append(p.computing, k)
		}
	}
	for _, site := range j.CallSites() {
		for k := range scenarios {
			s := &scenarios[k]
			keeps := 1.0
			if s.Keeps != nil {
				keeps = s.Keeps(site.Function, site.Site)
			}
			p.keeps = append(p.keeps, keeps)
			p.ignores = append(p.ignores, s.Ignores != nil && s.Ignores(site.Function, site.Site))
		}
	}
	p.costly = make([][]int, len(j.CallSites()))
	for at := range p.keeps {
		if place, k := at/len(scenarios), at%len(scenarios); p.keeps[at] < 1 || scenarios[k].Network != nil {
			p.costly[place] = append(p.costly[place], k)
		}
	}
	return p
}

// next moves to the thread's next call; false if there is none in the slabs that may be replayed.
func (p *player) next(th *thread) bool {
	for ; th.slabs < p.slabs; th.slabs++ {
		if th.reader.Next() {
			p.take(th)
			return true
		}
	}
	return false
}

// take makes a step of the current call of the thread's reader.
func (p *player) take(th *thread) {
	r, s := th.reader, &th.step
	c := &r.Record
	s.enter, s.exit = min(c.Enter, p.until), min(c.Exit, p.until)
	s.held, s.begin = c.Overhead, s.enter
	if c.Enter > p.until {
		s.held = 0
	}
	s.function, s.site, s.terminal, s.place, s.kind = c.Function.ID, c.Signature.Site, r.Terminal, r.CallSite, kindOf(c.Semantics)
	s.outside, s.nested, s.query = c.Outside, false, c.Semantics.IsLocalQuery()
	s.posts, s.depends, s.inert, s.handshakes = s.posts[:0], s.depends[:0], s.inert[:0], s.handshakes[:0]
	if !th.started {
		p.start(th, c)
	}
	_, asks := th.attempt.See(r.Poll, c)
	s.idle = asks || c.Signature.Untraced
	s.polls = r.Poll.Kind() == polling.Missed && th.attempt.Since == c.Enter
	if r.Posted {
		if m := p.post(&th.posts, r.Dependents()); m != nil {
			s.posts = append(s.posts, m)
		}
	}
	for i := range r.Entries {
		p.gather(s, &r.Entries[i])
	}
	if r.Completes {
		var depends []eventlog.Dependency
		s.begin, depends = r.Completion()
		s.begin = min(s.begin, p.until)
		for i := range depends {
			p.depend(s, c.Location, &depends[i])
		}
	}
}

func (p *player) depend(s *step, location int, on *eventlog.Dependency) {
	d := dependency{
		post: on.On, bytes: on.Bytes, hops: on.Hops, handshake: on.Handshake, always: on.Always, from: int32(on.From), to: int32(location),
	}
	if d.post.Ordinal > 0 {
		d.on = p.event(&p.threads[d.post.Location].posts, d.post.Ordinal)
	} else if d.on, d.of = p.gathered(on); d.on == nil {
		return
	} else {
		d.part = int32(on.Part)
	}
	if on.Inert {
		s.inert = append(s.inert, d)
		return
	}
	if on.Own {
		s.handshakes = append(s.handshakes, d)
		return
	}
	s.depends = append(s.depends, d)
}

// start sets a thread's clock: the rank's first thread starts when it did, and another one as long
// after the first as it did.
func (p *player) start(th *thread, c *timeline.Record) {
	th.started, th.last = true, c.Enter
	for _, times := range []*[]int64{&th.late, &th.since, &th.begin, &th.end, &th.in, &th.out, &th.longer} {
		*times = make([]int64, len(p.scenarios))
	}
	if main := &p.threads[p.locations[c.Location].Main]; main != th && main.started {
		copy(th.late, main.late)
	}
	th.now(th.begin)
	th.now(th.in)
}

// now sets clock to the end of the thread's last call in each scenario.
func (th *thread) now(clock []int64) {
	for k, late := range th.late {
		clock[k] = th.last + late
	}
}

// run replays everything that can be replayed.
func (p *player) run() {
	for len(p.ready) > 0 {
		location := p.ready[len(p.ready)-1]
		p.ready = p.ready[:len(p.ready)-1]
		p.advance(location)
	}
}

// advance replays a thread's calls as far as their dependencies are known.
func (p *player) advance(location int) {
	th := &p.threads[location]
	for s := &th.step; ; {
		if !th.called && !p.next(th) {
			return
		}
		th.called = true
		if !th.entered {
			p.enter(th, location, s)
			th.entered = true
		}
		if m := s.awaits(); m != nil {
			m.waiting = append(m.waiting, location)
			return
		}
		p.leave(th, s)
		p.used(s)
		th.called, th.entered = false, false
	}
}

// awaits returns a dependency of a call that has not been replayed, nil if there is none.
func (s *step) awaits() *event {
	for _, list := range [...][]dependency{s.depends, s.inert} {
		for i := range list {
			if m := list[i].on; !m.known() {
				return m
			}
		}
	}
	return nil
}

// enter replays the computation before a call, up to its entry.
func (p *player) enter(th *thread, location int, s *step) {
	gap := s.enter - th.last
	if s.nested = gap < 0; s.nested {
		p.enterNested(th, s, gap)
		return
	}
	if th.function != 0 {
		p.compute(th, location, s, gap-s.held)
	}
	th.last = s.enter
	if len(th.late) > 0 {
		th.passed.to(s.enter, s.enter+th.late[0])
	}
	if s.kind == initialization && !th.initialized {
		th.initialized = true
		th.now(th.begin)
	}
	if s.kind == finalization && !th.through {
		th.now(th.out)
	}
	if s.polls {
		th.now(th.since)
	}
	for _, m := range s.posts {
		p.happens(m, s.enter, s.enter, th.late)
	}
}

// compute replays the computation before a call, of ns nanoseconds. Local queries do not divide a
// computation, which is replayed as a whole before the call that ends it: nothing depends on a
// query.
func (p *player) compute(th *thread, location int, s *step, ns int64) {
	if ns > 0 && !s.idle {
		th.open += ns
	}
	if s.query && (ns <= 0 || !s.idle) {
		return
	}
	r := Region{th.function, s.function, th.site, s.site}
	change := func(ns int64, idle bool) {
		for _, k := range p.computing {
			longer := p.scenarios[k].longer(location, r, ns, idle)
			th.late[k] += longer
			th.longer[k] += longer
		}
	}
	if ns > 0 && s.idle {
		change(ns, true)
	}
	if th.open > 0 && !s.query {
		change(th.open, false)
		th.open = 0
	}
}

// enterNested replays the entry of a call that another call made, through a callback. It takes none
// of the thread's time, which the outer call includes.
func (p *player) enterNested(th *thread, s *step, gap int64) {
	at := make([]int64, len(th.late))
	th.now(at)
	for k := range at {
		if p.scenarios[k].Network == nil {
			at[k] += gap
		}
	}
	for _, m := range s.posts {
		p.happens(m, s.enter, 0, at)
	}
}

// leave replays the call itself.
func (p *player) leave(th *thread, s *step) {
	if s.nested {
		return
	}
	if s.begin < s.enter {
		for k, since := range th.since { // it has been waiting since its first poll
			th.late[k] = since - s.begin
		}
	}
	if len(s.depends)+len(s.handshakes) == 0 {
		p.spend(th, s)
	} else {
		own := p.cost(s)
		for k := range p.scenarios {
			th.late[k] = p.end(&p.scenarios[k], k, s, s.begin+th.late[k], own) - s.exit
		}
	}
	th.last = s.exit
	if !s.query || th.function == 0 {
		th.function, th.site = s.function, s.site
	}
	if len(th.late) > 0 {
		th.passed.to(s.exit, s.exit+th.late[0])
	}
	if s.kind == initialization && !th.left {
		th.left = true
		th.now(th.in)
	}
	if s.kind == finalization && !th.through {
		th.through = true
		th.now(th.end)
	}
}

// spend replays a call without dependencies, which is the most frequent case; it is end,
// simplified.
func (p *player) spend(th *thread, s *step) {
	keeps, took := p.keeps[int(s.place)*len(p.scenarios):], s.exit-s.begin
	for _, k := range p.costly[s.place] {
		switch {
		case keeps[k] < 1:
			th.late[k] -= took - int64(keeps[k]*float64(took))
		case s.kind != inputOutput && !s.outside:
			th.late[k] += int64(p.scenarios[k].Network.Overhead) - took
		}
	}
}

// end returns when a call that began at t ends in the k-th scenario.
func (p *player) end(scenario *Scenario, k int, s *step, t int64, own cost) int64 {
	at := int(s.place)*len(p.scenarios) + k
	keeps := p.keeps[at]
	// no time passes outside of the window, whatever the network
	if n := scenario.Network; n != nil && keeps == 1 && s.kind != inputOutput && !s.outside {
		return p.onNetwork(scenario, k, s, t)
	}
	if keeps < 1 {
		own = own.scaled(keeps)
	}
	end := t + own.local
	if p.ignores[at] {
		return end
	}
	for i := range s.depends {
		d := &s.depends[i]
		if scenario.Buffered && d.answers() {
			continue
		}
		known := d.on.at[k]
		end = max(end, known+own.within(known-t))
	}
	return end
}

// answers reports whether a dependency is that of a large message on its receiver, which has to
// answer, or on a partner that was outside of MPI when it should have answered.
func (d *dependency) answers() bool { return d.handshake && d.hops < wholeHandshake }

// onNetwork returns when a call that began at t ends on another network.
func (p *player) onNetwork(scenario *Scenario, k int, s *step, t int64) int64 {
	n := scenario.Network
	if p.ignores[int(s.place)*len(p.scenarios)+k] {
		return t + int64(n.Overhead)
	}
	for i := range s.depends {
		d := &s.depends[i]
		t = max(t, n.arrival(d.on.at[k], d, p.handshakes))
	}
	for i := range s.handshakes {
		d := &s.handshakes[i]
		t = max(t, n.arrival(d.on.at[k], d, p.handshakes))
	}
	return t + int64(n.Overhead)
}

// finish replays what depends on events that never came: of ranks that the trace lacks, or that
// ended early.
func (p *player) finish() {
	for again := true; again; {
		again = false
		for i := range p.threads {
			th := &p.threads[i]
			if !th.called {
				continue
			}
			s := &th.step
			unknown := func(d dependency) bool { return !d.on.known() }
			s.depends, s.inert = slices.DeleteFunc(s.depends, unknown), slices.DeleteFunc(s.inert, unknown)
			p.ready = append(p.ready, i)
			p.run()
			again = true
		}
	}
}

// lengths of the run.
func (p *player) lengths() []Length {
	lengths := make([]Length, len(p.scenarios))
	for k := range lengths {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		in, out := last, last
		for i := range p.threads {
			th := &p.threads[i]
			if !th.started {
				continue
			}
			left, ended := th.last+th.late[k], th.last+th.late[k]
			if th.through {
				left, ended = th.out[k], th.end[k]
			}
			first, last = min(first, th.begin[k]), max(last, ended)
			if p.locations[i].Main == i {
				in, out = max(in, th.in[k]), max(out, left)
			}
		}
		if last > first {
			lengths[k] = Length{last - first, max(0, out-in)}
		}
	}
	return lengths
}
