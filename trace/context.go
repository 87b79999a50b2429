package trace

// A ContextSample is what the operating system had counted for a process by a moment; all counts begin with the process
// (those of the cgroup with the container) and never fall. What lies between two samples tells a rank that computes
// more from one that did not get its CPU: CPUNS grows with the time that it ran, InvoluntarySwitches with how often it
// was preempted, ThrottledNS with the time for which its container was stopped by its CPU limit.
type ContextSample struct {
	MonotonicNS         int64 // CLOCK_MONOTONIC of the node
	CPUNS               int64 // user and system time of all threads of the process
	VoluntarySwitches   int64 // context switches because a thread waited
	InvoluntarySwitches int64 // because another one was to run
	ThrottledPeriods    int64 // of the cgroup's CPU limit (nr_throttled); −1 where there is no such count
	ThrottledNS         int64 // −1 where there is none
	CPU                 int64 // number of the CPU that the process's first thread was last on, −1 where unknown
	// RunDelayNS is for how long the process's first thread was ready to run and waited for a CPU: a thread that sleeps is
	// not. 0 where the kernel does not count it.
	RunDelayNS int64
	// StealNS is for how long the hypervisor ran other machines while CPUs of this one had something to run, of all its CPUs
	// together, since the process began, as of the latest reading; −1 where unknown.
	StealNS int64
}

// StealNS is the steal of the rank's machine between the rank's first sample and its last one.
func (r *Rank) StealNS() (ns int64, known bool) {
	if len(r.Context) < 2 {
		return 0, false
	}
	first, last := r.Context[0].StealNS, r.Context[len(r.Context)-1].StealNS
	if first < 0 || last < first {
		return 0, false
	}
	return last - first, true
}

// contextUnit is in which steps of ns a trace knows the times of a sample.
const contextUnit = 1 << 16

// A contextColumn is a field of a sample, in units: a trace knows times in steps of contextUnit.
type contextColumn struct {
	of   func(*ContextSample) *int64
	unit int64
}

// contextColumns are the fields of a sample in the order of the file.
var contextColumns = []contextColumn{
	{func(s *ContextSample) *int64 { return &s.MonotonicNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.CPUNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.VoluntarySwitches }, 1},
	{func(s *ContextSample) *int64 { return &s.InvoluntarySwitches }, 1},
	{func(s *ContextSample) *int64 { return &s.ThrottledPeriods }, 1},
	{func(s *ContextSample) *int64 { return &s.ThrottledNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.CPU }, 1},
	{func(s *ContextSample) *int64 { return &s.RunDelayNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.StealNS }, contextUnit},
}

// units are those of the field of a sample, rounded to the nearest. What is unknown stays so.
func (c *contextColumn) units(s *ContextSample) int64 {
	v := *c.of(s)
	if v < 0 {
		return v
	}
	return v/c.unit + (v%c.unit+c.unit/2)/c.unit
}

// set takes units.
func (c *contextColumn) set(s *ContextSample, units int64) {
	if units > 0 {
		units *= c.unit
	}
	*c.of(s) = units
}

const contextFields = 9

// beforeContext is what a rank's first sample is the difference to: unknown steal is no difference.
var beforeContext = [contextFields]int64{contextFields - 1: Unknown}

func hasContext(c *Content) bool {
	return c.Ranks.context.n > 0 || len(c.Meta.Excluded) > 0 || hasRemoteWorld(c)
}

func hasRemoteWorld(c *Content) bool {
	for i := range c.Communicators {
		if c.Communicators[i].RemoteWorld != "" {
			return true
		}
	}
	return false
}

// appendContext writes under which conditions the ranks ran and were recorded, and which other worlds they met.
func appendContext(c *Content) []byte {
	s := newSection()
	s.number(uint64(len(c.Meta.Excluded)))
	for _, group := range c.Meta.Excluded {
		s.text(group)
	}
	s.number(uint64(len(c.Communicators)))
	s.texts(len(c.Communicators), func(i int) string { return c.Communicators[i].RemoteWorld })
	s.number(uint64(c.Ranks.Len()))
	context := &c.Ranks.context
	s.b = AppendSequence(s.b, context.counts())
	for k := range contextFields {
		if context.columns == nil {
			s.b = AppendSequence(s.b, nil)
			continue
		}
		s.numbers(&context.columns[k])
	}
	return s.bytes()
}

// context reads what appendContext wrote; communicators and ranks are there.
func (d *decoder) context(c *Content) {
	if n := d.length(16); n > 0 {
		c.Meta.Excluded = make([]string, n)
		for i := range c.Meta.Excluded {
			c.Meta.Excluded[i] = d.text()
		}
	}
	if d.uvarint() != uint64(len(c.Communicators)) {
		d.fail(errNumber)
		return
	}
	for i, world := range d.texts(len(c.Communicators)) {
		c.Communicators[i].RemoteWorld = world
	}
	if d.uvarint() != uint64(c.Ranks.Len()) {
		d.fail(errNumber)
		return
	}
	context := d.ragged(c.Ranks.Len(), contextFields)
	if d.err == nil {
		c.Ranks.context = context
	}
}
