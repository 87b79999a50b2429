package clock

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Analyze gives the offset of each rank (index: Trace.Ranks) to the clock of the first one's node. It goes through
// the trace only if there is more than one clock.
func Analyze(ctx context.Context, t timeline.Trace) (timeline.Offsets, Findings, error) {
	ranks := t.Ranks()
	of, ids := domains(ranks)
	n := len(ids)
	f := Findings{Domains: []Domain{}}
	if n == 0 {
		return nil, f, nil
	}
	first := guess(ranks, of, n)
	offsets := first
	exact := 0.0
	f.ErrorSeconds = &exact
	bound := make([]int64, n*n)
	if n > 1 {
		c := newConstraints(of, first)
		m := match.New(t, c)
		err := timeline.Each(ctx, t, spread(first, of), func(call *timeline.Call) error { m.Call(call); return nil })
		if err != nil {
			return nil, f, err
		}
		m.Finish()
		bound = shortest(c.bound, n)
		offsets = solve(first, c.bound)
	}
	for d, id := range ids {
		domain := Domain{
			BootID: id, Ranks: ranksOf(ranks, of, d).String(),
			OffsetSeconds: seconds(offsets[d]), GuessSeconds: seconds(first[d]),
		}
		if d > 0 {
			there, back := bound[d*n], bound[d]
			if there >= unbounded || back >= unbounded {
				domain.ErrorSeconds = -1
				f.ErrorSeconds = nil
			} else {
				domain.ErrorSeconds = max(0, seconds(there+back)/2)
				if f.ErrorSeconds != nil {
					*f.ErrorSeconds = max(*f.ErrorSeconds, domain.ErrorSeconds)
				}
			}
		}
		f.Domains = append(f.Domains, domain)
	}
	return spread(offsets, of), f, nil
}

// spread gives each row the offset of its domain.
func spread(offsets []int64, of []int) timeline.Offsets {
	rows := make(timeline.Offsets, len(of))
	for i, d := range of {
		rows[i] = offsets[d]
	}
	return rows
}

func ranksOf(ranks []trace.Rank, of []int, domain int) trace.RankList {
	var list []int
	for i, r := range ranks {
		if of[i] == domain {
			list = append(list, r.Rank)
		}
	}
	return trace.NewRankList(list)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
