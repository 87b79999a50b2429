package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A ContextSample has the counters of the operating system for a process at one time. Counters
// begin with the process (those of the cgroup with the container; in a finished trace, with the
// rank's first sample) and never decrease. The difference of two samples distinguishes a rank that
// computes more from one that did not get its CPU:
//
//   - CPUNS grows with the time that it ran,
//   - InvoluntarySwitches with how often it was preempted,
//   - ThrottledNS with the time for which its container was stopped by its CPU limit.
type ContextSample struct {
	MonotonicNS         int64 // CLOCK_MONOTONIC of the node
	CPUNS               int64 // user and system time of all threads of the process
	VoluntarySwitches   int64 // context switches because a thread waited
	InvoluntarySwitches int64 // preemptions
	ThrottledPeriods    int64 // of the cgroup's CPU limit (nr_throttled); −1: not available
	ThrottledNS         int64 // −1: not available
	CPU                 int64 // the CPU that the process's first thread last ran on; −1: unknown
	// RunDelayNS is the time for which the process's first thread was ready to run and waited for a
	// CPU; sleeping does not count. 0 where the kernel does not count it.
	RunDelayNS int64
	// StealNS is the time for which the hypervisor ran other machines while CPUs of this one had
	// work, summed over all its CPUs, from the start of the process to the latest reading; −1 where
	// unknown.
	StealNS int64
}

// StealNS returns the steal time of the rank's machine between the rank's first and last sample.
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

// A trace stores the time of the first sample in units of firstContextUnit, which shifts all
// samples by the same amount. All other times are differences to the sample before, in units of
// contextUnit, Rounded.
const (
	firstContextUnit = 1 << 24
	contextUnit      = 1 << 16
)

// A contextColumn is a counter of a sample; times are in units of contextUnit.
type contextColumn struct {
	of   func(*ContextSample) *int64
	unit int64
}

// contextCounts are the fields of a sample in the order of the file, without the last one, CPU.
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

// maxContextCode bounds the codes of counts, so that the sum of all samples of a rank fits into an
// int64 in ns.
const maxContextCode = 36 << codec.RoundedBits

// appendContextOf appends the samples of the next rank.
func (t *RankTable) appendContextOf(samples []ContextSample) {
	var known [contextCPU]int64 // values as a reader gets them, in units; Unknown counts as 0
	for i := range samples {
		s := &samples[i]
		var codes [contextFields]int64
		for k := range contextCounts {
			c := &contextCounts[k]
			v := *c.of(s)
			if k == 0 && i == 0 {
				codes[k], known[k] = codec.InUnits(v, firstContextUnit), codec.InUnits(v, contextUnit)
				continue
			}
			if v = codec.InUnits(v, c.unit); v < 0 {
				codes[k] = Unknown
				continue
			}
			codes[k] = min(codec.RoundedCode(max(0, v-known[k])), maxContextCode)
			known[k] += codec.Unrounded(codes[k])
		}
		codes[contextCPU] = s.CPU
		t.context.Add(contextFields, codes[:]...)
	}
	t.context.End(contextFields)
}

// contextOf returns the samples in some rows of the context.
func contextOf(context *codec.RaggedLookup, from, to int) []ContextSample {
	if from == to {
		return nil
	}
	samples := make([]ContextSample, to-from)
	var known [contextCPU]int64
	for i := range samples {
		s := &samples[i]
		for k := range contextCounts {
			c := &contextCounts[k]
			code := context.At(k, from+i)
			switch {
			case code < 0:
				*c.of(s) = Unknown
				continue
			case k == 0 && i == 0:
				known[k] = code * (firstContextUnit / contextUnit)
			default:
				known[k] += codec.Unrounded(code)
			}
			*c.of(s) = known[k] * c.unit
		}
		s.CPU = context.At(contextCPU, from+i)
	}
	return samples
}

// contextGroups groups similar samples: the first ones of all ranks, and all others.
func contextGroups(context *codec.Ragged) []int64 {
	groups := make([]int64, context.N)
	for i, first := range context.Starts() {
		if first {
			groups[i] = 1
		}
	}
	return groups
}

// momentGroups groups the times of samples, each a difference to the sample before: the first ones
// are similar on one node.
func (t *RankTable) momentGroups(table *codec.Ragged) []int64 {
	groups := make([]int64, table.N)
	rows, boot := table.Lookup(), t.texts[bootText].Lookup()
	for i := range t.Len() {
		if from, to := rows.Rows(i); to > from {
			groups[from] = 1 + boot(i)
		}
	}
	return groups
}

func hasContext(c *Content) bool {
	return c.Ranks.context.N > 0 || len(c.Meta.Excluded) > 0 || hasRemoteWorld(c)
}

func hasRemoteWorld(c *Content) bool {
	for i := range c.Communicators {
		if c.Communicators[i].RemoteWorld != "" {
			return true
		}
	}
	return false
}

// appendContext writes the conditions under which ranks ran and were recorded, and the other worlds
// that they met.
func appendContext(c *Content) []byte {
	s := newSection()
	s.Number(uint64(len(c.Meta.Excluded)))
	for _, group := range c.Meta.Excluded {
		s.Text(group)
	}
	s.Number(uint64(len(c.Communicators)))
	s.Texts(len(c.Communicators), func(i int) string { return c.Communicators[i].RemoteWorld })
	s.Number(uint64(c.Ranks.Len()))
	context := &c.Ranks.context
	s.Sequence(context.Counts())
	if context.N == 0 {
		return s.Bytes()
	}
	groups, moments := codec.GroupRows(contextGroups(context)), codec.GroupRows(c.Ranks.momentGroups(context))
	for k := range contextCounts {
		if k == 0 {
			s.Measured(&context.Columns[k], &moments)
		} else {
			s.Measured(&context.Columns[k], &groups)
		}
	}
	s.Numbers(&context.Columns[contextCPU])
	return s.Bytes()
}

// context reads what appendContext wrote. Communicators and ranks must have been read.
func (d *decoder) context(c *Content) {
	if n := d.Length(16); n > 0 {
		c.Meta.Excluded = make([]string, n)
		for i := range c.Meta.Excluded {
			c.Meta.Excluded[i] = d.Text()
		}
	}
	if d.Uvarint() != uint64(len(c.Communicators)) {
		d.Fail(codec.ErrNumber)
		return
	}
	for i, world := range d.Texts(len(c.Communicators)) {
		c.Communicators[i].RemoteWorld = world
	}
	if d.Uvarint() != uint64(c.Ranks.Len()) {
		d.Fail(codec.ErrNumber)
		return
	}
	context := d.RaggedCounts(c.Ranks.Len(), contextFields)
	if context.N > 0 {
		t := &c.Ranks
		groups := d.Grouping(context.N, func() []int64 { return contextGroups(&context) })
		moments := d.Grouping(context.N, func() []int64 { return t.momentGroups(&context) })
		context.Columns[0] = d.Measured(moments, Unknown, math.MaxInt64/firstContextUnit)
		for k := 1; k < len(contextCounts); k++ {
			context.Columns[k] = d.Measured(groups, Unknown, maxContextCode+1)
		}
		context.Columns[contextCPU] = d.Numbers(context.N)
	}
	if d.Err == nil {
		c.Ranks.context = context
	}
}
