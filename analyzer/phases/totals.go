package phases

// A Total is how a rank spent its time in one phase.
type Total struct {
	Phase                     int // number; see Name
	Rank                      int
	Computation, MPI, Waiting float64 // seconds; MPI includes Waiting
}

// Totals returns those of all ranks and phases that the trackers have seen. Waiting is what was
// passed to Findings.
func (p *Plan) Totals() []Total {
	var list []Total
	for i, t := range p.trackers {
		if t == nil {
			continue
		}
		for number := range t.parts {
			if part := &t.parts[number]; part.there {
				list = append(list, Total{number, p.locations[i].Rank, float64(part.compute) / 1e9, float64(part.mpi) / 1e9, float64(part.waited) / 1e9})
			}
		}
	}
	return list
}

// A Stretch is the calls of a thread that belong to a phase: From ≤ index < To.
type Stretch struct {
	Phase    int
	From, To uint64
}

// Stretches returns those of all calls of a location, in order; none for a location that is not a
// rank's main thread.
func (p *Plan) Stretches(location int) []Stretch {
	if p.locations[location].Main != location {
		return nil
	}
	thread := p.trace.Threads().At(location)
	var list []Stretch
	at := uint64(0)
	add := func(phase int, to uint64) {
		if to > at {
			list = append(list, Stretch{phase, at, to})
			at = to
		}
	}
	for _, l := range p.byRoot[thread.Root] {
		for i, s := range p.sections {
			if s == l.phase {
				add(2*i, l.from)
				add(2*i+1, l.to)
			}
		}
	}
	add(p.phases()-1, thread.Calls)
	return list
}

// Phases returns the number of phases; Name and IsLoop describe one.
func (p *Plan) Phases() int { return p.phases() }

// IsLoop reports whether a phase is a loop.
func (p *Plan) IsLoop(phase int) bool { return phase%2 == 1 }

// Name returns the name of a phase as in Findings.
func (p *Plan) Name(phase int) string {
	var f Phase
	switch {
	case p.IsLoop(phase):
		p.describe(&f, p.sections[phase/2])
		return f.Name
	case len(p.sections) == 0:
		return "whole run"
	case phase == 0:
		return "initialization"
	case phase == p.phases()-1:
		return "end"
	}
	return "between loops"
}
