package merger

import "github.com/cairn-mpi/cairn/trace"

// What the operating system counts for a rank is sampled more often than it is asked for: findings use what its counts grow by
// over the run, and on which CPUs of a machine ranks were seen at all. So a finished trace has a rank's first and last sample,
// the first with counts of nothing, and in between one at most that tells of another CPU.

// seenCPUs are the CPUs on which ranks were seen, by boot id and host of their machine.
type seenCPUs map[[2]string]map[int64]bool

// ofRun is what a finished trace has of a rank's samples.
func (s seenCPUs) ofRun(r *trace.Rank) []trace.ContextSample {
	if len(r.Context) == 0 {
		return nil
	}
	last := len(r.Context) - 1
	machine := [2]string{r.BootID, r.Host}
	seen := s[machine]
	if seen == nil {
		seen = map[int64]bool{trace.Unknown: true}
		s[machine] = seen
	}
	seen[r.Context[0].CPU], seen[r.Context[last].CPU] = true, true
	kept := r.Context[:1:1]
	for i := range r.Context[:last] {
		if cpu := r.Context[i].CPU; !seen[cpu] {
			seen[cpu] = true
			kept = append(kept, r.Context[i])
			break
		}
	}
	if last > 0 {
		kept = append(kept, r.Context[last])
	}
	return sinceFirst(kept)
}

// counted is what a kernel that counts run delay has counted by the first sample, at least: 0 says that it does not.
const counted = 1 << 16

// sinceFirst takes what was counted by the first sample off all counts.
func sinceFirst(samples []trace.ContextSample) []trace.ContextSample {
	list := make([]trace.ContextSample, len(samples))
	for i := range samples {
		s := samples[i]
		for _, count := range []func(*trace.ContextSample) *int64{
			func(s *trace.ContextSample) *int64 { return &s.CPUNS },
			func(s *trace.ContextSample) *int64 { return &s.VoluntarySwitches },
			func(s *trace.ContextSample) *int64 { return &s.InvoluntarySwitches },
			func(s *trace.ContextSample) *int64 { return &s.ThrottledPeriods },
			func(s *trace.ContextSample) *int64 { return &s.ThrottledNS },
			func(s *trace.ContextSample) *int64 { return &s.RunDelayNS },
			func(s *trace.ContextSample) *int64 { return &s.StealNS },
		} {
			if v := count(&s); *v >= 0 {
				*v = max(0, *v-max(0, *count(&samples[0])))
			}
		}
		if samples[len(samples)-1].RunDelayNS > 0 {
			s.RunDelayNS += counted
		}
		list[i] = s
	}
	return list
}
