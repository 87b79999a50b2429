package compare

import (
	"math"

	"github.com/aclements/go-moremath/stats"

	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// runAlpha is the maximum probability of reporting a difference of equal runs. There are two kinds
// of reports, of run times and of iterations: each has half of it.
const runAlpha = 0.05

// minRanks is the minimum number of ranks for which the median over ranks represents the others.
const minRanks = 3

// runTimes are the run times of a side.
func runTimes(side []*run) *sample {
	times := new(sample)
	for _, r := range side {
		// the end of a run has the error of the longest recent interval
		longest := 0.0
		for i := range r.samples {
			s := &r.samples[i]
			for k := range s.Computation {
				longest = max(longest, s.Computation[k]+s.MPI[k])
			}
		}
		times.add(r.seconds, r.rounding()*longest)
	}
	return times
}

// compareRunTimes tests whether run times differ by more than those of equal runs.
func (f *Findings) compareRunTimes(x, y []*run) {
	p, detectable := welch(runTimes(x), runTimes(y), runAlpha/2)
	f.PValue = &p
	if f.A.Seconds > 0 {
		percent := 100 * detectable / f.A.Seconds
		f.Detectable = &percent
	}
}

// An iteration is the mean iteration of a rank in a loop of one run, with its rounding errors.
type iteration struct {
	computation, mpi           float64
	computationError, mpiError float64
}

// meanIteration computes the mean iteration of a run. Intervals are rounded within a relative
// error, up or down so that moments, which are their sums, stay within that error of the longest
// recent interval. So the mean is much more accurate than single values: errors compensate each
// other, except for the error of one moment at the begin and one at the end.
func meanIteration(r *run, s *phases.Samples) iteration {
	i := iteration{computation: stats.Mean(s.Computation), mpi: stats.Mean(s.MPI)}
	longest := 0.0
	for k := range s.Computation {
		longest = max(longest, s.Computation[k]+s.MPI[k])
	}
	ends := 2 * longest / float64(uint64(len(s.Computation))*s.Per)
	if r.meta.Clustering != nil { // scaled times of a lead rank: errors do not compensate
		ends = math.Inf(1)
	}
	i.computationError = r.rounding() * min(i.computation, i.mpi+ends)
	i.mpiError = r.rounding() * min(i.mpi, i.computation+ends)
	if r.rounding() == 0 {
		i.computationError, i.mpiError = 0, 0
	}
	return i
}

// inLoop is the iterations of the ranks of a run in a loop.
type inLoop struct {
	ranks  map[phases.Key]iteration
	median float64 // of the ranks' computation
}

// inLoops returns those of all loops of a run.
func inLoops(r *run) map[loop]*inLoop {
	all := map[loop]*inLoop{}
	computation := map[loop][]float64{}
	for i := range r.samples {
		s := &r.samples[i]
		if len(s.Computation) == 0 {
			continue
		}
		l := loopOf(&s.Key)
		if all[l] == nil {
			all[l] = &inLoop{ranks: map[phases.Key]iteration{}}
		}
		all[l].ranks[s.Key] = meanIteration(r, s)
		computation[l] = append(computation[l], all[l].ranks[s.Key].computation)
	}
	for l := range all {
		all[l].median = median(computation[l])
	}
	return all
}

// compareRuns tests, for all ranks in all loops, whether the mean iteration differs by more from
// side to side than from run to run. A rank's computation is also compared relative to the median
// over the ranks of its run: then it is not hidden by what makes a whole run slower or faster, such
// as other load of the machine.
func (f *Findings) compareRuns(x, y []*run) {
	before, after := inLoopsOf(x), inLoopsOf(y)
	var changes []Change
	for i := range y[0].samples {
		s := &y[0].samples[i]
		l := loopOf(&s.Key)
		a, b := collectSamples(before, l, s.Key), collectSamples(after, l, s.Key)
		if len(a.computation.values) < 2 || len(b.computation.values) < 2 {
			continue
		}
		c := Change{Phase: s.Phase, Rank: s.Rank, What: "computation"}
		whole := a.computation.Mean() + a.mpi.Mean()
		absolute := f.test(c, &a.computation, &b.computation, whole, s.Iterations)
		relative := absolute
		if a.ranks >= minRanks && b.ranks >= minRanks {
			c.Relative = true
			others := a.median.Mean() // as in A, so that the change is in seconds
			relative = f.test(c, a.relative.times(others), b.relative.times(others), whole, s.Iterations)
		}
		c.What, c.Relative = "mpi", false
		inMPI := f.test(c, &a.mpi, &b.mpi, whole, s.Iterations)
		// report only one change of a rank's computation: the more significant one
		if absolute == nil || relative != nil && relative.PValue < absolute.PValue {
			absolute = relative
		}
		for _, c := range []*Change{absolute, inMPI} {
			if c != nil {
				changes = append(changes, *c)
			}
		}
	}
	f.keep(changes, runAlpha/2)
}

func inLoopsOf(side []*run) []map[loop]*inLoop {
	all := make([]map[loop]*inLoop, len(side))
	for i, r := range side {
		all[i] = inLoops(r)
	}
	return all
}

// A samplesOfSide is the iterations of a rank in a loop, with a value for each run.
type samplesOfSide struct {
	computation, mpi sample
	relative         sample // computation divided by the median over the run's ranks
	median           sample // that median
	ranks            int    // minimum over the runs
}

func collectSamples(side []map[loop]*inLoop, l loop, key phases.Key) *samplesOfSide {
	g := &samplesOfSide{ranks: math.MaxInt}
	for _, loops := range side {
		in := loops[l]
		if in == nil {
			continue
		}
		i, there := in.ranks[key]
		if !there {
			continue
		}
		g.ranks = min(g.ranks, len(in.ranks))
		g.computation.add(i.computation, i.computationError)
		g.mpi.add(i.mpi, i.mpiError)
		if in.median <= 0 {
			g.ranks = 0
			continue
		}
		g.median.add(in.median, 0)
		// both the rank's time and that of the others are rounded
		g.relative.add(i.computation/in.median, 2*i.computationError/in.median)
	}
	return g
}

// times returns the sample with all values multiplied by factor.
func (s *sample) times(factor float64) *sample {
	scaled := new(sample)
	for i, v := range s.values {
		scaled.add(v*factor, s.bounds[i]*factor)
	}
	return scaled
}

// test does one test: nil if the difference is too small.
func (f *Findings) test(c Change, a, b *sample, whole float64, iterations uint64) *Change {
	f.Tests++
	c.A, c.B = a.Mean(), b.Mean()
	rounding := stats.Mean(a.bounds) + stats.Mean(b.bounds)
	c.Shift = c.B - c.A
	if math.Abs(c.Shift) < minShift*whole || math.Abs(c.Shift) <= rounding*(1+1e-6) {
		return nil
	}
	c.PValue, _ = welch(a, b, runAlpha/2)
	c.Samples = len(a.values) + len(b.values)
	c.finish(iterations)
	return &c
}
