package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// What the kernel counted for the containers and the connections of ranks, in words.

// isForMemory and isForFiles report what blocked ranks wait for.
func (c *Cause) isForMemory() bool { return c.MemorySeconds > 0 }
func (c *Cause) isForFiles() bool  { return c.Bytes > 0 || c.DiskSeconds > 0 }

// whatFor names what blocked ranks wait for; "" if it is not known.
func (c *Cause) whatFor() string {
	switch {
	case c.isForMemory():
		return "memory"
	case c.isForFiles():
		return "files"
	}
	return ""
}

// meanwhile describes the evidence for what blocked ranks wait for. longer is "" if all ranks are
// alike.
func (c *Cause) meanwhile(longer string) string {
	container := c.some("its container", "their containers")
	reached := ""
	if c.MemoryLimitHits >= oftenReached {
		reached = fmt.Sprintf(" reached %s %s times", c.some("its memory limit", "their memory limits"), humanize.Comma(int64(c.MemoryLimitHits)))
	}
	waited := func(what string, seconds float64) string {
		if reached != "" {
			reached = " and" + reached
		}
		return fmt.Sprintf(", while %s waited for %s for %s%s%s", container, what, wording.Duration(seconds), longer, reached)
	}
	switch {
	case c.isForMemory():
		return waited("memory", c.MemorySeconds)
	case c.Bytes == 0:
		return waited("disks", c.DiskSeconds)
	}
	if reached != "" {
		reached = ", and " + container + reached
	}
	return fmt.Sprintf(", with %s read or written meanwhile%s", humanize.IBytes(uint64(c.Bytes)), reached)
}

// oftenReached is how often a container reaches its memory limit for that to be mentioned.
const oftenReached = 10

// retransmitted reports that many TCP segments were sent again.
func (c *Cause) retransmitted() string {
	if c.Retransmits == 0 {
		return ""
	}
	return fmt.Sprintf("; TCP sent %s of %s segments again (%.1f%%)",
		humanize.Comma(int64(c.Retransmits)), humanize.Comma(int64(c.Segments)), 100*float64(c.Retransmits)/float64(c.Segments))
}

// adviseMemory returns what to do about containers that wait for memory, or reach their limits; ""
// if they do not.
func (c *Cause) adviseMemory() string {
	container := c.some("its container", "their containers")
	switch {
	case c.isForMemory() && c.MemoryLimitHits >= oftenReached:
		return fmt.Sprintf("Raise the memory limit of %s (resources.limits.memory), or use less memory: at the limit the kernel frees pages, and reads them again when they are needed.", container)
	case c.isForMemory():
		return fmt.Sprintf("Use less memory, or more nodes: no memory limit of %s was seen to be reached, so the machine itself has too little, or swaps.", container)
	case c.isForFiles() && c.MemoryLimitHits >= oftenReached:
		return fmt.Sprintf("If %s the same files again and again, raise the memory limit of %s (resources.limits.memory): at the limit, pages of files that were read are dropped.", c.some("it reads", "they read"), container)
	}
	return ""
}

// adviseRetransmits returns what to do about lost segments, and then the other steps.
func (c *Cause) adviseRetransmits(steps ...string) []string {
	if c.Retransmits == 0 {
		return steps
	}
	return append([]string{"Find out where the network loses packets: what follows a lost one waits until it is sent again, often for 200 ms or longer. Look at drops and errors of the interfaces (ip -s link, ethtool -S), of the switches, and of the pod network, and whether several send to one at once."}, steps...)
}
