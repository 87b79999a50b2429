package limits

import (
	"syscall"
	"testing"
)

// ReportCPU reports the processor time per operation, which other programs on the machine disturb
// less than the wall time; call it at the start and run what it returns at the end.
func ReportCPU(b *testing.B) func() {
	start := CPUNS()
	return func() {
		b.ReportMetric(float64(CPUNS()-start)/float64(b.N), "cpu-ns/op")
	}
}

// CPUNS is the processor time of the process so far, in nanoseconds.
func CPUNS() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
