package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// imbalance is about work that is divided unequally over ranks.
type imbalance struct{ *Cause }

func (c imbalance) isOfComputation() bool { return c.Form != Idle }

func (c imbalance) sentence() string {
	s := c.Spread
	who, least, most := "ranks "+s.Ranks, wording.Duration(s.Least), wording.Duration(s.Most)
	if c.Form == Idle {
		return fmt.Sprintf("work that only some ranks get makes this job slow: %s%s %s in %s for %s and %s next to nothing to do, while %s compute for up to %s each",
			c.Who(), c.whereabouts(), c.pick("waits", "wait"), c.Before.At(), wording.Duration(c.EachSeconds), c.pick("has", "have"), who, most)
	}
	compute, longest := "compute", "computes longest"
	if c.BlockedSeconds > 0 {
		compute, longest = "spend", "spends longest"
	}
	if c.Regions > 1 {
		longest += ", most of all"
	}
	long := fmt.Sprintf("%s makes this job slow: ", c.what())
	switch s.Shape {
	case ByTime:
		return long + fmt.Sprintf("at first rank %d %s %s, in the end rank %d; in total %s %s there %s each%s",
			*s.FirstRank, longest, c.where(), *s.LastRank, who, compute, between(least, most), c.blockedOnAverage())
	case ByIteration:
		return long + fmt.Sprintf("now one rank and now another %s %s; in total %s %s there %s each%s",
			longest, c.where(), who, compute, between(least, most), c.blockedOnAverage())
	}
	return long + fmt.Sprintf("%s %s %s each, rank %d the longest%s%s; they differ most %s",
		who, compute, between(least, most), s.MaxRank, c.blockedMost(), c.shape(), c.where())
}

// between describes a range of durations.
func between(least, most string) string {
	if least == most {
		return "for " + most
	}
	return fmt.Sprintf("between %s and %s", least, most)
}

// what names what is unequal.
func (c imbalance) what() string {
	if c.BlockedSeconds > 0 {
		return "unequal waiting in the kernel"
	}
	return "unequal work"
}

// blockedMost describes that ranks differ because they are blocked.
func (c imbalance) blockedMost() string {
	if c.BlockedSeconds == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of that blocked, not computing", wording.Duration(c.BlockedSeconds))
}

// blockedOnAverage describes the same if another rank is the busiest at another time.
func (c imbalance) blockedOnAverage() string {
	if c.BlockedSeconds == 0 {
		return ""
	}
	return fmt.Sprintf(", on average %s of that blocked, not computing", wording.Duration(c.BlockedSeconds))
}

// shape describes the pattern of the ranks' computation, and which of them compute longer than the
// rest.
func (c imbalance) shape() string {
	text, s := "", c.Spread
	if c.Form == Classes && len(c.Ranks) <= maxListed {
		longer := "compute longer"
		if c.BlockedSeconds > 0 {
			longer = "spend more"
		}
		text = fmt.Sprintf("; %s %s than the rest", c.Who(), longer)
	}
	switch s.Shape {
	case ByRank:
		if s.Grows {
			return text + "; it grows with the rank"
		}
		return text + "; it falls with the rank"
	case ByNode:
		return text + "; ranks of one node are alike"
	case ByRow:
		return text + fmt.Sprintf("; each %d neighbors from rank 0 on are alike", s.Width)
	case ByColumn:
		return text + fmt.Sprintf("; every %s rank is alike", humanize.Ordinal(s.Width))
	case ByIteration, ByTime, Irregular:
	}
	return text
}

// maxListed is the maximum length of a list of ranks in a sentence that has a pattern, too.
const maxListed = 40

func (c imbalance) gain(run float64) string {
	if c.GainSeconds == nil {
		return c.Cause.gain(run)
	}
	if c.SharedGainSeconds != nil {
		return fmt.Sprintf(". If %s took as long as the others, the run would take %s%s less (of %s); if all spent the same time, %s less.",
			c.Who(), c.about(), wording.Duration(*c.GainSeconds), wording.Duration(run), wording.Duration(*c.SharedGainSeconds))
	}
	work, each := "work were divided equally", ""
	if c.BlockedSeconds > 0 {
		work = "they all spent the same time"
	}
	if c.Form == Moving {
		each = " each time"
	}
	return fmt.Sprintf(". If %s%s, the run would take %s%s less (of %s).", work, each, c.about(), wording.Duration(*c.GainSeconds), wording.Duration(run))
}

func (c imbalance) short() string {
	if c.Form == Idle {
		return c.which("has", "have") + " next to nothing to do"
	}
	return c.what() + " " + c.between()
}

func (c imbalance) advice(Neighbors) []string {
	if c.Form == Idle {
		return []string{fmt.Sprintf("Find out why %s no work: fewer tasks than ranks, a list of workers that leaves some out, a decomposition for fewer ranks. Divide the work further, or start fewer ranks.", c.pick("it gets", "they get"))}
	}
	if c.BlockedSeconds > 0 {
		return []string{
			c.look(),
			"They do not compute there but wait inside the kernel: for a lock, another process, a device, the network or a sleep. See what they call (a profiler for off-CPU time, strace -p).",
		}
	}
	return []string{
		fmt.Sprintf("Look at how work is divided for the code that runs %s.", c.where()),
		c.adviceOnShape(),
		"See the table of ranks for how much work each rank has, and the what-ifs for what equal work would gain.",
	}
}

// adviceOnShape returns how to divide work of the same pattern.
func (c imbalance) adviceOnShape() string {
	switch c.Spread.Shape {
	case ByRank:
		return "The work depends on the rank number: check bounds that depend on it, such as those of a triangular loop or of growing blocks, or distribute the parts in turn (cyclic instead of blocks)."
	case ByNode:
		return "Ranks of one node are alike: compare the nodes (type and frequency of CPUs, limits, other jobs) before the work, or give slower ones fewer ranks."
	case ByRow, ByColumn:
		return "The work depends on the position in the grid of ranks: parts of the domain cost more than others. Weigh them when it is divided, or use a grid of another shape."
	case ByIteration:
		step := "Divide the work of each iteration, or let ranks go on with the next one instead of waiting for the slowest of this one (fewer collectives, non-blocking ones)."
		if c.Spread.Most <= equalTotals*c.Spread.Least {
			return "In total the ranks have equal work there, so another division of the whole does not help. " + step
		}
		return step
	case ByTime:
		return "The work moves from rank to rank while the program runs: divide it anew from time to time (every so many iterations), by what its parts cost then."
	case Irregular:
	}
	return "Divide by what parts cost instead of by their number (a partitioner with weights), or hand parts out as ranks become free."
}

// equalTotals is the ratio of the longest to the shortest total up to which ranks have equal work.
const equalTotals = 1.1
