package series

import (
	"cmp"
	"slices"
)

// A Series is the durations of instances in order. Its zero value is empty and has the default
// size. When it is full, it adds up adjacent samples.
type Series struct {
	Count   uint64     // instances
	Per     uint64     // instances per sample
	Top     []Instance // the longest instances, longest first
	sums    []float32  // seconds
	longest []float32  // the longest instance of each sample, in seconds
	pending uint64     // instances in the last sample, if it is not full
	size    int        // maximum number of samples, even; 0: maxSamples
}

// An Instance is one that took long.
type Instance struct {
	Number  uint64 // from 1
	Seconds float64
}

const (
	maxSamples = 256
	maxTop     = 8
)

// Of returns an empty series of at most size samples, an even number.
func Of(size int) Series { return Series{size: size} }

// Add appends an instance.
func (s *Series) Add(seconds float64) {
	if s.size == 0 {
		s.size = maxSamples
	}
	s.Per = max(1, s.Per)
	s.Count++
	if s.pending == 0 {
		if len(s.sums) == s.size {
			s.halve()
		}
		s.sums, s.longest = append(s.sums, 0), append(s.longest, 0)
	}
	last := len(s.sums) - 1
	s.sums[last] += float32(seconds)
	s.longest[last] = max(s.longest[last], float32(seconds))
	if s.pending++; s.pending == s.Per {
		s.pending = 0
	}
	if len(s.Top) == maxTop && s.Top[maxTop-1].Seconds >= seconds {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Top, seconds, func(o Instance, seconds float64) int { return cmp.Compare(seconds, o.Seconds) })
	s.Top = slices.Insert(s.Top, i, Instance{s.Count, seconds})
	s.Top = s.Top[:min(len(s.Top), maxTop)]
}

func (s *Series) halve() {
	half := len(s.sums) / 2
	for i := range half {
		s.sums[i] = s.sums[2*i] + s.sums[2*i+1]
		s.longest[i] = max(s.longest[2*i], s.longest[2*i+1])
	}
	s.sums, s.longest = s.sums[:half], s.longest[:half]
	s.Per *= 2
}

// Means returns the mean duration of each sample in seconds, without an incomplete sample.
func (s *Series) Means() []float64 {
	n := len(s.sums)
	if s.pending > 0 {
		n--
	}
	means := make([]float64, 0, max(0, n))
	for i := range max(0, n) {
		means = append(means, float64(s.sums[i])/float64(s.Per))
	}
	return means
}

// ShareAbove returns the fraction of the samples with an instance that is longer than seconds.
func (s *Series) ShareAbove(seconds float64) float64 {
	n := 0
	for _, longest := range s.longest {
		if float64(longest) > seconds {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s.longest)))
}

// LastAbove returns the number of the last instance that is longer than seconds, 0 if none is. It
// is exact if a sample is one instance, or all longer ones are in Top; otherwise it is rounded up.
func (s *Series) LastAbove(seconds float64) (number uint64) {
	if s.hasAllAbove(seconds) {
		for _, one := range s.Top {
			if one.Seconds > seconds {
				number = max(number, one.Number)
			}
		}
		return number
	}
	for i := len(s.longest) - 1; i >= 0; i-- {
		if float64(s.longest[i]) > seconds {
			return min(s.Count, uint64(i+1)*s.Per)
		}
	}
	return 0
}

// IsAbove reports whether the instance of a number is longer than seconds. known is false if its
// sample has a longer one, which may be another.
func (s *Series) IsAbove(number uint64, seconds float64) (above, known bool) {
	for _, one := range s.Top {
		if one.Number == number {
			return one.Seconds > seconds, true
		}
	}
	if s.hasAllAbove(seconds) {
		return false, true
	}
	if i := (number - 1) / max(1, s.Per); i < uint64(len(s.longest)) {
		above = float64(s.longest[i]) > seconds
		return above, !above || s.Per == 1
	}
	return false, false
}

// hasAllAbove reports whether Top has all instances that are longer than seconds.
func (s *Series) hasAllAbove(seconds float64) bool {
	return len(s.Top) < maxTop || s.Top[maxTop-1].Seconds <= seconds
}
