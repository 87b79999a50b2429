package causes

import "github.com/cairn-mpi/cairn/analyzer/pass/accounts"

// What stopped ranks: CPU limits, and hypervisors.

// throttled is for how long, in seconds, the worst rank of a set was stopped by its CPU limit beyond the mean of the others.
// It is 0 where that does not explain most of the time that the rank computes more than they do in a region, or where it is
// not known.
func (a *search) throttled(set, others []worker) float64 {
	if a.Window != nil || len(others) == 0 {
		return 0 // it is counted over all of the run
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

// losesMore reports whether the machines of all ranks of a set lose clearly more than those of the others.
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

// isStolen reports whether a set was blocked where it computes longer since its CPUs were stolen; both are in ns beyond the
// others, and the steal is a part of the time blocked.
func (a *search) isStolen(set, others []worker, blocked, stolen float64) bool {
	return stolen > 0 && stolen >= explains*blocked && a.losesMore(set, others)
}
