package cpus

// Findings are the CPU usage of ranks, in total and of each.
type Findings struct {
	CPUs *CPUs `json:"cpus"` // null if no rank was sampled twice
	// RankCPUs are the ranks that were sampled at least twice; null if only a part of the run was
	// analyzed.
	RankCPUs []RankCPU `json:"rank_cpus" jsonschema:"nullable"`
}

const (
	fewCPUs        = 0.8 // share of time on a CPU below which lost communication time is attributed to CPUs
	oftenPreempted = 50  // preemptions per second without a CPU, if the kernel does not count the wait for a CPU
	// share of time in which a rank lacked a CPU to make progress; a rank that sleeps or waits for
	// a disk needs none
	muchStarved = 0.1
	// share of time in which a rank was ready to run but had no CPU, even if it would
	// only have polled
	shared      = 0.1
	muchStopped = 0.1 // share of time in which a container was stopped by its CPU limit
)

// CPUs is the CPU usage of ranks: means over the ranks with at least two samples, between the first
// and the last sample of each.
type CPUs struct {
	// Share is the part of its time for which a rank had a CPU, at most 1 even if it has several
	// threads.
	Share float64 `json:"share"`
	// RunDelay is the part of its time for which the first thread of a rank was ready to run and
	// waited for a CPU; null if the kernel does not count it.
	RunDelay *float64 `json:"run_delay"`
	// Starved is the part of RunDelay that exceeds the time in which the rank waited for other
	// ranks, since a waiting rank at most polls and cannot make progress anyway. Null if RunDelay
	// is.
	Starved *float64 `json:"starved"`
	// InvoluntarySwitches is the number of times that a rank was preempted by another process or
	// thread (involuntary context switches) per second without a CPU; 0 if it always had one.
	InvoluntarySwitches float64 `json:"involuntary_switches_per_second"`
	// Stopped is the part of its time for which a rank's container was stopped by its CPU limit, at
	// most 1; 0 if unknown.
	Stopped float64 `json:"stopped"`
	// Machines are those that lost CPU time to others of the same hypervisor. StolenEverywhere
	// reports whether all machines did, each for at least 5 % of the time for which its ranks
	// wanted a CPU.
	Machines         []Machine `json:"machines"`
	StolenEverywhere bool      `json:"stolen_everywhere"`
}

// AreFew reports whether the ranks measurably lacked CPUs. The number of preemptions counts only if
// the time that they waited for a CPU is unknown: polling ranks are preempted whenever a sleeping
// one continues.
func (c *CPUs) AreFew() bool {
	switch {
	case c == nil || c.Share >= fewCPUs:
		return false
	case c.Starved != nil:
		return *c.Starved >= muchStarved
	}
	return c.InvoluntarySwitches >= oftenPreempted
}

// AreLimited reports whether CPU limits stopped the ranks, on average over all of them.
func (c *CPUs) AreLimited() bool { return c != nil && c.Stopped >= muchStopped }

// AreShared reports whether ranks waited for a CPU so often that the duration of a computation is
// hardly meaningful.
func (c *CPUs) AreShared() bool { return c != nil && c.RunDelay != nil && *c.RunDelay >= shared }

// Lost returns for how many seconds of a run a rank lacked a CPU to make progress, or, if that is
// unknown, had no CPU.
func (c *CPUs) Lost(run float64) float64 {
	if c.Starved == nil {
		return (1 - c.Share) * run
	}
	return *c.Starved * run
}

// A Machine is the CPU time that the hypervisor took from a machine.
type Machine struct {
	Name string `json:"name"` // its node, or its host outside Kubernetes
	// StealSeconds is the time for which the hypervisor ran other machines while CPUs of this one
	// had something to run, summed over its CPUs.
	StealSeconds float64 `json:"steal_seconds"`
	// Share is the stolen part of the time for which the ranks of this machine wanted a CPU, at
	// most 1. It is too large if processes other than the ranks lose CPU time.
	Share float64 `json:"share"`
}
