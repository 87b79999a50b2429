package compare

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	activities "github.com/cairn-mpi/cairn/analyzer/activity" // an activity is a place in numbers here
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// A place is where time is spent: in the call, or in the computation before it.
type place struct {
	function, site string
	computation    bool
}

// A side is what is known of one run.
type side struct {
	run    Run
	found  phases.Findings
	plan   *phases.Plan
	ranks  []int // world ranks, by row
	byRank map[int]map[place]float64
	total  map[place]float64
}

// look goes through one trace.
func look(ctx context.Context, t Recording) (*side, error) {
	if t.Clocks == nil {
		made, err := clock.Analyze(ctx, t)
		if err != nil {
			return nil, err
		}
		t.Clocks = made.Clocks
	}
	s := &side{byRank: map[int]map[place]float64{}, total: map[place]float64{}}
	var err error
	if s.plan, err = phases.NewPlan(t, t.Clocks); err != nil {
		return nil, err
	}
	locations := timeline.Locations(t)
	sums := make([]map[activity]int64, len(locations))
	ctx, _, end := passes.Calls(ctx, timeline.CallsWithin(t, t.Clocks))
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, l := range locations {
		if l.Main != i {
			continue
		}
		group.Go(func() error {
			sums[i] = map[activity]int64{}
			tracker, thread := s.plan.Location(i), s.plan.Thread(i)
			return timeline.EachOf(inner, t, i, l, t.Clocks, func(c *timeline.Call) error {
				step, counts := thread.See(&c.Record, match.PollOf(c.Event))
				if !counts {
					return nil
				}
				tracker.Step(&c.Record, &step)
				for _, span := range step.Spans() {
					ns := span.To - span.From
					if ns == 0 || span.Kind == activities.Untraced || span.Kind == activities.Tool {
						continue
					}
					sums[i][activity{c.Function.ID, c.Signature.Site, span.Kind == activities.Computation}] += ns
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.found = s.plan.Findings(nil, nil)
	s.add(t, locations, sums)
	return s, nil
}

// An activity is a place by the numbers of its trace.
type activity struct {
	function    uint16
	site        uint32
	computation bool
}

func (s *side) add(t timeline.Trace, locations []timeline.Location, sums []map[activity]int64) {
	sites := t.Sites()
	for i, l := range locations {
		if len(sums[i]) == 0 {
			continue
		}
		s.ranks = append(s.ranks, l.Rank)
		own := map[place]float64{}
		for what, ns := range sums[i] {
			p := place{computation: what.computation}
			if f := t.Function(what.function); f != nil {
				p.function = f.Name
			}
			if what.site > 0 && int(what.site) <= len(sites) {
				p.site = callsite.InFunction(&sites[what.site-1])
			}
			own[p] += float64(ns) / 1e9
			s.total[p] += float64(ns) / 1e9
			if what.computation {
				s.run.Computation += float64(ns) / 1e9
			} else {
				s.run.MPI += float64(ns) / 1e9
			}
		}
		s.byRank[l.Rank] = own
	}
	s.run.Ranks, s.run.Phases = len(s.ranks), s.found.Text
	if n := float64(len(s.ranks)); n > 0 {
		s.run.Computation, s.run.MPI = s.run.Computation/n, s.run.MPI/n
		for p := range s.total {
			s.total[p] /= n
		}
	}
	for _, p := range s.found.Phases {
		s.run.Seconds = max(s.run.Seconds, p.EndSeconds)
	}
}
