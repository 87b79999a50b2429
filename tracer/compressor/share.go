package compressor

const (
	// Recorders is how many bytes of memory all recorders together may take.
	Recorders = 256 << 20

	leastRecorder = 2 << 20 // what a regular program needs
	mostRecorder  = 32 << 20
	growth        = 4 // times what a recorder has, which it may take before the next checkpoint
)

// shareOf returns the memory that the recorder of a process may take from its next checkpoint on.
func (c *Compressor) shareOf(p *process) int {
	others := 0
	for _, other := range c.processes {
		if other != p {
			others += int(other.recorder.Load())
		}
	}
	return share(p.has, others, len(c.processes))
}

// share returns the memory for a recorder that has this much, where the others have or may take
// this much together. A recorder never shrinks, so what one may take counts as what it has. Where
// all of the processes may have more than a few times what it has, it gets that at once: what an
// irregular program generalizes before its next checkpoint stays generalized.
func share(has, others, processes int) int {
	wanted := min(max(growth*has, 2*leastRecorder, Recorders/processes), mostRecorder)
	return max(min(wanted, Recorders-others), leastRecorder)
}
