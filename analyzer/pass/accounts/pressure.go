package accounts

import "github.com/cairn-mpi/cairn/trace"

// What the kernel counted for the cgroups of ranks is known of the whole run.

// MemoryStall returns how long a rank's container waited for memory, in seconds.
func MemoryStall(r *trace.Rank) (seconds float64, known bool) {
	if r.Pressure == nil || r.Pressure.MemoryNS < 0 {
		return 0, false
	}
	return Seconds(r.Pressure.MemoryNS), true
}

// IOStall returns how long a rank's container waited for disks, in seconds.
func IOStall(r *trace.Rank) (seconds float64, known bool) {
	if r.Pressure == nil || r.Pressure.IONS < 0 {
		return 0, false
	}
	return Seconds(r.Pressure.IONS), true
}

// MemoryLimitHits returns how often a rank's container reached its memory limit; 0 if that is not
// known.
func MemoryLimitHits(r *trace.Rank) float64 {
	if r.Pressure == nil {
		return 0
	}
	return float64(max(0, r.Pressure.MemoryLimitHits))
}
