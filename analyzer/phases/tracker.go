package phases

import (
	"context"
	"runtime"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

const windows = 20

// A part is how a rank spent its time in one phase, in nanoseconds.
type part struct {
	start, end           int64
	calls                uint64
	compute, mpi, waited int64
	compute1, mpi1       int64         // of the current iteration
	path                 int64         // on the critical path
	computing, inMPI     series.Series // of iterations
	there                bool
}

// A Tracker follows one rank's main thread through the phases.
type Tracker struct {
	plan    *Plan
	loops   []*loop // the current loop and the following ones
	parts   []part
	order   []int // parts in the order in which the rank passed through them
	thread  activity.Thread
	began   bool
	useful  [windows]int64
	partial bool // the current iteration began before the window
	marks   []int64
	ideal   []int64 // times of the marks on an ideal network
}

// Location returns a Tracker for a location, nil for one that is not a rank's main thread.
// Different ones may be used concurrently.
func (p *Plan) Location(i int) *Tracker {
	if p.locations[i].Main != i {
		return nil
	}
	t := &Tracker{plan: p, thread: p.Thread(i), loops: p.byRoot[int(p.trace.Threads().Roots().At(i))], parts: make([]part, p.phases())}
	p.trackers[i] = t
	return t
}

// Thread returns the activity.Thread of a location, for the steps of Tracker.Step.
func (p *Plan) Thread(location int) activity.Thread {
	return p.program.Thread(int(p.trace.Threads().Roots().At(location)))
}

// Call adds a call with its kind of poll.
func (t *Tracker) Call(c *timeline.Record, poll polling.Poll) {
	if t == nil {
		return
	}
	if step := t.thread.See(c, poll); step != nil {
		t.Step(c, step)
	}
}

// Step adds a call and the activity of the thread since the previous one, which belongs to the same
// phase. It is Call for callers that follow the thread themselves.
func (t *Tracker) Step(c *timeline.Record, step *activity.Step) {
	if t == nil {
		return
	}
	t.began = true
	for len(t.loops) > 0 && c.Index >= t.loops[0].to {
		t.loops = t.loops[1:]
	}
	spans := step.Spans()
	if c.Outside && len(spans) == 0 {
		t.partial = true
		return
	}
	l, number := t.section(c.Index)
	p := &t.parts[number]
	if !p.there {
		p.there, p.start = true, min(step.Start, c.Enter)
		t.order = append(t.order, number)
	}
	if !c.Outside {
		p.calls++
	}
	for _, s := range spans {
		switch s.Kind {
		case activity.Computation:
			p.compute += s.To - s.From
			p.compute1 += s.To - s.From
			t.computes(s.From, s.To)
		case activity.Call, activity.Waiting:
			p.mpi += s.To - s.From
			p.mpi1 += s.To - s.From
		case activity.Untraced, activity.Tool:
		}
	}
	p.end = max(p.end, step.End)
	if !c.Outside && l != nil && l.anchor >= 0 && t.plan.classes[l.anchor] == (class{c.Function.ID, c.Signature.Site}) {
		if !t.partial {
			p.computing.Add(float64(p.compute1) / 1e9)
			p.inMPI.Add(float64(p.mpi1) / 1e9)
		}
		p.compute1, p.mpi1, t.partial = 0, 0, false
	}
}

// section returns the loop that a call belongs to, nil for none, and the number of its phase.
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

// computes adds computation to the windows that contain it.
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

// wait adds a wait state.
func (t *Tracker) wait(begin, end int64) {
	i := sort.Search(len(t.order), func(i int) bool { return t.parts[t.order[i]].end > begin })
	if i < len(t.order) {
		t.parts[t.order[i]].waited += end - begin
	}
}

// Follow reads all calls in a pass of its own.
func (p *Plan) Follow(ctx context.Context, clocks *timeline.Clocks) error {
	ctx, _, end := passes.Calls(passes.Named(ctx, "finding phases"), timeline.CallsWithin(p.trace, clocks))
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	all := polling.NewGaps(p.trace)
	for i, l := range p.locations {
		if l.Main != i {
			continue
		}
		group.Go(func() error {
			t := p.Location(i)
			gaps := all.Of(i)
			return timeline.EachOf(inner, p.trace, i, l, clocks, func(c *timeline.Call) error {
				t.Call(&c.Record, gaps.See(c.Event))
				return nil
			})
		})
	}
	return group.Wait()
}
