package clusters

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/trace/timing"
)

const (
	// maxTimed is the maximum number of calls of traces whose phases are timed: their waits are
	// kept until the end.
	maxTimed = 50_000_000
	// maxShaped is the maximum number of phases whose topology is determined.
	maxShaped = 8
)

// DividePhases groups the ranks in each phase separately: by behavior and topology on the grammar,
// and by timing in a pass over the calls if the trace has their times.
func (f *Findings) DividePhases(ctx context.Context, t timeline.Trace, o Options) error {
	plan, times, err := phaseTimes(ctx, t, o, f)
	if err != nil {
		return err
	}
	lengths, err := t.Grammar().Lengths()
	if err != nil {
		return err
	}
	paths := newPathFinder(t.Grammar(), newLikeness(t, o.Frames).site)
	type place struct{ root, phase int }
	known := map[place]hash{}
	behavior := make([]map[int]hash, plan.Phases()) // by phase and rank
	window := make([]map[int][2]uint64, plan.Phases())
	for phase := range behavior {
		behavior[phase], window[phase] = map[int]hash{}, map[int][2]uint64{}
	}
	for i, thread := range t.Threads().All() {
		for _, s := range plan.Stretches(i) {
			at := place{thread.Root, s.Phase}
			h, there := known[at]
			if !there {
				h = empty
				for _, call := range paths.pathOf(t.Grammar().Between(thread.Root, s.From, s.To, lengths)) {
					h = h.then(one(call))
				}
				known[at] = h
			}
			behavior[s.Phase][thread.Rank] = h
			window[s.Phase][i] = [2]uint64{s.From, s.To}
		}
	}
	shaped := 0
	for number := range plan.Phases() {
		if len(behavior[number]) == 0 {
			continue
		}
		p := Phase{Name: plan.Name(number), Loop: plan.IsLoop(number), Behaviors: []Group{}, Timing: []Group{}, Outliers: []Outlier{}}
		var ranks []int
		for _, r := range t.Ranks().All() {
			if _, there := behavior[number][r.Rank]; there {
				ranks = append(ranks, r.Rank)
			}
		}
		for _, members := range split(ranks, func(rank int) hash { return behavior[number][rank] }) {
			p.Behaviors = append(p.Behaviors, group(members))
		}
		if times != nil {
			p.Timing, p.Outliers = byTiming(ranks, times[number], 0, o.Method)
		}
		if shaped < maxShaped && (p.Loop || plan.Phases() == 1) {
			shaped++
			if p.Topology, err = shapeOf(t, window[number], o.Topology); err != nil {
				return err
			}
		}
		f.Phases = append(f.Phases, p)
	}
	return nil
}

// shapeOf returns the topology of some calls of each thread.
func shapeOf(t timeline.Trace, calls map[int][2]uint64, o topology.Options) (string, error) {
	traffic, err := t.MatrixBetween(func(thread int) (uint64, uint64) { return calls[thread][0], calls[thread][1] })
	if err != nil {
		return "", fmt.Errorf("communication matrix of a phase: %w", err)
	}
	found := topology.Identify(topology.World(traffic, t.Meta().WorldSize), o)
	return found.Name(), nil
}

// CanBeTimed reports whether the calls of a trace can be read one by one: each has times, and there
// are not too many.
func CanBeTimed(t timeline.Trace) bool {
	return t.Threads().Calls() <= maxTimed && t.Meta().Timing.Mode != timing.Aggregated
}

// phaseTimes returns the phases and how each rank spent its time in them; the latter is nil if
// single calls have no times.
func phaseTimes(ctx context.Context, t timeline.Trace, o Options, f *Findings) (*phases.Plan, []map[int]spent, error) {
	if o.Phases != nil {
		return o.Phases, timesOf(o.Phases), nil
	}
	plan, err := phases.NewPlan(t, o.clocks())
	if err != nil || o.Clock == nil || t.Meta().Timing.Mode == timing.Aggregated {
		return plan, nil, err
	}
	if calls := t.Threads().Calls(); calls > maxTimed {
		f.Notes = append(f.Notes, fmt.Sprintf("Phases were not divided by timing: the trace has %d calls, more than %d.", calls, maxTimed))
		return plan, nil, nil
	}
	waits := make([][][2]int64, t.Threads().Len())
	finder := waitstate.NewFinder(t, func(s *waitstate.State) {
		waits[s.Call.Location] = append(waits[s.Call.Location], [2]int64{s.Begin, s.End})
	})
	trackers := make([]*phases.Tracker, t.Threads().Len())
	for i := range trackers {
		trackers[i] = plan.Location(i)
	}
	_, err = match.All(ctx, t, o.clocks(), finder, func(c *match.Call) { trackers[c.Location].Call(&c.Record, c.Poll) })
	if err != nil {
		return nil, nil, err
	}
	plan.Findings(func(location int, yield func(begin, end int64)) {
		for _, w := range waits[location] {
			yield(w[0], w[1])
		}
	}, nil)
	return plan, timesOf(plan), nil
}

// timesOf returns how each rank spent its time in each phase.
func timesOf(plan *phases.Plan) []map[int]spent {
	times := make([]map[int]spent, plan.Phases())
	for number := range times {
		times[number] = map[int]spent{}
	}
	for _, one := range plan.Totals() {
		times[one.Phase][one.Rank] = spent{computation: one.Computation, mpi: one.MPI, waiting: one.Waiting}
	}
	return times
}
