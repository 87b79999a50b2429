package compare

import (
	"cmp"
	"context"
	"path"
	"runtime"

	"golang.org/x/sync/errgroup"

	activities "github.com/cairn-mpi/cairn/analyzer/activity" // an activity is a place given by numbers here
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A place is a call, or the computation before it.
type place struct {
	function, site string
	computation    bool
}

// at describes a call and its call site.
func (p place) at() string { return callsite.At(p.function, p.site) }

// A run is what is known of a run.
type run struct {
	name       string // "A", or "A2" if there are several
	meta       *trace.Meta
	executable string         // of the lowest rank, without directories
	nodes      map[int]string // by rank: the node, or the host outside Kubernetes
	early      []int          // ranks that ended early
	stopped    []int          // ranks whose tracing stopped
	seconds    float64
	compute    float64 // mean over ranks
	mpi        float64
	text       string // its phases in one sentence
	phases     []phases.Phase
	samples    []phases.Samples
	ranks      []int // world ranks, by row
	byRank     map[int]map[place]float64
	total      map[place]float64 // mean over ranks
	path       []step
	causes     []verdict.Cause   // of its verdict
	sources    map[string]source // by call site of a place
}

// rounding is the relative error of the run's intervals.
func (r *run) rounding() float64 {
	if r.meta.Timing.Mode != timing.Lossy {
		return 0
	}
	return float64(r.meta.Timing.WorstError()) / 100
}

// readRun reads one trace.
func readRun(ctx context.Context, name string, t Recording) (*run, error) {
	if t.Clock == nil {
		made, err := clock.Analyze(ctx, t)
		if err != nil {
			return nil, err
		}
		t.Clock = made
	}
	r := &run{
		name: name, meta: t.Meta(), nodes: map[int]string{}, byRank: map[int]map[place]float64{}, total: map[place]float64{},
		sources: map[string]source{},
	}
	found, err := pass.Find(ctx, t, wanted, func(r *pass.Run) { pass.Give(r, matching.Given, t.Clock) })
	if err != nil {
		return nil, err
	}
	r.seconds, r.causes = found.seconds, found.causes
	for _, one := range t.Ranks().All() {
		if r.executable == "" {
			r.executable = path.Base(one.Executable)
		}
		r.nodes[one.Rank] = cmp.Or(one.Node, one.Host)
		if one.TracingStopped() {
			r.stopped = append(r.stopped, one.Rank)
		} else if one.EndedEarly != "" {
			r.early = append(r.early, one.Rank)
		}
	}
	clocks := t.Clock.Clocks
	plan, err := phases.NewPlan(t, clocks)
	if err != nil {
		return nil, err
	}
	locations := timeline.Locations(t)
	sums := make([]map[activity]int64, len(locations))
	ctx, _, end := passes.Calls(ctx, timeline.CallsWithin(t, clocks))
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	all := polling.NewGaps(t)
	for i, l := range locations {
		if l.Main != i {
			continue
		}
		group.Go(func() error {
			sums[i] = map[activity]int64{}
			tracker, thread, gaps := plan.Location(i), plan.Thread(i), all.Of(i)
			// computation in the present region, which local queries do not divide,
			// and the latest call
			computed, last := int64(0), activity{computation: true}
			err := timeline.EachOf(inner, t, i, l, clocks, func(c *timeline.Call) error {
				step := thread.See(&c.Record, gaps.See(c.Event))
				if step == nil {
					return nil
				}
				tracker.Step(&c.Record, step)
				for _, span := range step.Spans() {
					switch ns := span.To - span.From; {
					case ns == 0 || span.Kind == activities.Untraced || span.Kind == activities.Tool:
					case span.Kind == activities.Computation:
						computed += ns
					default:
						sums[i][activity{c.Function.ID, c.Signature.Site, false}] += ns
					}
				}
				last.function, last.site = c.Function.ID, c.Signature.Site
				if computed > 0 && !c.Semantics.IsLocalQuery() {
					sums[i][last] += computed
					computed = 0
				}
				return nil
			})
			if computed > 0 {
				sums[i][last] += computed
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	inPhases := plan.Findings(nil, nil)
	r.text, r.phases, r.samples = inPhases.Text, inPhases.Phases, plan.Samples()
	r.path = pathOf(t, &found)
	r.add(t, locations, sums)
	return r, nil
}

// An activity is a place by the numbers of its trace.
type activity struct {
	function    uint16
	site        uint32
	computation bool
}

func (r *run) add(t timeline.Trace, locations []timeline.Location, sums []map[activity]int64) {
	sites := t.Sites()
	// integers: the order of a map does not matter
	total, computed, called := map[place]int64{}, int64(0), int64(0)
	for i, l := range locations {
		if len(sums[i]) == 0 {
			continue
		}
		r.ranks = append(r.ranks, l.Rank)
		own := map[place]int64{}
		for what, ns := range sums[i] {
			p := place{computation: what.computation}
			if f := t.Function(what.function); f != nil {
				p.function = f.Name
			}
			if what.site > 0 && int(what.site) <= len(sites) {
				s := &sites[what.site-1]
				p.site = callsite.InFunction(s)
				r.sources[p.site] = sourceOf(s)
			}
			own[p] += ns
			total[p] += ns
			if what.computation {
				computed += ns
			} else {
				called += ns
			}
		}
		r.byRank[l.Rank] = map[place]float64{}
		for p, ns := range own {
			r.byRank[l.Rank][p] = float64(ns) / 1e9
		}
	}
	if n := 1e9 * float64(len(r.ranks)); n > 0 {
		r.compute, r.mpi = float64(computed)/n, float64(called)/n
		for p, ns := range total {
			r.total[p] = float64(ns) / n
		}
	}
}
