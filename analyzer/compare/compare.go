package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace/timing"
)

const maxListed = 100

// A Recording is a run to compare.
type Recording struct {
	timeline.Trace
	Clock *clock.Map // nil: it is computed
}

// Compare compares runs of a program before and after a change: one run per side, or at least two.
func Compare(ctx context.Context, a, b []Recording) (Findings, error) {
	if err := CheckRuns(len(a), len(b)); err != nil {
		return Findings{}, err
	}
	x, y, err := lookAll(ctx, a, b)
	if err != nil {
		return Findings{}, err
	}
	return differences(x, y)
}

// differences compares what is known of the runs.
func differences(x, y []*run) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Causes: []Cause{}, Changes: []Change{}, Activities: []Activity{}, Notes: []string{}, Phases: []PhaseTimes{}}
	for _, side := range [][]*run{x, y} {
		if err := oneProgram(side); err != nil {
			return f, err
		}
	}
	f.A, f.B = sideOf(x, y), sideOf(y, x)
	f.nodes, f.rounding = y[0].nodes, stats.Mean(runTimes(x).bounds)+stats.Mean(runTimes(y).bounds)
	f.Difference = f.B.Seconds - f.A.Seconds
	f.Notes = append(f.Notes, notes(x, y)...)
	if min(f.A.Common, f.B.Common) < 100*sameProgram {
		f.DifferentPrograms = true
		f.Text = f.sentence()
		return f, nil
	}
	f.Computation, f.MPI = f.B.Computation-f.A.Computation, f.B.MPI-f.A.MPI
	f.matchLines(x, y)
	if len(x) == 1 {
		f.compareIterations(x[0], y[0])
	} else {
		f.compareRunTimes(x, y)
		f.compareRuns(x, y)
	}
	f.compareCauses(x, y)
	f.compareActivities(x, y)
	f.comparePhases(x, y)
	f.Text = f.sentence() // of all changes, including those that are not listed
	f.Omitted = max(0, len(f.Changes)-maxListed)
	f.Changes = f.Changes[:len(f.Changes)-f.Omitted]
	return f, nil
}

// CheckRuns returns an error if these numbers of runs cannot be compared.
func CheckRuns(a, b int) error {
	runs := fmt.Sprintf("%s of A and %d of B", wording.Count(a, "run", "runs"), b)
	switch {
	case a == 0 || b == 0:
		return fmt.Errorf("%s: there is nothing to compare", runs)
	case min(a, b) == 1 && max(a, b) > 1:
		return fmt.Errorf("%s: give one a side, or at least two of each, which show how far apart equal runs are", runs)
	}
	return nil
}

// atOnce is the number of traces that are read concurrently.
const atOnce = 2

func lookAll(ctx context.Context, a, b []Recording) (x, y []*run, err error) {
	x, y = make([]*run, len(a)), make([]*run, len(b))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	side := func(letter string, recordings []Recording, runs []*run) {
		for i, t := range recordings {
			name := letter
			if len(recordings) > 1 {
				name = fmt.Sprintf("%s%d", letter, i+1)
			}
			group.Go(func() (err error) {
				if t.Meta().Timing.Mode == timing.Aggregated {
					return fmt.Errorf("%s: the times of single calls were not kept (timing aggregated): there are no iterations to compare; trace all runs with timing lossless or lossy", name)
				}
				if runs[i], err = readRun(inner, name, t); err != nil {
					err = fmt.Errorf("%s: %w", name, err)
				}
				return err
			})
		}
	}
	side("A", a, x)
	side("B", b, y)
	return x, y, group.Wait()
}

// sideOf summarizes the runs of one side.
func sideOf(runs, others []*run) Side {
	first := runs[0]
	s := Side{
		Runs: len(runs), Executable: first.executable, Ranks: len(first.ranks), Phases: first.text, Causes: causesOf(runs),
		Shortest: first.seconds, Longest: first.seconds, Common: 100 * first.common(others[0]),
	}
	times := runTimes(runs)
	s.Seconds = times.Mean()
	for _, r := range runs {
		s.Shortest, s.Longest = min(s.Shortest, r.seconds), max(s.Longest, r.seconds)
		s.Computation += r.compute / float64(len(runs))
		s.MPI += r.mpi / float64(len(runs))
	}
	if len(runs) > 1 {
		deviation := stats.StdDev(times.values)
		s.Deviation = &deviation
	}
	return s
}

// matchLines matches loops, and call sites by function where lines moved.
func (f *Findings) matchLines(x, y []*run) {
	all := append(slices.Clone(x), y...)
	for _, r := range all {
		if r != y[0] {
			r.nameLoopsAs(y[0])
		}
		f.CallSitesMoved = f.CallSitesMoved || linesMoved(all[0], r)
	}
	if !f.CallSitesMoved {
		return
	}
	for _, r := range all {
		r.forgetLines()
	}
	f.Notes = append(f.Notes, "Call sites moved to other lines from A to B: they are matched by function, all of one function as one.")
}

func (f *Findings) compareActivities(x, y []*run) {
	all := map[place]*Activity{}
	at := func(p place) *Activity {
		if all[p] == nil {
			one := &Activity{Function: p.function, CallSite: p.site, What: "mpi", Rank: -1}
			if p.computation {
				one.What = "computation"
			}
			all[p] = one
		}
		return all[p]
	}
	for _, r := range x {
		for p, seconds := range r.total {
			at(p).A += seconds / float64(len(x))
		}
	}
	for _, r := range y {
		for p, seconds := range r.total {
			at(p).B += seconds / float64(len(y))
		}
	}
	for p, one := range all {
		one.Difference = one.B - one.A
		for _, rank := range y[0].ranks {
			d := meanAt(y, rank, p) - meanAt(x, rank, p)
			if one.Rank < 0 || d*sign(one.Difference) > one.RankDifference*sign(one.Difference) {
				one.Rank, one.RankDifference = rank, d
			}
		}
		f.Activities = append(f.Activities, *one)
	}
	slices.SortFunc(f.Activities, func(a, b Activity) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.CallSite, b.CallSite), cmp.Compare(a.What, b.What))
	})
	f.Activities = f.Activities[:min(len(f.Activities), maxListed)]
}

func sign(x float64) float64 { return math.Copysign(1, x) }

// comparePhases pairs phases of the same name, in order.
func (f *Findings) comparePhases(x, y []*run) {
	type nth struct {
		name string
		n    int
	}
	rows := map[nth]int{}
	each := func(side []*run, add func(p *PhaseTimes, seconds, iterations float64)) {
		for _, r := range side {
			seen := map[string]int{}
			for _, p := range r.phases {
				key := nth{p.Name, seen[p.Name]}
				seen[p.Name]++
				i, known := rows[key]
				if !known {
					i = len(f.Phases)
					rows[key], f.Phases = i, append(f.Phases, PhaseTimes{Name: p.Name})
				}
				n := float64(len(side))
				add(&f.Phases[i], (p.EndSeconds-p.StartSeconds)/n, float64(p.Iterations)/n)
			}
		}
	}
	each(y, func(p *PhaseTimes, seconds, iterations float64) {
		p.B, p.BIterations = p.B+seconds, p.BIterations+iterations
	})
	each(x, func(p *PhaseTimes, seconds, iterations float64) {
		p.A, p.AIterations = p.A+seconds, p.AIterations+iterations
	})
}
