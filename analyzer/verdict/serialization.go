package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// serialization is about ranks that compute one after the other, or one that computes alone.
type serialization struct{ *Cause }

func (c serialization) isOfComputation() bool { return c.Form == Master || c.Form == Lock }

func (c serialization) isCounted() bool { return c.Form == Lock }

func (c serialization) charge() Charge {
	return Charge{Row: RowSerialization, OfRanks: c.Form == Master, OfOthers: c.Form != Master}
}

func (c serialization) sentence() string {
	if c.Form == Master {
		return fmt.Sprintf("%s%s makes this job slow: it alone computes %s, %s, and %s for it",
			c.Who(), c.whereabouts(), c.where(), c.times(), c.others("the other waits", "the others wait"))
	}
	if c.Form == Lock {
		more := ""
		if c.Regions > 1 {
			more = "most of all "
		}
		return fmt.Sprintf("ranks seem to wait for each other outside MPI, one after the other, as for a lock, and that makes this job slow: each is blocked in the kernel for %s on average, %s%s, while others compute there",
			wording.Duration(c.BlockedSeconds), more, c.where())
	}
	compute := "compute"
	if c.AtOnce < 1.05 {
		compute = "computes"
	}
	return fmt.Sprintf("ranks compute one after the other, and that makes this job slow: on average %.1f of them %s at once, the others wait for their turn in %s",
		c.AtOnce, compute, c.Before.At())
}

func (c serialization) times() string {
	text := "for " + wording.Duration(c.EachSeconds)
	if c.Of == 1 {
		return text
	}
	return fmt.Sprintf("%d times %s", c.Of, text)
}

func (c serialization) short() string {
	if c.Form == Master {
		return fmt.Sprintf("what %s alone computes %s", c.Who(), c.between())
	}
	if c.Form == Lock {
		return "ranks that wait for each other outside MPI " + c.between()
	}
	return "ranks that compute one after the other"
}

func (c serialization) advice(Neighbors) []string {
	if c.Form == Master {
		return []string{c.look(), "Give parts of that work to the other ranks, let them do something else during that time, or do it less often."}
	}
	if c.Form == Lock {
		return []string{c.look(), "See what they wait for there (strace -f -p, /proc/locks): a lock of a file or a database, a semaphore, a device or a service that serves one at a time. Hold it for less of the work, give each rank its own file, or let one rank do it for all."}
	}
	return []string{
		fmt.Sprintf("Follow the critical path in the timeline around %s: no faster network and no better balance changes that ranks wait for their turn there.", c.Before.At()),
		"Let ranks start with what they have: send smaller blocks earlier, have several sweeps under way at once, or replace the chain by a collective (a tree of log2 P steps).",
	}
}
