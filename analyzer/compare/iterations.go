package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Thresholds for a difference of iterations.
const (
	alpha      = 0.001
	minShift   = 0.02 // relative to A's iteration, including MPI
	minSamples = 8
)

// compareIterations tests, for all ranks in all phases that both runs have, whether iterations
// differ by more than they vary within the runs.
func (f *Findings) compareIterations(x, y *run) {
	before := map[phases.Key]phases.Samples{}
	for _, s := range x.samples {
		before[s.Key] = s
	}
	var changes []Change
	for _, after := range y.samples {
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
				Samples: len(pair.a) + len(pair.b), Per: s.Per,
			}
			rounding := x.rounding()*c.A + y.rounding()*c.B // width of a bin of rounded times
			if math.Abs(c.Shift) < minShift*whole || math.Abs(c.Shift) <= rounding*(1+1e-6) {
				continue
			}
			c.PValue = rankSum(pair.a, pair.b)
			c.finish(after.Iterations)
			changes = append(changes, c)
		}
	}
	f.keep(changes, alpha)
}

// finish computes the fields that depend on A, the shift and the number of B's iterations.
func (c *Change) finish(iterations uint64) {
	if c.A > 0 {
		c.Percent = 100 * c.Shift / c.A
	}
	c.Seconds = c.Shift * float64(iterations)
}

// keep keeps the changes whose p-value, times the number of tests, is below level.
func (f *Findings) keep(changes []Change, level float64) {
	for _, c := range changes {
		if c.PValue = min(1, c.PValue*float64(f.Tests)); c.PValue < level {
			f.Changes = append(f.Changes, c)
		}
	}
	slices.SortStableFunc(f.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.What, b.What), -cmp.Compare(math.Abs(a.Seconds), math.Abs(b.Seconds)))
	})
}
