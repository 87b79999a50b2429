package cpus

// Findings are what ranks had of the CPUs, all together and each.
type Findings struct {
	CPUs *CPUs `json:"cpus"` // null where the operating system was not asked twice
	// RankCPUs are those of ranks for which the operating system was asked twice; null where a part of the run was looked at.
	RankCPUs []RankCPU `json:"rank_cpus" jsonschema:"nullable"`
}

const (
	fewCPUs     = 0.8 // of its time that a rank has a CPU: with less, CPUs are to blame for what communication loses
	oftenAside  = 50  // preemptions in a second without a CPU, where the kernel does not count the wait for a CPU
	muchStarved = 0.1 // of its time that a rank lacked a CPU to go on: one that sleeps or waits for a disk needs none
	shared      = 0.1 // of its time that a rank was ready to run and waited for a CPU, or not: it may have polled
	muchStopped = 0.1 // of its time that a container was stopped by its CPU limit
)

// CPUs is what ranks had of the CPUs: means over the ranks that were sampled twice and more, between their first sample
// and their last one.
type CPUs struct {
	// Share is the part of its time for which a rank had a CPU, at most 1 (a rank of several threads may have more).
	Share float64 `json:"share"`
	// RunDelay is the part of its time for which the first thread of a rank was ready to run and waited for a CPU; null where
	// the kernel does not count it.
	RunDelay *float64 `json:"run_delay"`
	// Starved is what of that is beyond the time that the rank waited for other ranks: meanwhile it polls, at most, and has
	// nothing to go on with. Null likewise.
	Starved *float64 `json:"starved"`
	// InvoluntarySwitches is how often a rank was preempted by another process or thread (involuntary context switches), in each
	// second that it had no CPU; 0 if it always had one.
	InvoluntarySwitches float64 `json:"involuntary_switches_per_second"`
	// Stopped is the part of its time for which the CPU limit of a rank's container stopped it, at most 1; 0 where that
	// is not known.
	Stopped float64 `json:"stopped"`
	// Machines are those that lost CPUs to others of the same hypervisor; StolenEverywhere is set if all did, each for 5 % of the
	// time for which its ranks wanted a CPU.
	Machines         []Machine `json:"machines"`
	StolenEverywhere bool      `json:"stolen_everywhere"`
}

// AreFew reports whether the ranks had to share CPUs so much that it shows. How often they were preempted tells that only
// where it is not known for how long they waited then: ranks that poll are preempted whenever one that slept goes on.
func (c *CPUs) AreFew() bool {
	switch {
	case c == nil || c.Share >= fewCPUs:
		return false
	case c.Starved != nil:
		return *c.Starved >= muchStarved
	}
	return c.InvoluntarySwitches >= oftenAside
}

// AreLimited reports whether CPU limits stopped the ranks, all alike.
func (c *CPUs) AreLimited() bool { return c != nil && c.Stopped >= muchStopped }

// AreShared reports whether ranks had to wait for their turn so often that how long a computation took says little of it.
func (c *CPUs) AreShared() bool { return c != nil && c.RunDelay != nil && *c.RunDelay >= shared }

// Lost is for how many seconds of the run a rank lacked a CPU to go on; what it had none for where that is not known.
func (c *CPUs) Lost(run float64) float64 {
	if c.Starved == nil {
		return (1 - c.Share) * run
	}
	return *c.Starved * run
}

// A Machine is what the hypervisor took of a machine.
type Machine struct {
	Name string `json:"name"` // of its node; the host outside Kubernetes
	// StealSeconds is for how long the hypervisor ran other machines while CPUs of this one had something to run, of all its
	// CPUs together.
	StealSeconds float64 `json:"steal_seconds"`
	// Share is the part of the time for which the ranks there wanted a CPU, and it was stolen, at most 1. It is too much where
	// other processes than the ranks lose CPUs.
	Share float64 `json:"share"`
}
