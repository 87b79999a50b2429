package causes

import "github.com/cairn-mpi/cairn/analyzer/pass/accounts"

// Reasons for which ranks are stopped: CPU limits and hypervisors.

// throttled returns how much longer, in seconds, the slowest rank of a set was throttled by its CPU
// limit than the mean of the others. It returns 0 if that does not explain most of its excess
// computation, or if it is not known.
func (a *search) throttled(set, others []worker) float64 {
	if a.Window != nil || len(others) == 0 {
		return 0 // it is measured over the whole run
	}
	own, known := accounts.Throttling(&a.Ranks[set[0].row])
	if !known {
		return 0
	}
	usual, stopped, n := 0.0, 0.0, float64(len(others))
	for _, o := range others {
		usual += accounts.Seconds(a.Each[a.MainOf[o.row]].Compute)
		other, _ := accounts.Throttling(&a.Ranks[o.row])
		stopped += other
	}
	more, excess := own-stopped/n, accounts.Seconds(a.Each[a.MainOf[set[0].row]].Compute)-usual/n
	if more <= 0 || more < explains*excess {
		return 0
	}
	return more
}

// losesMore reports whether the machines of all ranks of a set lose clearly more to the hypervisor
// than those of the others.
func (a *search) losesMore(set, others []worker) bool {
	least, usual := a.Machines[set[0].row].Lost(), 0.0
	for _, w := range set {
		least = min(least, a.Machines[w.row].Lost())
	}
	for _, w := range others {
		usual += a.Machines[w.row].Lost() / float64(len(others))
	}
	return least > 0 && least >= longer*usual
}

// isStolen reports whether steal is the reason why a set was blocked in its excess computation.
// blocked and stolen are in ns beyond the others; stolen is a part of blocked.
func (a *search) isStolen(set, others []worker, blocked, stolen float64) bool {
	return stolen > 0 && stolen >= explains*blocked && a.losesMore(set, others)
}
