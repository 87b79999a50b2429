package cpus

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A RankCPU is the CPU usage of a rank between its first and its last sample.
type RankCPU struct {
	Rank int `json:"rank"`
	// Share is the part of that time for which the process had a CPU; it exceeds 1 if several
	// threads had one.
	Share float64 `json:"share"`
	// RunDelay is the part of it for which the first thread was ready to run and waited for a CPU;
	// null if the kernel does not count it.
	RunDelay *float64 `json:"run_delay"`
	// StoppedSeconds is the time for which the container was stopped by its CPU limit; null if
	// unknown.
	StoppedSeconds *float64 `json:"stopped_seconds"`
	// StealSeconds is the time for which the hypervisor ran other machines while CPUs of the rank's
	// machine had something to run, summed over its CPUs; null if unknown.
	StealSeconds *float64 `json:"steal_seconds"`
	// MemorySeconds and DiskSeconds are the times for which the container waited for memory or for
	// disks; null if unknown.
	MemorySeconds *float64 `json:"memory_seconds"`
	DiskSeconds   *float64 `json:"disk_seconds"`
	// MemoryLimitHits is the number of times that the container reached its memory limit, so that
	// pages had to be freed; null if unknown.
	MemoryLimitHits *int64 `json:"memory_limit_hits"`
	// Preemptions is the number of times that another process or thread took the CPU (involuntary
	// context switches).
	Preemptions int64 `json:"preemptions"`
}

// OfRanks returns the CPU usage of all ranks that were sampled at least twice.
func OfRanks(t timeline.Trace) []RankCPU {
	list := []RankCPU{}
	for _, r := range t.Ranks().All() {
		if one := ofRank(&r); one != nil {
			list = append(list, *one)
		}
	}
	return list
}

func ofRank(r *trace.Rank) *RankCPU {
	if len(r.Context) < 2 {
		return nil
	}
	first, last := r.Context[0], r.Context[len(r.Context)-1]
	wall := float64(last.MonotonicNS - first.MonotonicNS)
	if wall <= 0 {
		return nil
	}
	one := RankCPU{Rank: r.Rank, Share: float64(last.CPUNS-first.CPUNS) / wall, Preemptions: last.InvoluntarySwitches - first.InvoluntarySwitches}
	if last.RunDelayNS > 0 {
		one.RunDelay = new(min(1, float64(last.RunDelayNS-first.RunDelayNS)/wall))
	}
	if first.ThrottledNS >= 0 && last.ThrottledNS >= 0 {
		one.StoppedSeconds = new(float64(last.ThrottledNS-first.ThrottledNS) / 1e9)
	}
	if ns, known := r.StealNS(); known {
		one.StealSeconds = new(float64(ns) / 1e9)
	}
	if seconds, known := accounts.MemoryStall(r); known {
		one.MemorySeconds = &seconds
	}
	if seconds, known := accounts.IOStall(r); known {
		one.DiskSeconds = &seconds
	}
	if r.Pressure != nil && r.Pressure.MemoryLimitHits >= 0 {
		one.MemoryLimitHits = &r.Pressure.MemoryLimitHits
	}
	return &one
}
