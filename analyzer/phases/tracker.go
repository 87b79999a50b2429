package phases

import (
	"context"
	"runtime"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

const windows = 20

// A part is how a rank spent one phase, in nanoseconds.
type part struct {
	start, end           int64
	calls                uint64
	compute, mpi, waited int64
	compute1, mpi1       int64 // of the iteration that goes on
	path                 int64 // on the critical path
	series               series
	there                bool
}

// A Tracker follows one rank's main thread through the phases.
type Tracker struct {
	plan    *Plan
	loops   []*loop // still to come, the one that goes on first
	parts   []part
	order   []int // parts in the order in which the rank came through them
	now     int64
	began   bool
	useful  [windows]int64
	attempt match.Attempt
	partial bool // the iteration that goes on began before the window
	marks   []int64
	ideal   []int64 // when it would have come to the marks on an ideal network
}

// Location starts to follow a location; nil for one that is no rank's main thread. Different ones may be followed at
// the same time.
func (p *Plan) Location(i int) *Tracker {
	if p.locations[i].Main != i {
		return nil
	}
	t := &Tracker{plan: p, loops: p.byRoot[int(p.trace.Threads().Roots().At(i))], parts: make([]part, p.phases())}
	p.trackers[i] = t
	return t
}

// Call notes a call, which is such a poll. The time since the one before belongs to the same phase.
func (t *Tracker) Call(c *timeline.Record, poll match.Poll) {
	if t == nil {
		return
	}
	for len(t.loops) > 0 && c.Index >= t.loops[0].to {
		t.loops = t.loops[1:]
	}
	if c.Outside && (!t.began || c.Enter <= t.now) {
		t.began, t.partial, t.now = true, true, c.Enter
		return
	}
	l, number := t.section(c.Index)
	p := &t.parts[number]
	if !p.there {
		p.there, p.start = true, c.Enter
		if t.began {
			p.start = min(t.now, c.Enter)
		}
		t.order = append(t.order, number)
	}
	if !t.began {
		t.began, t.now = true, c.Enter
	}
	if !c.Outside {
		p.calls++
	}
	if _, polling := t.attempt.See(poll, c); polling && c.Enter > t.now {
		p.spendMPI(c.Enter - t.now) // what lies between two polls is waiting, not computation
		t.now = c.Enter
	}
	if c.Held > 0 {
		t.now = min(t.now+c.Held, max(t.now, c.Enter))
	}
	if c.Enter > t.now {
		if !c.Signature.Untraced {
			p.compute += c.Enter - t.now
			p.compute1 += c.Enter - t.now
			t.computes(t.now, c.Enter)
		}
		t.now = c.Enter
	}
	if c.Exit > t.now {
		p.spendMPI(c.Exit - t.now)
		t.now = c.Exit
	}
	p.end = max(p.end, t.now)
	if !c.Outside && l != nil && l.anchor >= 0 && t.plan.classes[l.anchor] == (class{c.Function.ID, c.Signature.Site}) {
		if !t.partial {
			p.series.add(p.compute1, p.mpi1)
		}
		p.compute1, p.mpi1, t.partial = 0, 0, false
	}
}

func (p *part) spendMPI(ns int64) {
	p.mpi += ns
	p.mpi1 += ns
}

// section is the loop that a call belongs to, nil for none, and the number of its phase.
func (t *Tracker) section(index uint64) (*loop, int) {
	if len(t.loops) == 0 {
		return nil, t.plan.phases() - 1
	}
	l := t.loops[0]
	for i, s := range t.plan.sections {
		if s == l.phase {
			if index < l.from {
				return nil, 2 * i
			}
			return l, 2*i + 1
		}
	}
	return nil, 0
}

// computes adds computation to the windows that it lies in.
func (t *Tracker) computes(from, to int64) {
	width := t.plan.window()
	from, to = max(from, t.plan.start)-t.plan.start, min(to-t.plan.start, width*windows)
	for from < to {
		i := from / width
		end := min((i+1)*width, to)
		t.useful[i] += end - from
		from = end
	}
}

func (p *Plan) window() int64 { return max(1, (p.end-p.start+windows-1)/windows) }

// wait notes a wait state.
func (t *Tracker) wait(begin, end int64) {
	i := sort.Search(len(t.order), func(i int) bool { return t.parts[t.order[i]].end > begin })
	if i < len(t.order) {
		t.parts[t.order[i]].waited += end - begin
	}
}

// Follow goes through all calls in a pass of its own.
func (p *Plan) Follow(ctx context.Context, clocks *timeline.Clocks) error {
	ctx, _, end := passes.Calls(passes.Named(ctx, "finding phases"), timeline.CallsWithin(p.trace, clocks))
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, l := range p.locations {
		if l.Main != i {
			continue
		}
		group.Go(func() error {
			t := p.Location(i)
			return timeline.EachOf(inner, p.trace, i, l, clocks, func(c *timeline.Call) error {
				t.Call(&c.Record, match.PollOf(c.Event))
				return nil
			})
		})
	}
	return group.Wait()
}
