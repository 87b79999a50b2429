package predict

// Marks are times of the run, in order, by location. Play returns when each would have been in the
// first scenario. Within a call or a computation time passes evenly.
type Marks [][]int64

// passed converts the marks of a thread up to a time that it has reached in the first scenario.
type passed struct {
	times []int64 // of the trace
	at    []int64 // and in the first scenario
	real  int64   // position of the thread in the trace
	ideal int64   // and in the first scenario
	began bool
}

// to moves on to a time.
func (p *passed) to(real, ideal int64) {
	if p.times == nil {
		return
	}
	if !p.began {
		p.began, p.real, p.ideal = true, real, ideal
	}
	for len(p.at) < len(p.times) && p.times[len(p.at)] <= real {
		t, at := p.times[len(p.at)], p.ideal
		if real > p.real && t > p.real {
			at += int64(float64(ideal-p.ideal) * float64(t-p.real) / float64(real-p.real))
		}
		p.at = append(p.at, at)
	}
	p.real, p.ideal = real, ideal
}

// rest converts the marks after the thread's end.
func (p *passed) rest() []int64 {
	for len(p.at) < len(p.times) {
		p.at = append(p.at, p.ideal)
	}
	return p.at
}
