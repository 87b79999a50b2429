package clock

import (
	"context"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// SchemaVersion is the version of Map.
const SchemaVersion = 2

// A Map is the clock map of a run. It is written once, next to the trace, and used by all analyses.
type Map struct {
	SchemaVersion int              `json:"schema_version"`
	Trace         string           `json:"trace"` // hash that identifies the trace
	Clocks        *timeline.Clocks `json:"clocks"`
	Findings      Findings         `json:"findings"`
	// Cuts are quiescent points, between which parts of the run can be analyzed separately; nil
	// until the run has been matched on these clocks.
	Cuts []match.Cut `json:"cuts,omitempty"`
}

// Fits reports whether a map that was read from a file belongs to this trace.
func (m *Map) Fits(t timeline.Trace) bool {
	if m.SchemaVersion != SchemaVersion || m.Trace != identity(t) {
		return false
	}
	if m.Clocks == nil {
		return t.Ranks().Len() == 0
	}
	for _, d := range m.Clocks.Of {
		if d < 0 || d >= len(m.Clocks.Domains) {
			return false
		}
	}
	return len(m.Clocks.Of) == t.Ranks().Len()
}

// Analyze synchronizes the clocks of all nodes with the first one's. It reads the calls of the
// trace only if there is more than one clock, and twice if a constant offset and rate per node do
// not satisfy all messages.
func Analyze(ctx context.Context, t timeline.Trace) (*Map, error) {
	return AnalyzeWith(ctx, t, nil)
}

func analyze(ctx context.Context, t timeline.Trace, p *Observer) (*timeline.Clocks, Findings, error) {
	ranks := t.Ranks()
	of, ids := domains(ranks)
	n := len(ids)
	f := Findings{Domains: []Domain{}}
	if n == 0 {
		return nil, f, nil
	}
	clocks := &timeline.Clocks{Of: of, Domains: make([]timeline.Clock, n)}
	first := guess(ranks, of, n)
	for d, offset := range first {
		clocks.Domains[d].Offset = offset
	}
	exact := 0.0
	f.ErrorSeconds = &exact
	tightest, slack := make([]int64, n*n), make([]int64, n)
	switch {
	case t.Meta().Timing.Mode == timing.Aggregated:
		// without the times of messages there are no bounds: the guess by the wall clocks is kept,
		// with an unknown error
		for i := range tightest {
			if i%(n+1) != 0 {
				tightest[i] = unbounded
			}
		}
	case n > 1:
		var err error
		if tightest, slack, err = bind(ctx, t, clocks, p); err != nil {
			return nil, f, err
		}
		if violated(clocks, first, tightest) {
			l := &logical{clocks: clocks}
			if _, err := match.All(ctx, t, frozen(clocks), newCauses(clocks, l.before), nil); err != nil {
				return nil, f, err
			}
			l.onOwnClocks()
			f.Steps, f.LargestStepSeconds = l.steps, seconds(l.largest)
		}
		if p != nil {
			p.Arrived = guessed(clocks, first)
		}
	}
	far := shortest(tightest, n)
	for d, id := range ids {
		k := &clocks.Domains[d]
		domain := Domain{
			BootID: id, Ranks: ranksOf(ranks, of, d).String(),
			OffsetSeconds: seconds(k.Offset), GuessSeconds: seconds(first[d]), Rate: k.Rate, Steps: len(k.Steps),
		}
		if d > 0 {
			there, back := far[d*n], far[d]
			if there >= unbounded || back >= unbounded {
				domain.ErrorSeconds = -1
				f.ErrorSeconds = nil
			} else {
				domain.ErrorSeconds = max(0, seconds(there+back)/2) + seconds(slack[d])
				if f.ErrorSeconds != nil {
					*f.ErrorSeconds = max(*f.ErrorSeconds, domain.ErrorSeconds)
				}
			}
		}
		f.Domains = append(f.Domains, domain)
	}
	return clocks, f, nil
}

// newCauses returns a handler that reports all pairs of cause and effect in different domains.
func newCauses(clocks *timeline.Clocks, before func(from int, cause int64, to int, effect int64)) *causes {
	return &causes{of: clocks.Of, n: len(clocks.Domains), before: before}
}

// frozen returns a copy of the clocks. Steps are added during a pass, which must not see them.
func frozen(clocks *timeline.Clocks) *timeline.Clocks {
	return &timeline.Clocks{Of: clocks.Of, Domains: slices.Clone(clocks.Domains)}
}

// each reports all pairs of cause and effect in different domains, nearly in order of time.
func each(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, before func(from int, cause int64, to int, effect int64), p *Observer) error {
	var along Observer
	if p != nil {
		along = *p
	}
	var handler match.Handler = newCauses(clocks, before)
	if along.Handler != nil {
		handler = match.Together(handler, along.Handler)
	}
	leftovers, err := match.InSections(ctx, t, frozen(clocks), handler, along.Cuts, along.See, along.Decoded)
	if p != nil {
		p.Leftovers = leftovers
	}
	return err
}

// bind sets the offset and the rate of each clock from the messages. It returns the tightest bound
// between any two, with rates removed: offset[a] − offset[b] ≤ tightest[a·n+b], relative to the
// guess; and the possible error due to other rates that satisfy the messages.
func bind(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, p *Observer) (tightest, slack []int64, err error) {
	n := len(clocks.Domains)
	bounds := map[pair]*series{}
	origin := int64(math.MaxInt64)
	err = each(ctx, t, clocks, func(from int, cause int64, to int, effect int64) {
		s := bounds[pair{from, to}]
		if s == nil {
			s = new(series)
			bounds[pair{from, to}] = s
		}
		s.add(point{cause, effect})
		origin = min(origin, cause)
	}, p)
	if err != nil {
		return nil, nil, err
	}
	rate, slack := rates(bounds, n, origin)
	tightest = make([]int64, n*n)
	for a := range n {
		for b := range n {
			bound := int64(unbounded)
			if a == b {
				bound = 0
			}
			for _, p := range bounds[pair{a, b}].known() {
				drifted := rate[a]*float64(p.cause-origin) - rate[b]*float64(p.effect-origin)
				bound = min(bound, p.bound()-int64(math.Ceil(drifted)))
			}
			tightest[a*n+b] = bound
		}
	}
	for d, x := range solve(make([]int64, n), tightest) {
		k := &clocks.Domains[d]
		k.Rate, k.Origin = rate[d], origin-k.Offset
		k.Offset += x
	}
	return tightest, slack, nil
}

// violated reports whether a bound does not hold.
func violated(clocks *timeline.Clocks, guess, tightest []int64) bool {
	n := len(guess)
	for a := range n {
		for b := range n {
			x := clocks.Domains[a].Offset - guess[a] - (clocks.Domains[b].Offset - guess[b])
			if bound := tightest[a*n+b]; bound < unbounded && x > bound {
				return true
			}
		}
	}
	return false
}

func ranksOf(ranks *trace.RankTable, of []int, domain int) trace.RankList {
	var list []int
	for i, rank := range ranks.Numbers().All() {
		if of[i] == domain {
			list = append(list, int(rank))
		}
	}
	return trace.NewRankList(list)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
