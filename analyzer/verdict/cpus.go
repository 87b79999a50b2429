package verdict

// cpus is about ranks that lack CPUs, or are stopped by CPU limits, all alike.
type cpus struct{ *Cause }

func (cpus) isOfWaits() bool { return true }
func (cpus) isCounted() bool { return true }

func (c cpus) sentence() string {
	switch {
	case c.Form == Limits && c.Ranks != "":
		return c.pick("the CPU limit of its container makes this job slow: it stops ", "the CPU limits of their containers make this job slow: they stop ") + c.Who()
	case c.Form == Limits:
		return "CPU limits make this job slow: they stop the containers of all ranks alike"
	case c.Ranks != "":
		return "too few CPUs make this job slow: " + c.Who() + " is ready to compute and waits for a CPU"
	}
	return "too few CPUs make this job slow: ranks are ready to compute and wait for a CPU, all alike"
}

func (c cpus) short() string {
	if c.Form == Limits {
		return "CPU limits"
	}
	return "too few CPUs"
}

func (c cpus) advice(Neighbors) []string {
	if c.Form == Limits {
		return []string{"Raise the CPU limits of the pods (resources.limits.cpu), or remove them; a rank needs a whole CPU for each of its threads, and MPI polls while it waits."}
	}
	if c.Ranks != "" {
		return []string{"See what else runs on its CPUs: other processes of the node, more threads than CPUs (OMP_NUM_THREADS)."}
	}
	return []string{
		"Give each rank a CPU of its own: fewer ranks on a node (slotsPerWorker, more workers), larger CPU requests, nothing else on these nodes.",
		"Check how many threads a rank starts (OMP_NUM_THREADS), and whether ranks are bound to the same cores (mpirun --report-bindings).",
		"Until then the times of messages and calls say more about whose turn it was than about the network.",
	}
}
