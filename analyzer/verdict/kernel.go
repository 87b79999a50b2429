package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// kernel is about ranks that are blocked in the kernel, or for which it works: all of them or many.
type kernel struct{ *Cause }

func (kernel) isOfComputation() bool { return true }
func (kernel) isCounted() bool       { return true }

func (c kernel) charge() Charge { return Charge{Each: c.KernelSeconds} }

func (c kernel) sentence() string {
	if c.Form == SystemTime {
		return c.systemTime()
	}
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

// systemTime describes that the kernel works for all ranks, or many.
func (c kernel) systemTime() string {
	who, times := c.Who(), " on average"
	if c.Ranks == "" {
		who = "all ranks alike"
	}
	if c.Of == 1 {
		times = ""
	}
	like := ""
	if c.Regions > 1 {
		like = "; " + wording.Count(c.Regions-1, "other region is", "other regions are") + " like it"
	}
	does := fmt.Sprintf("; the kernel works for %s of that", wording.Duration(c.SystemSeconds))
	switch {
	case c.Bytes > 0:
		does += c.meanwhile("")
	case c.PageFaults > 0:
		does += fmt.Sprintf(", with %s page faults each time", humanize.Comma(int64(c.PageFaults)))
	}
	return fmt.Sprintf("%s this job slow: %s %s %s%s %s%s%s", c.work(" makes", " make"), who, c.some("spends", "spend"),
		wording.Duration(c.EachSeconds), times, c.where(), does, like)
}

// work names what the kernel does, with the form of a verb.
func (c kernel) work(one, several string) string {
	switch {
	case c.Bytes > 0:
		return "files" + several
	case c.PageFaults > 0:
		return "page faults" + several
	}
	return "system time" + one
}

func (c kernel) short() string {
	if c.Form == SystemTime {
		return c.work("", "") + " " + c.between()
	}
	return "waiting in the kernel " + c.between()
}

func (c kernel) advice(Neighbors) []string {
	if c.isForMemory() {
		return []string{c.look(), c.adviseMemory()}
	}
	if c.Form == SystemTime {
		return []string{c.look(), c.adviseSystemTime()}
	}
	return []string{
		c.look(),
		"They wait there for a lock, another process, a device, the network or a sleep, not for a CPU. See what they call (a profiler for off-CPU time, strace -p); if the program wants to wait there, nothing is wrong.",
	}
}
