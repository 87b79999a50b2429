package trace

// MomentLimit is by how much the trace may be off in a moment (the enter or exit of a call, relative to the thread's first
// enter), in ticks: MomentTicks where that is stated. Traces from before it was have moments within the error of the
// thread's longest interval so far. 0 unless timing is lossy.
func (t *TimingSettings) MomentLimit(longest int64) int64 {
	switch {
	case t.Mode != TimingLossy || longest <= 0:
		return 0
	case t.MomentTicks > 0:
		return t.MomentTicks
	}
	return shareOf(longest, int64(t.WorstError()))
}
