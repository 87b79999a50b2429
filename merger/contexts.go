package merger

import (
	"slices"
	"sort"

	"github.com/cairn-mpi/cairn/trace"
)

// What the operating system counts for a rank is sampled more often than it is asked for: findings use what its counts grow by
// over the run, and on which CPUs of a machine ranks were seen at all. So a finished trace has a rank's first and last sample,
// the first with counts of nothing, and in between one at most that tells of another CPU. Where the program polls, it has those,
// too, that the line between their neighbors does not tell: they say whether a rank was idle between two polls (package
// analyzer/match, gaps.go).

// seenCPUs are the CPUs on which ranks were seen, by boot id and host of their machine.
type seenCPUs map[[2]string]map[int64]bool

// ofRun is what a finished trace has of a rank's samples, of a program that polls or does not.
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
	// contextShare is the part of a count's growth over the run by which it may be off at a moment: 1/contextShare.
	contextShare = 32
	// Counts may be off by this much in any case: times in ns, and numbers of events.
	contextSlackNS = 5_000_000
	contextSlack   = 8
)

// contextCounts are the counts of a sample that grow, each with what it may be off by in any case.
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

// fewerContext leaves out the samples whose counts lie between those of the two around them, to within what a count may be
// off by. The first and the last stay.
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

// contextBetween reports whether the counts of a sample lie on the line between two others, to within their tolerances.
// What is unknown lies between what is unknown.
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

// counted is what a kernel that counts run delay has counted by the first sample, at least: 0 says that it does not.
const counted = 1 << 16

// sinceFirst takes what was counted by the first sample off all counts.
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
