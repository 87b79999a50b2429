package inspect

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// rankPressure is what the kernel counted for the cgroup and the TCP connections of a rank, and how
// often it was seen suspended; null where it is not known.
type rankPressure struct {
	Rank            int      `json:"rank"`
	MemorySeconds   *float64 `json:"memory_seconds"` // waited for memory
	DiskSeconds     *float64 `json:"disk_seconds"`   // waited for disks
	MemoryLimitHits *int64   `json:"memory_limit_hits"`
	Segments        *int64   `json:"tcp_segments"` // sent with data
	Retransmits     *int64   `json:"tcp_retransmits"`
	Looks           int64    `json:"looks"`     // at its first thread, from outside; 0 if it never was suspended
	Suspended       int64    `json:"suspended"` // by a signal or a debugger, in these looks
}

// pressureOf returns nil if nothing is known.
func pressureOf(r *trace.Rank) *rankPressure {
	if r.Pressure == nil && r.TCP == nil && r.Suspensions.Looks == 0 {
		return nil
	}
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	seconds := func(ns int64) *float64 {
		if ns < 0 {
			return nil
		}
		return new(float64(ns) / 1e9)
	}
	p := &rankPressure{Rank: r.Rank, Looks: r.Suspensions.Looks, Suspended: r.Suspensions.Suspended}
	if r.Pressure != nil {
		p.MemorySeconds, p.DiskSeconds = seconds(r.Pressure.MemoryNS), seconds(r.Pressure.IONS)
		p.MemoryLimitHits = known(r.Pressure.MemoryLimitHits)
	}
	if r.TCP != nil {
		p.Segments, p.Retransmits = known(r.TCP.Segments), known(r.TCP.Retransmits)
	}
	return p
}

// String describes what is not zero; "" if nothing is.
func (p rankPressure) String() string {
	var parts []string
	if s := p.MemorySeconds; s != nil && *s > 0 {
		parts = append(parts, fmt.Sprintf("waited %.3g s for memory", *s))
	}
	if s := p.DiskSeconds; s != nil && *s > 0 {
		parts = append(parts, fmt.Sprintf("waited %.3g s for disks", *s))
	}
	if n := p.MemoryLimitHits; n != nil && *n > 0 {
		parts = append(parts, fmt.Sprintf("memory limit reached %d times", *n))
	}
	if n := p.Retransmits; n != nil && *n > 0 && p.Segments != nil {
		parts = append(parts, fmt.Sprintf("retransmitted %d of %d TCP segments", *n, *p.Segments))
	}
	if p.Suspended > 0 {
		parts = append(parts, fmt.Sprintf("seen suspended in %d of %d looks", p.Suspended, p.Looks))
	}
	return strings.Join(parts, ", ")
}
