package verdict

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// variation is about regions that take longer at some times.
type variation struct{ *Cause }

func (variation) isOfComputation() bool { return true }

func (c variation) sentence() string {
	who, verb := c.Who(), "compute"
	if c.BlockedSeconds > 0 {
		verb = "spend"
	}
	if c.Rank != nil && !c.isSeveral() {
		verb += "s"
	}
	each, usual := wording.Duration(c.EachSeconds), wording.Duration(*c.OthersSeconds)
	if c.BlockedSeconds == 0 && c.Form != Sometimes {
		each, usual = "for "+each, "for "+usual
	}
	most := ""
	if c.Regions > 1 {
		most = ", most of all"
	}
	text := ""
	switch c.Form {
	case WarmUp:
		which := fmt.Sprintf("in each of the first %d of %s", c.Instances, count(c.Of, "time"))
		if c.Instances == 1 {
			which = "the first of " + count(c.Of, "time")
		}
		text = fmt.Sprintf("a slow start makes this job slow: %s %s %s %s%s %s, later %s", who, verb, each, which, most, c.where(), usual)
	case Drift:
		text = fmt.Sprintf("this job becomes ever slower: %s %s %s each time%s %s at first, and %s in the end", who, verb, usual, most, c.where(), each)
	case Once:
		text = fmt.Sprintf("%s makes this job slow: %s%s %s %s in one of %s (the %s)%s %s, otherwise %s", c.single(), who, c.whereabouts(), verb, each, count(c.Of, "time"), humanize.Ordinal(int(c.First)), most, c.where(), usual)
	default:
		text = fmt.Sprintf("rare long computations make this job slow: %s of %s, %s, take %s%s%s %s; the others take %s there",
			humanize.Comma(int64(c.Instances)), humanize.Comma(int64(c.Of)), c.on(), each, c.inKernel(" (", ")"), most, c.where(), usual)
		return text
	}
	return text + c.inKernel("; ", "")
}

// single names a single long instance: the ranks did not stop if they were not blocked.
func (c variation) single() string {
	if c.BlockedSeconds > 0 {
		return "a single stop"
	}
	return "a single long computation"
}

// on describes which ranks had the rare long instances.
func (c variation) on() string {
	if strings.ContainsAny(c.LongRanks, "-,") {
		return "now on one rank and now on another"
	}
	return "all of them on rank " + c.LongRanks + " so far"
}

// inKernel describes between two marks what the kernel does in these instances, "" if nothing is
// known.
func (c *Cause) inKernel(before, after string) string {
	var parts []string
	are := c.pick("it is", "they are")
	if c.Ranks == "" {
		are = "they are"
	}
	switch {
	case c.BlockedSeconds > 0 && c.Bytes > 0:
		parts = append(parts, fmt.Sprintf("for %s of that %s blocked in the kernel, with %s read or written meanwhile",
			wording.Duration(c.BlockedSeconds), are, humanize.IBytes(uint64(c.Bytes))))
	case c.BlockedSeconds > 0:
		parts = append(parts, fmt.Sprintf("for %s of that %s blocked in the kernel", wording.Duration(c.BlockedSeconds), are))
	case c.SystemSeconds > 0:
		parts = append(parts, fmt.Sprintf("the kernel works for %s of that", wording.Duration(c.SystemSeconds)))
	}
	if c.BlockedSeconds == 0 && c.Bytes > 0 {
		parts = append(parts, "meanwhile "+c.moved())
	}
	if c.PageFaults >= 1 {
		each := "each has %s on average"
		if c.Kind == Excess {
			each = "%s more each time"
		}
		parts = append(parts, fmt.Sprintf(each, count(int(c.PageFaults), "page fault")))
	}
	if len(parts) == 0 {
		return ""
	}
	return before + strings.Join(parts, "; ") + after
}

func (c variation) short() string {
	at := c.between()
	switch c.Form {
	case WarmUp:
		return fmt.Sprintf("a slow start %s (%s)", at, count(c.Instances, "time"))
	case Drift:
		return "computation that takes ever longer " + at
	case Once:
		return c.single() + " " + at
	}
	return "rare long computations " + at
}

func (c variation) advice(Neighbors) []string {
	list := []string{c.look()}
	switch c.Form {
	case WarmUp:
		if c.PageFaults >= 1 {
			return append(list, "It touches new memory: allocate it once and reuse it, or use huge pages. In a longer run it counts less.")
		}
		return append(list, "It does there what it does once (it fills caches, opens files, compiles, plans), so it counts less in a longer run.")
	case Drift:
		return append(list, "If the work of an iteration should not grow, find what does: lists, files, memory that is swapped, a slower clock of the CPUs. Phases in the report has the trend of each rank.")
	}
	switch {
	case c.Bytes > 0:
		return append(list, "Data is read or written then: do that less often, from a thread of its own, or to a faster or a local file system.")
	case c.BlockedSeconds > 0:
		return append(list, "See in the timeline what the ranks wait for then, and what else runs on their machines at that time (another job, a backup).")
	}
	return append(list, "See in the timeline what the ranks do then: output, a checkpoint, adaptation, garbage collection.")
}
