package predict

// An event is the time, in every scenario, at which a call is entered, or the last of several
// events. Threads may wait for it.
type event struct {
	real    int64   // in the trace
	at      []int64 // by scenario
	left    int     // number of missing inputs
	waiting []int   // locations whose next call depends on it
	feeds   []*event
	uses    int // of a posted call: number of dependents that have not been replayed
}

func (m *event) known() bool { return m.left == 0 }

// happens supplies one of the inputs of an event: in each scenario, the time base + after. When the
// last input is known, the threads that wait for the event can advance.
func (p *player) happens(m *event, real, base int64, after []int64) {
	if len(m.at) == 0 {
		if m.at == nil {
			m.at = p.times()
		}
		m.real, m.at = real, m.at[:len(after)]
		for k, t := range after {
			m.at[k] = base + t
		}
	} else {
		m.real = max(m.real, real)
		for k, t := range after {
			m.at[k] = max(m.at[k], base+t)
		}
	}
	m.left--
	if m.left > 0 {
		return
	}
	p.ready = append(p.ready, m.waiting...)
	m.waiting = m.waiting[:0]
	for _, next := range m.feeds {
		p.happens(next, m.real, 0, m.at)
	}
	m.feeds = nil
}

// last returns the last of several events.
func (p *player) last(of ...*event) *event {
	m := &event{left: len(of)}
	for _, one := range of {
		if one.known() {
			p.happens(m, one.real, 0, one.at)
		} else {
			one.feeds = append(one.feeds, m)
		}
	}
	return m
}

// times allocates one time per scenario.
func (p *player) times() []int64 {
	n := len(p.scenarios)
	if cap(p.room)-len(p.room) < n {
		p.room = make([]int64, 0, 1024*n)
	}
	k := len(p.room)
	p.room = p.room[:k+n]
	return p.room[k : k : k+n]
}
