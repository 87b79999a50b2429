package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// kernel is about ranks that are blocked in the kernel, all of them or many.
type kernel struct{ *Cause }

func (kernel) isOfComputation() bool { return true }
func (kernel) isCounted() bool       { return true }

func (c kernel) sentence() string {
	if c.isForMemory() {
		return "waiting for memory makes this job slow: " + c.blockedAlike() + c.meanwhile("")
	}
	run := c.some("it neither runs nor is ready to run", "they neither run nor are ready to run")
	return fmt.Sprintf("waiting in the kernel makes this job slow: %s: %s", c.blockedAlike(), run)
}

// blockedAlike describes that all ranks, or many, are blocked in the kernel.
func (c *Cause) blockedAlike() string {
	who := c.Who()
	if c.Ranks == "" {
		who = "all ranks alike"
	}
	return fmt.Sprintf("%s %s blocked for %s of the %s that %s %s%s", who, c.some("is", "are"), wording.Duration(c.BlockedSeconds),
		wording.Duration(c.EachSeconds), c.some("it spends", "they spend"), c.where(), c.some("", " each, on average"))
}

func (c kernel) short() string { return "waiting in the kernel " + c.between() }

func (c kernel) advice(Neighbors) []string {
	if c.isForMemory() {
		return []string{c.look(), c.adviseMemory()}
	}
	return []string{
		c.look(),
		"They wait there for a lock, another process, a device, the network or a sleep, not for a CPU. See what they call (a profiler for off-CPU time, strace -p); if the program wants to wait there, nothing is wrong.",
	}
}
