package merger

import (
	"slices"
	"sort"

	"github.com/cairn-mpi/cairn/trace"
)

// The operating system's counters of a rank are sampled more often than needed: findings use their
// growth over the run, and the CPUs of a machine that ranks ran on. So a finished trace has a
// rank's first and last sample, the first with zero counts, and at most one sample in between that
// shows another CPU. If the program polls, the trace also has the samples that are not on the line
// between their neighbors: they show whether a rank was idle between two polls (package
// analyzer/match, gaps.go).

// seenCPUs are the CPUs that ranks ran on, by boot id and host of their machine.
type seenCPUs map[[2]string]map[int64]bool

// ofRun returns the samples of a rank for a finished trace of a program that polls or does not.
func (s seenCPUs) ofRun(r *trace.Rank, polls bool) []trace.ContextSample {
	if len(r.Context) == 0 {
		return nil
	}
	last := len(r.Context) - 1
	kept := slices.Clone(r.Context[:1])
	if polls {
		kept = fewerContext(r.Context)
	} else if last > 0 {
		kept = append(kept, r.Context[last])
	}
	machine := [2]string{r.BootID, r.Host}
	seen := s[machine]
	if seen == nil {
		seen = map[int64]bool{trace.Unknown: true}
		s[machine] = seen
	}
	for i := range kept {
		seen[kept[i].CPU] = true
	}
	for i := range r.Context[:last] {
		if sample := r.Context[i]; !seen[sample.CPU] {
			seen[sample.CPU] = true
			at := sort.Search(len(kept), func(k int) bool { return kept[k].MonotonicNS > sample.MonotonicNS })
			kept = slices.Insert(slices.Clone(kept), at, sample)
			break
		}
	}
	return sinceFirst(kept)
}

const (
	// contextShare: at any time a count may be wrong by 1/contextShare of its growth over the run.
	contextShare = 32
	// Tolerances of counts in any case: of times in ns, and of numbers of events.
	contextSlackNS = 5_000_000
	contextSlack   = 8
)

// contextCounts are the counts of a sample that grow, with their tolerances.
var contextCounts = []struct {
	of    func(*trace.ContextSample) *int64
	slack int64
}{
	{func(s *trace.ContextSample) *int64 { return &s.CPUNS }, contextSlackNS},
	{func(s *trace.ContextSample) *int64 { return &s.VoluntarySwitches }, contextSlack},
	{func(s *trace.ContextSample) *int64 { return &s.InvoluntarySwitches }, contextSlack},
	{func(s *trace.ContextSample) *int64 { return &s.ThrottledPeriods }, contextSlack},
	{func(s *trace.ContextSample) *int64 { return &s.ThrottledNS }, contextSlackNS},
	{func(s *trace.ContextSample) *int64 { return &s.RunDelayNS }, contextSlackNS},
	{func(s *trace.ContextSample) *int64 { return &s.StealNS }, contextSlackNS},
}

// fewerContext omits the samples with counts on the line between the two around them, to within the
// tolerances. The first and the last are kept.
func fewerContext(samples []trace.ContextSample) []trace.ContextSample {
	if len(samples) < 3 {
		return samples
	}
	last := &samples[len(samples)-1]
	tolerance := make([]int64, len(contextCounts))
	for k, c := range contextCounts {
		tolerance[k] = max(c.slack, (*c.of(last)-*c.of(&samples[0]))/contextShare)
	}
	kept := []trace.ContextSample{samples[0]}
	from := 0
	for to := 2; to < len(samples); to++ {
		for k := from + 1; k < to; k++ {
			if !contextBetween(&samples[from], &samples[k], &samples[to], tolerance) {
				from = to - 1
				kept = append(kept, samples[from])
				break
			}
		}
	}
	return append(kept, *last)
}

// contextBetween reports whether the counts of a sample lie on the line between two others, to
// within their tolerances. An unknown count lies between unknown counts.
func contextBetween(a, s, b *trace.ContextSample, tolerance []int64) bool {
	if b.MonotonicNS <= a.MonotonicNS {
		return false
	}
	share := float64(s.MonotonicNS-a.MonotonicNS) / float64(b.MonotonicNS-a.MonotonicNS)
	for i, c := range contextCounts {
		x, y, z := *c.of(a), *c.of(s), *c.of(b)
		if (x < 0) != (y < 0) || (y < 0) != (z < 0) {
			return false
		}
		off := float64(y-x) - share*float64(z-x)
		if off > float64(tolerance[i]) || -off > float64(tolerance[i]) {
			return false
		}
	}
	return true
}

// counted is the minimum run delay at the first sample on a kernel that counts it; 0 means that it
// does not.
const counted = 1 << 16

// sinceFirst subtracts the counts of the first sample from all samples.
func sinceFirst(samples []trace.ContextSample) []trace.ContextSample {
	list := make([]trace.ContextSample, len(samples))
	for i := range samples {
		s := samples[i]
		for _, c := range contextCounts {
			if v := c.of(&s); *v >= 0 {
				*v = max(0, *v-max(0, *c.of(&samples[0])))
			}
		}
		if samples[len(samples)-1].RunDelayNS > 0 {
			s.RunDelayNS += counted
		}
		list[i] = s
	}
	return list
}
