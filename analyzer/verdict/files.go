package verdict

// files is about files, by calls of MPI or of the program itself.
type files struct{ calls }

func (c files) isOfComputation() bool { return c.Form == Blocked }
func (c files) isCounted() bool       { return c.Form == Blocked }

func (c files) sentence() string {
	if c.Form == Blocked {
		return "files make this job slow: " + c.blockedAlike() + c.meanwhile("")
	}
	return c.costly("files", "accesses")
}

func (c files) short() string {
	if c.Form == Blocked {
		return "files " + c.between()
	}
	return c.mostOfAll("files")
}

func (c files) advice(Neighbors) []string {
	const check = "check the file system (a local or parallel one instead of NFS)."
	if c.Form == Blocked {
		step := "Read and write less, less often, or from a thread of its own, and " + check
		if memory := c.adviseMemory(); memory != "" {
			return []string{memory, step}
		}
		return []string{step}
	}
	return []string{"Write less often or less, use collective file calls with large contiguous pieces, and " + check}
}
