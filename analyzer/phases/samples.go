package phases

// A Key identifies a loop on a rank in all runs of a program.
type Key struct {
	Phase  string // its name
	Nth    int    // index among several loops of that name, from 0
	Anchor string
	Rank   int
}

// Samples are the iterations of a loop on one rank: seconds per iteration, each the mean of Per
// adjacent ones.
type Samples struct {
	Key
	Computation, MPI []float64
	Per              uint64
	Iterations       uint64
}

// Samples returns those of all loops and ranks, for comparing runs.
func (p *Plan) Samples() []Samples {
	var list []Samples
	seen := map[string]int{}
	for i, s := range p.sections {
		var f Phase
		p.describe(&f, s)
		nth := seen[f.Name]
		seen[f.Name]++
		for k, t := range p.trackers {
			if t == nil || t.parts[2*i+1].computing.Count == 0 {
				continue
			}
			part := &t.parts[2*i+1]
			one := Samples{Key: Key{f.Name, nth, f.Anchor, p.locations[k].Rank}, Per: part.computing.Per, Iterations: part.computing.Count}
			one.Computation, one.MPI = part.computing.Means(), part.inMPI.Means()
			list = append(list, one)
		}
	}
	return list
}

// Even merges samples until both have the same number of iterations per sample.
func Even(a, b Samples) (Samples, Samples) {
	for a.Per < b.Per {
		a = a.halve()
	}
	for b.Per < a.Per {
		b = b.halve()
	}
	return a, b
}

func (s Samples) halve() Samples {
	pairs := func(values []float64) []float64 {
		half := make([]float64, len(values)/2)
		for i := range half {
			half[i] = (values[2*i] + values[2*i+1]) / 2
		}
		return half
	}
	s.Computation, s.MPI, s.Per = pairs(s.Computation), pairs(s.MPI), 2*s.Per
	return s
}
