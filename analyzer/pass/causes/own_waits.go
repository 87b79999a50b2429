package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Waits for a CPU that are of a rank's own making belong to what it does, and are no cause beside
// it: its other threads run, or it writes, and whoever takes that runs on its CPU.

// takeOwnWaits adds the waits for a CPU of a set to the hypothesis that it computes longer than the
// others, if they are of its own making.
func (h *Hypothesis) takeOwnWaits(e *evidence, set, others []outliers.Worker, where accounts.Activity, in outliers.Scope) {
	t, own := e.TallyOf(set[0], where), e.Each[e.MainOf[set[0].Row]].OffCPU[where]
	if t == nil || t.Count == 0 || own == nil || h.Cause.Form != verdict.Always && h.Cause.Form != verdict.InThread {
		return
	}
	more := usually(e, others, where).until(own)
	switch {
	case more.delayed <= 0:
		return
	case h.Cause.Form == verdict.InThread && more.others >= explains*more.delayed:
	case h.Cause.Form == verdict.Always && isPreemptedByCalls(own, t.Count):
		h.Cause.Form, h.Cause.Calls = verdict.SysCalls, uint64(own.IOCalls)/t.Count
	default:
		return
	}
	h.takesWaits, h.Cause.SystemSeconds, h.Cause.PageFaults = true, 0, 0 // the calls say why
	h.Cause.EachSeconds = accounts.Seconds(t.Ns) / float64(t.Count)
	h.change = likeTheOthers(e, set, others, in, true)
}

// usually returns what happened on the mean of some ranks in a region.
func usually(e *evidence, ranks []outliers.Worker, where accounts.Activity) *whatElse {
	var w whatElse
	for _, r := range ranks {
		w.add(e.Each[e.MainOf[r.Row]].OffCPU[where], 1/float64(len(ranks)))
	}
	return &w
}

// isPreemptedByCalls reports whether a rank is preempted many times in each of n instances, and
// makes system calls that read or write about as often. Others that want its CPU leave it a time
// slice, and do not come with its calls.
func isPreemptedByCalls(o *accounts.OffCPU, n uint64) bool {
	switches := float64(o.InvoluntarySwitches)
	return switches >= manyCalls*float64(n) && float64(o.IOCalls) >= explains*switches && switches >= explains*float64(o.IOCalls)
}

// useItsCPU reports whether other threads of its process run for most of the time for which the
// first rank of a set waits for a CPU longer than the others.
func useItsCPU(e *evidence, set, others []outliers.Worker) bool {
	sum := func(w outliers.Worker) (delayed, threads float64) {
		for _, o := range e.Each[e.MainOf[w.Row]].OffCPU {
			delayed, threads = delayed+float64(o.Delayed), threads+float64(max(0, o.Others))
		}
		return delayed, threads
	}
	delayed, threads := sum(set[0])
	for _, o := range others {
		theirs, run := sum(o)
		delayed, threads = delayed-theirs/float64(len(others)), threads-run/float64(len(others))
	}
	return delayed > 0 && threads >= explains*delayed
}
