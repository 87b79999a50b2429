package criticalpath

// What stopped ranks: CPU limits, and hypervisors.

// throttled is for how long, in seconds, the worst rank of a set was stopped by its CPU limit beyond the mean of the others.
// It is 0 where that does not explain most of the time that the rank computes more than they do in a region, or where it is
// not known.
func (a *search) throttled(set, others []worker) float64 {
	if a.window != nil || len(others) == 0 {
		return 0 // it is counted over all of the run
	}
	own, known := throttling(&a.ranks[set[0].row])
	if !known {
		return 0
	}
	usual, stopped, n := 0.0, 0.0, float64(len(others))
	for _, o := range others {
		usual += inSeconds(a.each[a.mainOf[o.row]].compute)
		other, _ := throttling(&a.ranks[o.row])
		stopped += other
	}
	more, excess := own-stopped/n, inSeconds(a.each[a.mainOf[set[0].row]].compute)-usual/n
	if more <= 0 || more < explains*excess {
		return 0
	}
	return more
}

// losesMore reports whether the machines of all ranks of a set lose clearly more than those of the others.
func (a *search) losesMore(set, others []worker) bool {
	least, usual := a.machines[set[0].row].lost(), 0.0
	for _, w := range set {
		least = min(least, a.machines[w.row].lost())
	}
	for _, w := range others {
		usual += a.machines[w.row].lost() / float64(len(others))
	}
	return least > 0 && least >= longer*usual
}

// isStolen reports whether a set was blocked where it computes longer since its CPUs were stolen; both are in ns beyond the
// others, and the steal is a part of the time blocked.
func (a *search) isStolen(set, others []worker, blocked, stolen float64) bool {
	return stolen > 0 && stolen >= explains*blocked && a.losesMore(set, others)
}
