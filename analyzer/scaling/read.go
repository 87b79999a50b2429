package scaling

import (
	"context"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/recent"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Recording is a run.
type Recording struct {
	timeline.Trace
	Name  string     // for messages
	Clock *clock.Map // nil: it is computed
}

// aggregated reports whether the trace has only sums of times.
func (r *Recording) aggregated() bool { return r.Meta().Timing.Mode == timing.Aggregated }

// A key is a place by the numbers of its trace.
type key struct {
	function      uint16
	site          uint32
	computation   bool
	afterFunction uint16
	afterSite     uint32
}

func (k key) hash() uint32 {
	h := uint32(k.function)<<8 ^ k.site ^ uint32(k.afterFunction)<<16 ^ k.afterSite<<4
	if k.computation {
		h = ^h
	}
	return h
}

// A tally is what a thread does at a place.
type tally struct {
	ns           int64
	calls, bytes uint64
	unsized      bool
}

// A reading is the state of reading a trace.
type reading struct {
	Recording
	locations []timeline.Location
	threads   []thread
	names     names
	payloads  []volume.Payload // by terminal
	apart     bool             // a computation is identified by the call before it, too
}

// A thread follows the calls of one location.
type thread struct {
	*reading
	main     bool
	activity activity.Thread
	gaps     *polling.LocationGaps
	tallies  map[key]*tally
	recent   recent.Cache[key, tally]
	last     key   // the call before that is no local query
	computed int64 // since then
	// waiting is filled while calls are matched, concurrently with the tallies, which are filled
	// while they are decoded.
	waiting map[key]int64
}

func (t *thread) at(k key) *tally { return t.recent.At(t.tallies, k, k.hash()) }

// read reads one trace. apart is whether a computation is identified by both calls around it.
func read(ctx context.Context, r Recording, n names, apart bool) (*run, error) {
	program, err := activity.NewProgram(r)
	if err != nil {
		return nil, err
	}
	g := &reading{Recording: r, locations: timeline.Locations(r), names: n, payloads: make([]volume.Payload, len(r.Signatures())), apart: apart}
	for i := range g.payloads {
		g.payloads[i] = volume.PayloadOf(r.Semantics(r.Signatures()[i].Function))
	}
	all := polling.NewGaps(r)
	g.threads = make([]thread, len(g.locations))
	roots := r.Threads().Roots()
	for i, l := range g.locations {
		g.threads[i] = thread{reading: g, main: l.Main == i, tallies: map[key]*tally{}, waiting: map[key]int64{}, gaps: all.Of(i), activity: program.Thread(int(roots.At(i)))}
	}
	if r.aggregated() {
		err = g.sums(ctx)
	} else {
		err = g.calls(ctx)
	}
	if err != nil {
		return nil, err
	}
	return g.run(), nil
}

// calls goes through all calls and matches them, which determines waiting.
func (g *reading) calls(ctx context.Context) error {
	if g.Clock == nil {
		made, err := clock.Analyze(ctx, g)
		if err != nil {
			return err
		}
		g.Clock = made
	}
	finder := waitstate.NewFinder(g, func(s *waitstate.State) {
		t := &g.threads[s.Call.Location]
		if t.main {
			t.waiting[key{function: s.Call.Function, site: s.Call.Site}] += s.Waited()
		}
	})
	_, err := match.InSections(ctx, g, g.Clock.Clocks, finder, nil, nil, func(c *timeline.Call) { g.threads[c.Location].call(c) })
	return err
}

// call counts a call, and the time since the one before it.
func (t *thread) call(c *timeline.Call) {
	own := key{function: c.Function.ID, site: c.Signature.Site}
	t.count(own, c.Event)
	if !t.main {
		return
	}
	step := t.activity.See(&c.Record, t.gaps.See(c.Event))
	if step == nil {
		return
	}
	for _, span := range step.Spans() {
		ns := span.To - span.From
		switch {
		case ns == 0:
		case span.Kind == activity.Call, span.Kind == activity.Waiting:
			t.at(own).ns += ns
		case span.Kind == activity.Computation:
			t.computed += ns
		}
	}
	if c.Semantics.IsLocalQuery() && t.last != (key{}) {
		return
	}
	if t.computed > 0 {
		t.at(t.before(own)).ns += t.computed
		t.computed = 0
	}
	if !step.Nested {
		t.last = own
	}
}

// before returns the computation before a call.
func (t *thread) before(call key) key {
	call.computation = true
	if t.apart {
		call.afterFunction, call.afterSite = t.last.function, t.last.site
	}
	return call
}

// count counts a call and its bytes.
func (t *thread) count(k key, e *trace.Event) {
	one := t.at(k)
	one.calls++
	size := t.payloads[e.Terminal].Of(e, t.Communicators())
	one.unsized = one.unsized || size.Moves && !size.Known
	one.bytes += size.Bytes
}

// sums counts all calls, and adds the times of each signature.
func (g *reading) sums(ctx context.Context) error {
	ctx, _, end := passes.Calls(passes.Named(ctx, "counting calls"), g.Threads().Calls())
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, l := range g.locations {
		group.Go(func() error {
			t := &g.threads[i]
			err := timeline.EachOf(inner, g, i, l, nil, func(c *timeline.Call) error {
				t.count(key{function: c.Function.ID, site: c.Signature.Site}, c.Event)
				return nil
			})
			if err != nil || !t.main {
				return err
			}
			return t.times(i)
		})
	}
	return group.Wait()
}

// times adds the times of a thread's signatures.
func (t *thread) times(location int) error {
	aggregates, err := t.Aggregates(location)
	if err != nil {
		return err
	}
	begin, end := t.Span(location)
	thread := t.Threads().At(location)
	perTick := 0.0
	if ticks := thread.EndTick - thread.FirstTick; ticks > 0 {
		perTick = float64(end-begin) / float64(ticks)
	}
	for i := range aggregates {
		a := &aggregates[i]
		s := &t.Signatures()[a.Terminal]
		own := key{function: s.Function, site: s.Site}
		t.at(own).ns += int64(math.Round(float64(a.Durations.Sum) * perTick))
		if !s.Untraced && t.Semantics(s.Function).Operation != semantics.Initialize {
			t.at(t.before(own)).ns += int64(math.Round(float64(a.Gaps.Sum) * perTick))
		}
	}
	return nil
}

// run adds up all threads.
func (g *reading) run() *run {
	r := &run{name: g.Name, ranks: g.Ranks().Len(), size: g.Meta().WorldSize, waits: !g.aggregated(), places: map[place]*sums{}}
	for i, l := range g.locations {
		if t := &g.threads[i]; t.computed > 0 { // it ends with a local query
			t.at(t.before(t.last)).ns += t.computed
		}
		for k, one := range g.threads[i].tallies {
			seconds := float64(one.ns) / 1e9
			if f := g.Semantics(k.function); !k.computation && (f.Operation == semantics.Initialize || f.Operation == semantics.Finalize) {
				r.outside += seconds / float64(r.ranks)
				continue
			}
			s := r.at(g.place(k))
			s.seconds[l.Row] += seconds
			s.waiting += float64(g.threads[i].waiting[k]) / 1e9
			s.calls += one.calls
			s.bytes += one.bytes
			s.unsized = s.unsized || one.unsized
			r.seconds += seconds / float64(r.ranks)
		}
	}
	var early []int
	for _, one := range g.Ranks().All() {
		if one.EndedEarly != "" {
			early = append(early, one.Rank)
		}
		r.waitedForCPU += waitedForCPU(one.Context) / float64(r.ranks)
	}
	r.early = trace.NewRankList(early)
	return r
}

// waitedForCPU returns the share of the time between the first sample and the last one.
func waitedForCPU(samples []trace.ContextSample) float64 {
	if len(samples) < 2 {
		return 0
	}
	first, last := &samples[0], &samples[len(samples)-1]
	return float64(last.RunDelayNS-first.RunDelayNS) / float64(max(1, last.MonotonicNS-first.MonotonicNS))
}

// place returns the place of a key.
func (g *reading) place(k key) place {
	p := place{call: g.call(k.function, k.site), computation: k.computation}
	if k.afterFunction != 0 {
		p.after = g.call(k.afterFunction, k.afterSite)
	}
	return p
}

func (g *reading) call(function uint16, site uint32) verdict.Call {
	one := verdict.Call{CallSite: g.names.site(g.Sites(), site)}
	if f := g.Function(function); f != nil {
		one.Function = f.Name
	}
	return one
}
