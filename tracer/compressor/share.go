package compressor

import "slices"

const (
	recorders     = 256 << 20 // bytes of memory that all recorders together may take
	leastRecorder = 2 << 20   // what a regular program needs
	mostRecorder  = 32 << 20
)

// share returns the memory that each recorder may take. A recorder that has less than half of an
// equal share leaves the rest to the others.
func (c *Compressor) share() int {
	var memory []int
	for _, p := range c.processes {
		memory = append(memory, int(p.memory.Load()))
	}
	return shareOf(memory)
}

func shareOf(memory []int) int {
	slices.Sort(memory)
	left := recorders
	for i, has := range memory {
		equal := left / (len(memory) - i)
		needs := max(2*has, leastRecorder)
		if needs > equal {
			return max(min(equal, mostRecorder), leastRecorder)
		}
		left -= needs
	}
	return mostRecorder
}
