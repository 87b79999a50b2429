package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// When a difference counts.
const (
	alpha      = 0.001
	minShift   = 0.02 // of A's median iteration, MPI included
	minSamples = 8
	maxListed  = 100
)

// A Recording is a run to compare.
type Recording struct {
	timeline.Trace
	Clocks *timeline.Clocks // nil: found out anew
}

// Compare compares two runs of one program.
func Compare(ctx context.Context, a, b Recording) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Changes: []Change{}, Places: []Place{}, Notes: []string{}, Phases: []PhaseTimes{}}
	for _, t := range []Recording{a, b} {
		if t.Meta().Timing.Mode == trace.TimingAggregated {
			return f, fmt.Errorf("the times of single calls were not kept (timing aggregated): there are no iterations to compare; trace both runs with timing lossless or lossy")
		}
	}
	var sides [2]*side
	group, inner := errgroup.WithContext(ctx)
	for i, t := range []Recording{a, b} {
		group.Go(func() (err error) {
			sides[i], err = look(inner, t)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return f, err
	}
	x, y := sides[0], sides[1]
	f.A, f.B = x.run, y.run
	f.Difference, f.Computation, f.MPI = y.run.Seconds-x.run.Seconds, y.run.Computation-x.run.Computation, y.run.MPI-x.run.MPI
	if x.run.Ranks != y.run.Ranks {
		f.Notes = append(f.Notes, fmt.Sprintf("A has %s, B %d: ranks of the same number may not do the same.", wording.Count(x.run.Ranks, "rank", "ranks"), y.run.Ranks))
	}
	f.compareIterations(x, y)
	f.comparePlaces(x, y)
	f.comparePhases(x, y)
	f.Text = f.sentence() // of all changes, also those that are not listed
	f.Omitted = max(0, len(f.Changes)-maxListed)
	f.Changes = f.Changes[:len(f.Changes)-f.Omitted]
	return f, nil
}

// compareIterations tests all ranks in all phases that both runs have.
func (f *Findings) compareIterations(x, y *side) {
	before := map[phases.Key]phases.Samples{}
	for _, s := range x.plan.Samples() {
		before[s.Key] = s
	}
	var changes []Change
	for _, after := range y.plan.Samples() {
		s, there := before[after.Key]
		if !there {
			continue
		}
		s, after := phases.Even(s, after)
		if min(len(s.Computation), len(after.Computation)) < minSamples {
			continue
		}
		whole := median(s.Computation) + median(s.MPI)
		for _, pair := range []struct {
			what string
			a, b []float64
		}{{"computation", s.Computation, after.Computation}, {"mpi", s.MPI, after.MPI}} {
			f.Tests++
			c := Change{
				Phase: after.Phase, Rank: after.Rank, What: pair.what, A: median(pair.a), B: median(pair.b), Shift: shift(pair.a, pair.b),
				PValue: rankSum(pair.a, pair.b), Samples: len(pair.a) + len(pair.b), Per: s.Per,
			}
			if math.Abs(c.Shift) < minShift*whole {
				continue
			}
			if c.A > 0 {
				c.Percent = 100 * c.Shift / c.A
			}
			c.Seconds = c.Shift * float64(after.Iterations)
			changes = append(changes, c)
		}
	}
	for _, c := range changes {
		if c.PValue *= float64(f.Tests); c.PValue < alpha {
			f.Changes = append(f.Changes, c)
		}
	}
	slices.SortStableFunc(f.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.What, b.What), -cmp.Compare(math.Abs(a.Seconds), math.Abs(b.Seconds)))
	})
}

func (f *Findings) comparePlaces(x, y *side) {
	all := map[place]bool{}
	for p := range x.total {
		all[p] = true
	}
	for p := range y.total {
		all[p] = true
	}
	for p := range all {
		one := Place{Function: p.function, CallSite: p.site, What: "mpi", A: x.total[p], B: y.total[p], Rank: -1}
		if p.computation {
			one.What = "computation"
		}
		one.Difference = one.B - one.A
		for _, rank := range y.ranks {
			d := y.byRank[rank][p] - x.byRank[rank][p]
			if one.Rank < 0 || d*sign(one.Difference) > one.RankDifference*sign(one.Difference) {
				one.Rank, one.RankDifference = rank, d
			}
		}
		f.Places = append(f.Places, one)
	}
	slices.SortFunc(f.Places, func(a, b Place) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.CallSite, b.CallSite), cmp.Compare(a.What, b.What))
	})
	f.Places = f.Places[:min(len(f.Places), maxListed)]
}

func sign(x float64) float64 { return math.Copysign(1, x) }

// comparePhases lines up phases of the same name, in order.
func (f *Findings) comparePhases(x, y *side) {
	used := make([]bool, len(x.found.Phases))
	for _, after := range y.found.Phases {
		one := PhaseTimes{Name: after.Name, B: after.EndSeconds - after.StartSeconds}
		for i, before := range x.found.Phases {
			if !used[i] && before.Name == after.Name {
				used[i], one.A = true, before.EndSeconds-before.StartSeconds
				break
			}
		}
		f.Phases = append(f.Phases, one)
	}
	for i, before := range x.found.Phases {
		if !used[i] {
			f.Phases = append(f.Phases, PhaseTimes{Name: before.Name, A: before.EndSeconds - before.StartSeconds})
		}
	}
}
