package causes

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// What ranks wait for when they are blocked: memory, or files. What the kernel counts for their
// containers is known of the whole run only.

// setWait sets what ranks wait for that are blocked for ns longer than the others, as far as that
// is known. Data was moved meanwhile if bytes is not 0.
func setWait(e *evidence, c *verdict.Cause, set, others []outliers.Worker, ns, bytes float64) {
	memory := stalledLonger(e, set, others, accounts.MemoryStall)
	disks := stalledLonger(e, set, others, accounts.IOStall)
	switch {
	case memory > 0 && memory >= explains*ns/1e9:
		c.MemorySeconds = memory
	case bytes > 0:
		c.Bytes = bytes
	case disks > 0 && disks >= explains*ns/1e9:
		c.DiskSeconds = disks
	default:
		return
	}
	setLimitHits(e, c, set)
}

// setLimitHits sets how often the containers of a set reached their memory limits.
func setLimitHits(e *evidence, c *verdict.Cause, set []outliers.Worker) {
	for _, w := range set {
		c.MemoryLimitHits += accounts.MemoryLimitHits(&e.Ranks[w.Row]) / float64(len(set))
	}
}

// stalledLonger returns how much longer, in seconds, the containers of a set waited for something
// than those of the others, on average; 0 if that is not known of all of them.
func stalledLonger(e *evidence, set, others []outliers.Worker, stall func(*trace.Rank) (float64, bool)) float64 {
	mean := func(ranks []outliers.Worker) (mean float64) {
		for _, w := range ranks {
			seconds, known := stall(&e.Ranks[w.Row])
			if !known {
				return math.NaN()
			}
			mean += seconds / float64(len(ranks))
		}
		return mean
	}
	more := mean(set) - mean(others)
	if e.Window != nil || !(more > 0) {
		return 0
	}
	return more
}

// setRetransmits sets how many TCP segments were sent again, if they are many: until then what
// follows them waits.
func setRetransmits(e *evidence, c *verdict.Cause) {
	again, all := int64(0), int64(0)
	for i := range e.Ranks {
		if t := e.Ranks[i].TCP; t != nil {
			again, all = again+t.Retransmits, all+t.Segments
		}
	}
	if e.Window == nil && all > 0 && again >= fewRetransmits && float64(again) >= muchRetransmitted*float64(all) {
		c.Retransmits, c.Segments = uint64(again), uint64(all)
	}
}
