package phases

import (
	"cmp"
	"slices"
)

const (
	maxSamples = 256
	maxTop     = 4
)

// A series is the times of iterations; adjacent ones are added up if there are many.
type series struct {
	count   uint64 // iterations
	per     uint64 // iterations per sample
	compute []float32
	mpi     []float32 // seconds
	longest []float32 // the longest computation of an iteration in the sample, in seconds
	pending uint64    // iterations in the last sample, if it is not full
	top     []iteration
}

// An iteration is an iteration that took long.
type iteration struct {
	number  uint64 // from 1
	seconds float64
}

func (s *series) add(compute, mpi int64) {
	if s.per == 0 {
		s.per = 1
	}
	s.count++
	c, m := float64(compute)/1e9, float64(mpi)/1e9
	if s.pending == 0 {
		if len(s.compute) == maxSamples {
			s.halve()
		}
		s.compute, s.mpi, s.longest = append(s.compute, 0), append(s.mpi, 0), append(s.longest, 0)
	}
	last := len(s.compute) - 1
	s.compute[last] += float32(c)
	s.mpi[last] += float32(m)
	s.longest[last] = max(s.longest[last], float32(c))
	if s.pending++; s.pending == s.per {
		s.pending = 0
	}
	if len(s.top) == maxTop && s.top[maxTop-1].seconds >= c {
		return
	}
	i, _ := slices.BinarySearchFunc(s.top, c, func(o iteration, c float64) int { return cmp.Compare(c, o.seconds) })
	s.top = slices.Insert(s.top, i, iteration{s.count, c})
	s.top = s.top[:min(len(s.top), maxTop)]
}

func (s *series) halve() {
	for i := range maxSamples / 2 {
		s.compute[i] = s.compute[2*i] + s.compute[2*i+1]
		s.mpi[i] = s.mpi[2*i] + s.mpi[2*i+1]
		s.longest[i] = max(s.longest[2*i], s.longest[2*i+1])
	}
	s.compute, s.mpi, s.longest = s.compute[:maxSamples/2], s.mpi[:maxSamples/2], s.longest[:maxSamples/2]
	s.per *= 2
}

// rarely reports whether only few samples contain an iteration that computes for longer than
// seconds.
func (s *series) rarely(seconds float64) bool {
	n := 0
	for _, longest := range s.longest {
		if float64(longest) > seconds {
			n++
		}
	}
	return float64(n) <= outlierShare*float64(len(s.longest))
}

// samples returns the computation and MPI per iteration, means over the iterations of a sample,
// without an incomplete sample.
func (s *series) samples() (compute, mpi []float64) {
	n := len(s.compute)
	if s.pending > 0 {
		n--
	}
	for i := range max(0, n) {
		compute = append(compute, float64(s.compute[i])/float64(s.per))
		mpi = append(mpi, float64(s.mpi[i])/float64(s.per))
	}
	return compute, mpi
}
