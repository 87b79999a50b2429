package trace

import "math"

// A ContextSample is what the operating system had counted for a process by a moment; all counts begin with the process
// (those of the cgroup with the container; in a finished trace, with the rank's first sample) and never fall. What lies between two samples tells a rank that computes
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

// A trace knows the first sample's moment in steps of firstContextUnit, and all are off by the same; all other times in steps of
// contextUnit, as what they grew by since the sample before, Rounded.
const (
	firstContextUnit = 1 << 24
	contextUnit      = 1 << 16
)

// A contextColumn is a field of a sample that counts something; times are in units of contextUnit.
type contextColumn struct {
	of   func(*ContextSample) *int64
	unit int64
}

// contextCounts are the fields of a sample in the order of the file, but for the last, CPU.
var contextCounts = [...]contextColumn{
	{func(s *ContextSample) *int64 { return &s.MonotonicNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.CPUNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.VoluntarySwitches }, 1},
	{func(s *ContextSample) *int64 { return &s.InvoluntarySwitches }, 1},
	{func(s *ContextSample) *int64 { return &s.ThrottledPeriods }, 1},
	{func(s *ContextSample) *int64 { return &s.ThrottledNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.RunDelayNS }, contextUnit},
	{func(s *ContextSample) *int64 { return &s.StealNS }, contextUnit},
}

const (
	contextCPU    = len(contextCounts)
	contextFields = contextCPU + 1
)

// maxContextCode bounds codes of counts, so that sums of as many as a rank has are within int64 in ns.
const maxContextCode = 36 << roundedBits

// appendContextOf adds the samples of the next rank.
func (t *RankTable) appendContextOf(samples []ContextSample) {
	var known [contextCPU]int64 // in units, as a reader knows them; Unknown counts as nothing
	for i := range samples {
		s := &samples[i]
		var codes [contextFields]int64
		for k := range contextCounts {
			c := &contextCounts[k]
			v := *c.of(s)
			if k == 0 && i == 0 {
				codes[k], known[k] = inUnits(v, firstContextUnit), inUnits(v, contextUnit)
				continue
			}
			if v = inUnits(v, c.unit); v < 0 {
				codes[k] = Unknown
				continue
			}
			codes[k] = min(roundedCode(max(0, v-known[k])), maxContextCode)
			known[k] += unrounded(codes[k])
		}
		codes[contextCPU] = s.CPU
		t.context.add(contextFields, codes[:]...)
	}
	t.context.end(contextFields)
}

// contextOf gives the samples in some rows of the context.
func contextOf(context *raggedLookup, from, to int) []ContextSample {
	if from == to {
		return nil
	}
	samples := make([]ContextSample, to-from)
	var known [contextCPU]int64
	for i := range samples {
		s := &samples[i]
		for k := range contextCounts {
			c := &contextCounts[k]
			code := context.at(k, from+i)
			switch {
			case code < 0:
				*c.of(s) = Unknown
				continue
			case k == 0 && i == 0:
				known[k] = code * (firstContextUnit / contextUnit)
			default:
				known[k] += unrounded(code)
			}
			*c.of(s) = known[k] * c.unit
		}
		s.CPU = context.at(contextCPU, from+i)
	}
	return samples
}

// contextGroups says which samples are alike: first ones, and all others.
func contextGroups(context *ragged) []int64 {
	groups := make([]int64, context.n)
	for i, first := range context.starts() {
		if first {
			groups[i] = 1
		}
	}
	return groups
}

// momentGroups are that for moments, each the difference to the one before: those of which there is none before are alike on a
// node.
func (t *RankTable) momentGroups(table *ragged) []int64 {
	groups := make([]int64, table.n)
	rows, boot := table.lookup(), t.texts[bootText].Lookup()
	for i := range t.Len() {
		if from, to := rows.rows(i); to > from {
			groups[from] = 1 + boot(i)
		}
	}
	return groups
}

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
	s.sequence(context.counts())
	if context.n == 0 {
		return s.bytes()
	}
	groups, moments := groupRows(contextGroups(context)), groupRows(c.Ranks.momentGroups(context))
	for k := range contextCounts {
		if k == 0 {
			s.measured(&context.columns[k], &moments)
		} else {
			s.measured(&context.columns[k], &groups)
		}
	}
	s.numbers(&context.columns[contextCPU])
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
	context := d.raggedCounts(c.Ranks.Len(), contextFields)
	if context.n > 0 {
		t := &c.Ranks
		groups := d.grouping(context.n, func() []int64 { return contextGroups(&context) })
		moments := d.grouping(context.n, func() []int64 { return t.momentGroups(&context) })
		context.columns[0] = d.measured(moments, Unknown, math.MaxInt64/firstContextUnit)
		for k := 1; k < len(contextCounts); k++ {
			context.columns[k] = d.measured(groups, Unknown, maxContextCode+1)
		}
		context.columns[contextCPU] = d.numbers(context.n)
	}
	if d.err == nil {
		c.Ranks.context = context
	}
}
