package trace

// IntervalBound is by how much the trace may be off in an interval of a function (the duration of a call, or the gap before
// it) that was so long, in the same unit. 0 unless timing is lossy.
func (t *TimingSettings) IntervalBound(function string, interval int64) int64 {
	if t.Mode != TimingLossy || interval <= 0 {
		return 0
	}
	return shareOf(interval, int64(t.ErrorOf(function)))
}

// shareOf is so many per cent of x, rounded down, without overflow.
func shareOf(x, percent int64) int64 { return x/100*percent + x%100*percent/100 }
