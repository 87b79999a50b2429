package trace

import (
	"syscall"
	"testing"
)

// reportCPU reports the processor time per operation, which other programs on the machine disturb less than the wall
// time; call it at the start and run what it returns at the end.
func reportCPU(b *testing.B) func() {
	start := cpuNS()
	return func() {
		b.ReportMetric(float64(cpuNS()-start)/float64(b.N), "cpu-ns/op")
	}
}

func cpuNS() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
