package trace

// MomentLimit is by how much the trace may be off in a moment (the enter or exit of a call, relative to the thread's first
// enter), where the thread's longest interval so far is longest, in the same unit. 0 unless timing is lossy.
func (t *TimingSettings) MomentLimit(longest int64) int64 {
	if t.Mode != TimingLossy || longest <= 0 {
		return 0
	}
	return shareOf(longest, int64(t.WorstError()))
}
