package trace

// MomentLimit is by how much the trace may be off in a moment (the enter or exit of a call, relative to the thread's first
// enter), in ticks. 0 unless timing is lossy.
func (t *TimingSettings) MomentLimit() int64 {
	if t.Mode != TimingLossy {
		return 0
	}
	return MomentTicks
}
