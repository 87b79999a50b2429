package criticalpath

import "github.com/cairn-mpi/cairn/trace"

// A rank that shares its CPU with others waits for its turn in the middle of whatever it does, and who is to hear from it
// waits along; one that its CPU limit stops does, too. If that happens to all ranks alike nobody stands out, and on a time
// line it looks like a slow network. What the operating system counted for them (trace.ContextSample) tells it apart.

const (
	fewCPUs     = 0.8 // of its time that a rank has a CPU: with less, CPUs are to blame for what communication loses
	oftenAside  = 50  // times in a second without a CPU: a rank that sleeps or waits for a disk is not put aside for others
	muchStopped = 0.1 // of its time that a container was stopped by its CPU limit
)

// CPUs is what ranks had of the CPUs: means over the ranks that were sampled twice and more, between their first sample
// and their last one.
type CPUs struct {
	// Share is the part of its time for which a rank had a CPU, at most 1 (a rank of several threads may have more).
	Share float64 `json:"share"`
	// PutAside is how often a rank was put aside for another process or thread (involuntary context switches), in each
	// second that it had no CPU; 0 if it always had one.
	PutAside float64 `json:"put_aside_per_second"`
	// Stopped is the part of its time for which the CPU limit of a rank's container stopped it, at most 1; 0 where that
	// is not known.
	Stopped float64 `json:"stopped"`
}

// cpusOf is nil where no rank was sampled twice.
func cpusOf(ranks []trace.Rank) *CPUs {
	var c CPUs
	n, without, aside := 0.0, 0.0, 0.0
	for i := range ranks {
		samples := ranks[i].Context
		if len(samples) < 2 {
			continue
		}
		first, last := samples[0], samples[len(samples)-1]
		wall := float64(last.MonotonicNS - first.MonotonicNS)
		if wall <= 0 {
			continue
		}
		n++
		share := min(1, float64(last.CPUNS-first.CPUNS)/wall)
		c.Share += share
		without += (1 - share) * wall / 1e9
		aside += float64(last.InvoluntarySwitches - first.InvoluntarySwitches)
		if stopped, known := throttling(&ranks[i]); known {
			c.Stopped += min(1, stopped*1e9/wall)
		}
	}
	if n == 0 {
		return nil
	}
	c.Share, c.Stopped = c.Share/n, c.Stopped/n
	if without > 0 {
		c.PutAside = aside / without
	}
	return &c
}

// areFew tells whether the ranks had to share CPUs so much that it shows.
func (c *CPUs) areFew() bool { return c != nil && c.Share < fewCPUs && c.PutAside >= oftenAside }

// areLimited tells whether CPU limits stopped the ranks, all alike.
func (c *CPUs) areLimited() bool { return c != nil && c.Stopped >= muchStopped }
