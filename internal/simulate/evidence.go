package simulate

import (
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// longNS is the duration from which a computation or a call leaves evidence, as in the tracer.
const longNS = int64(time.Millisecond)

// evidence is what the operating system would have counted for a rank, for Config.Evidence. Ranks
// that wait inside a call poll: they use a CPU.
type evidence struct {
	last      trace.CallSite // the previous call; Site is its line
	exit      int64          // of the previous call
	gap       counted        // since that exit
	all       counted        // since the start
	rows      []trace.EvidenceRow
	index     map[trace.EvidenceKey]int
	instances []trace.EvidenceInstance
	samples   []trace.ContextSample
	due, step int64 // of samples
}

// counted is time of a computation without a CPU.
type counted struct {
	blocked, delay, stopped int64 // delay includes stopped
	ioBytes, ioCalls        int64
}

// Preempted lets time pass in which the rank is runnable, but others use its CPU.
func (r *Rank) Preempted(d time.Duration) { r.without(d, counted{delay: d.Nanoseconds()}) }

// Blocked lets time pass in which the rank is blocked in the kernel, without reading or writing
// anything.
func (r *Rank) Blocked(d time.Duration) { r.without(d, counted{blocked: d.Nanoseconds()}) }

// Stopped lets time pass in which the rank is stopped by its container's CPU limit.
func (r *Rank) Stopped(d time.Duration) {
	r.without(d, counted{delay: d.Nanoseconds(), stopped: d.Nanoseconds()})
}

// IO lets time pass in which the rank is blocked in one system call that reads or writes bytes.
func (r *Rank) IO(d time.Duration, bytes int) {
	r.without(d, counted{blocked: d.Nanoseconds(), ioBytes: int64(bytes), ioCalls: 1})
}

// without lets time of a computation pass without a CPU.
func (r *Rank) without(d time.Duration, c counted) {
	r.Compute(d)
	r.evidence.gap.add(c)
	r.evidence.all.add(c)
}

func (c *counted) add(other counted) {
	c.blocked += other.blocked
	c.delay += other.delay
	c.stopped += other.stopped
	c.ioBytes += other.ioBytes
	c.ioCalls += other.ioCalls
}

// seen records the evidence of a call and of the computation before it. The call lasted from enter
// to r.now.
func (r *Rank) seen(function uint16, enter int64) {
	e := &r.evidence
	call := trace.CallSite{Function: function}
	if r.sim.config.CallSites != "none" {
		call.Site = uint32(r.line)
	}
	if e.last.Function != 0 && enter-e.exit >= longNS {
		e.long(trace.EvidenceKey{After: e.last, Before: call}, e.exit, enter, e.gap)
	}
	if r.now-enter >= longNS {
		e.long(trace.EvidenceKey{Before: call}, enter, r.now, counted{})
	}
	e.last, e.exit, e.gap = call, r.now, counted{}
	e.sample(r.now)
}

func (e *evidence) long(place trace.EvidenceKey, begin, end int64, c counted) {
	i, known := e.index[place]
	if !known {
		if e.index == nil {
			e.index = map[trace.EvidenceKey]int{}
		}
		i = len(e.rows)
		e.index[place] = i
		e.rows = append(e.rows, trace.EvidenceRow{EvidenceKey: place})
	}
	wall := end - begin
	one := trace.EvidenceInstance{
		Row: i, BeginNS: BootNS + begin, WallNS: wall, CPUNS: wall - c.blocked - c.delay, RunDelayNS: c.delay, IOBytes: c.ioBytes,
	}
	row := &e.rows[i]
	row.Count++
	row.WallNS += wall
	row.CPUNS += one.CPUNS
	row.RunDelayNS += c.delay
	row.IOBytes += c.ioBytes
	row.IOCalls += c.ioCalls
	if c.ioBytes >= trace.DataBytes {
		row.DataNS += c.blocked
	}
	e.instances = append(e.instances, one)
	if len(e.instances) >= 8*trace.MaxInstances {
		e.instances = observed.LargestInstances(e.instances)
	}
}

// sample takes samples as the tracer does: at the start and every 100 ms. Beyond 32 samples it
// drops every second one.
func (e *evidence) sample(now int64) {
	const first, most = int64(100 * time.Millisecond), 32
	if len(e.samples) == 0 {
		e.step = first
	} else if now < e.due {
		return
	}
	if len(e.samples) == most {
		for i := range most / 2 {
			e.samples[i] = e.samples[2*i]
		}
		e.samples = e.samples[:most/2]
		e.step *= 2
	}
	e.samples = append(e.samples, trace.ContextSample{
		MonotonicNS: BootNS + now, CPUNS: now - e.all.blocked - e.all.delay, ThrottledNS: e.all.stopped, RunDelayNS: e.all.delay,
		CPU: trace.Unknown,
	})
	e.due = now + e.step
}

// writeEvidence adds the evidence to the rank's trace, which already has the call sites.
func (r *Rank) writeEvidence(c *trace.Content) {
	e := &r.evidence
	sites := map[uint32]uint32{0: 0} // by line
	for i := range c.Sites {
		sites[uint32(c.Sites[i].Offset)] = uint32(i) + 1
	}
	skew := r.sim.skew(r.rank)
	c.Ranks.Change(0, func(to *trace.Rank) {
		taken := make([]int64, len(e.rows))
		for i := range taken {
			taken[i] = e.rows[i].WallNS
		}
		observed.ChooseEvidence(to, e.rows, taken, e.instances, r.now)
		to.ReplaceSites(func(line uint32) uint32 { return sites[line] })
		for i := range to.Outliers {
			to.Outliers[i].BeginNS += skew
		}
		to.Context = slices.Clone(e.samples)
		for i := range to.Context {
			to.Context[i].MonotonicNS += skew
		}
		to.Threads = []trace.ThreadUsage{{
			TID: to.PID, Name: r.sim.config.Pattern, CPUNS: r.now - e.all.blocked - e.all.delay, RunDelayNS: e.all.delay, CallsMPI: true,
		}}
	})
}
