package cpus

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/trace"
)

// Analysis reports the CPU time of ranks and why they lacked CPUs.
var Analysis = analysis.New("cpus", analysis.About{Title: "how much CPU time the ranks got", Version: 1}, find, accounts.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	if a.Window != nil { // the counts are those of the whole run
		return Findings{}, nil
	}
	return Findings{CPUs: cpusOf(a.Ranks, a.WaitingShare), RankCPUs: OfRanks(r.Trace())}, nil
}

// cpusOf returns nil if no rank was sampled twice. waiting returns the part of its time for which
// the rank in a row waited for other ranks.
func cpusOf(ranks []trace.Rank, waiting func(row int) float64) *CPUs {
	var c CPUs
	n, without, aside, delay, starved, counted := 0.0, 0.0, 0.0, 0.0, 0.0, true
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
		delayed := min(1, float64(last.RunDelayNS-first.RunDelayNS)/wall)
		delay += delayed
		starved += max(0, delayed-waiting(i))
		counted = counted && last.RunDelayNS > 0
		aside += float64(last.InvoluntarySwitches - first.InvoluntarySwitches)
		if stopped, known := accounts.Throttling(&ranks[i]); known {
			c.Stopped += min(1, stopped*1e9/wall)
		}
	}
	if n == 0 {
		return nil
	}
	c.Share, c.Stopped = c.Share/n, c.Stopped/n
	c.Machines, c.StolenEverywhere = stealOf(ranks)
	if counted {
		c.RunDelay, c.Starved = new(delay/n), new(starved/n)
	}
	if without > 0 {
		c.InvoluntarySwitches = aside / without
	}
	return &c
}

// muchStolen is the minimum stolen share that is reported: of the time for which ranks wanted a CPU
// or, if they hardly ever wanted one, of the time of one CPU.
const muchStolen = 0.05

// stealOf returns the machines that lost more than muchStolen, and whether all machines did.
func stealOf(ranks []trace.Rank) (list []Machine, everywhere bool) {
	_, machines := accounts.MachinesOf(ranks)
	everywhere, list = len(machines) > 0, []Machine{}
	for _, m := range machines {
		share := 0.0
		if m.Stolen > 0 {
			share = m.Stolen / (m.Stolen + m.Ran)
			list = append(list, Machine{Name: m.Name, StealSeconds: m.Stolen / 1e9, Share: share})
		}
		everywhere = everywhere && share >= muchStolen && m.Stolen >= muchStolen*m.Lasted
	}
	return list, everywhere
}
