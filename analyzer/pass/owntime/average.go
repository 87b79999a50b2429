package owntime

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// covers is the fraction of the time of calls that must be measured for the measurements to be
// taken as representative.
const covers = 0.5

// Ranks poll if the one that waits longest is blocked for at most this fraction of that wait, which
// takes this fraction of the run at least.
const (
	onCPU  = 0.1
	longer = 0.02
)

// measured returns what a rank lacks in the calls at a call site: as measured there, or else on
// average over all of its calls.
func (l *Lacks) measured(row int, call accounts.Activity) Lack {
	i := l.MainOf[row]
	t, o := l.Each[i].Tallies[call], l.Each[i].LongCalls[call]
	if t == nil || o == nil || float64(o.Wall) < covers*float64(t.Ns) {
		return l.Average(row)
	}
	lack := Lack{Delayed: float64(o.Delayed) / float64(o.Wall)}
	if l.polls {
		blocked := max(0, o.Blocked-max(0, o.Others)) // its own threads may keep it waiting
		lack.Stopped = float64(blocked) / float64(o.Wall) * float64(t.Ns) / float64(max(1, t.Own()))
	}
	return lack
}

// An average is what a rank's first thread lacks in calls by the counters of the whole run. Run
// delay is divided among all the time in calls: a rank that polls is delayed by those for which it
// waits. A rank that is stopped does not wait for long for others, which soon wait for it. So that
// time is own time of its calls.
type average struct {
	known   bool
	delayed float64 // fraction of the time in calls
	perhaps float64 // another fraction, unless that was when MPI started or ended
	blocked float64 // fraction of the own time of calls
	inCalls float64 // blocked in calls, in ns
	// anywhere is for how long it was blocked in calls or in computations beyond inCalls and what
	// was measured, and within the time of these that was not measured itself, in ns
	anywhere, within float64
}

// averageOf returns what the counters of a rank have beyond the measured computations, and beyond
// the start and the end of MPI. Short computations, which are not measured, are delayed as calls
// are. They may be blocked, and so may a rank between polls, and in files: what may have been there
// was not in calls.
func averageOf(a *accounts.Accounts, row int) (av average) {
	i, samples := a.MainOf[row], a.Ranks[row].Context
	if i < 0 || a.Window != nil || len(samples) < 2 || samples[len(samples)-1].RunDelayNS <= 0 {
		return average{}
	}
	av.known = true
	each := &a.Each[i]
	calls, own, ends, elsewhere := float64(each.Mpi), 0.0, outside{}, float64(each.Untraced)
	for call, t := range each.Tallies {
		if call.Computes() {
			continue
		}
		switch a.KindOfCall(call) {
		case verdict.StartEnd: // when the ranks start, they crowd the machine
			ends.add(t, each.LongCalls[call])
			calls -= float64(t.Ns)
		case verdict.IO:
			elsewhere += blockedIn(t, each.LongCalls[call])
		default:
			own += float64(t.Own())
			elsewhere += float64(t.Idle)
		}
	}
	main := float64(a.Extents[i].End-a.Extents[i].Start) - ends.ns
	delayed, perhaps, blocked := ends.remove(a, row, main)
	unmeasured := float64(each.Compute)
	for _, o := range each.OffCPU {
		delayed, unmeasured = delayed-float64(o.Delayed), unmeasured-float64(o.Wall)
		elsewhere += float64(o.Blocked + o.Threads)
	}
	unmeasured = max(0, unmeasured)
	if calls+unmeasured > 0 {
		av.delayed = max(0, min(1, delayed/(calls+unmeasured)))
		av.perhaps = max(0, min(1, (delayed+perhaps)/(calls+unmeasured))-av.delayed)
	}
	av.inCalls = max(0, min(calls, blocked-elsewhere-unmeasured))
	if own > 0 {
		av.blocked = min(1, av.inCalls/own)
	}
	av.within = max(0, own-av.inCalls)
	for what, t := range each.Tallies {
		if what.Computes() {
			av.within += (1 - each.Sampled(what)) * float64(t.Ns)
		}
	}
	av.anywhere = max(0, min(av.within, blocked-elsewhere-av.inCalls))
	return av
}

// outside is the time that a rank spends at the start and the end of MPI, and what was measured
// there.
type outside struct{ ns, unmeasured, delayed, blocked float64 }

func (s *outside) add(t *accounts.Tally, o *accounts.OffCPU) {
	s.ns += float64(t.Ns)
	if o == nil {
		s.unmeasured += float64(t.Ns)
		return
	}
	s.unmeasured += float64(max(0, t.Ns-o.Wall))
	s.delayed, s.blocked = s.delayed+float64(o.Delayed), s.blocked+float64(o.Blocked)
}

// remove returns for how long a rank was delayed and blocked at least in its main part, of a length
// in ns, by its counters: what they counted outside of it may have been delayed or blocked all the
// time, unless it was measured. perhaps is for how much longer the rank was delayed if it was not.
func (s *outside) remove(a *accounts.Accounts, row int, main float64) (delayed, perhaps, blocked float64) {
	samples := a.Ranks[row].Context
	first, last := samples[0], samples[len(samples)-1]
	wall := float64(max(1, last.MonotonicNS-first.MonotonicNS))
	delayed = min(wall, float64(last.RunDelayNS-first.RunDelayNS))
	blocked = max(0, wall-delayed-float64(last.CPUNS-first.CPUNS)-float64(a.StolenFrom(row)))
	if wall < main {
		delayed, blocked = delayed*main/wall, blocked*main/wall
	}
	counted := min(s.unmeasured, max(0, wall-main))
	delayed = max(0, delayed-s.delayed)
	perhaps = min(delayed, counted)
	return delayed - perhaps, perhaps, max(0, blocked-s.blocked-counted)
}

// blockedIn returns for how long calls at a call site were blocked, in ns: all the time if that was
// not measured.
func blockedIn(t *accounts.Tally, o *accounts.OffCPU) float64 {
	if o == nil || o.Wall <= 0 {
		return float64(t.Ns)
	}
	return max(1, float64(t.Ns)/float64(o.Wall)) * float64(o.Blocked)
}

// areOnCPU reports whether ranks stay on their CPU while they wait in calls, as libraries do that
// poll: the rank that waits longest is hardly ever blocked.
func areOnCPU(a *accounts.Accounts, inAll []average) bool {
	longest, most := -1, int64(0)
	for row, i := range a.MainOf {
		if i >= 0 && a.Each[i].Waited > most {
			longest, most = row, a.Each[i].Waited
		}
	}
	return longest >= 0 && float64(most) >= longer*float64(a.Run()) && inAll[longest].known &&
		inAll[longest].inCalls <= onCPU*float64(most)
}
