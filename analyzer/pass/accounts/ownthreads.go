package accounts

import (
	"github.com/cairn-mpi/cairn/trace"
)

// A thread that is blocked in a computation may wait for other threads of its process: at the end
// of a parallel region, for a lock, to join them. Then the rank is not idle. When these threads ran
// is not known, but for how long: thread j for o. Outside its blocked time the first thread takes
// c, so j ran for at least o − c while it was blocked. The same is true of the time in which at
// least one of them was inside MPI.

// takeOwnThreads moves blocked time in which other threads of the process ran, waited for a CPU or
// were inside MPI from Blocked to Threads.
func (a *Accounts) takeOwnThreads() {
	for row, i := range a.MainOf {
		if i < 0 {
			continue
		}
		busiest := busiestShare(&a.Ranks[row])
		for what, o := range a.Each[i].OffCPU {
			if o.MovesData() {
				continue // it waits for files, whatever they do
			}
			own := o.Wall - o.Blocked
			least := func(active float64) int64 { return max(0, min(o.Blocked, int64(active)-own)) }
			if t := a.Each[i].Tallies[what]; t != nil && t.Ns > 0 {
				o.InCalls = least(float64(t.Beside) / float64(t.Ns) * float64(o.Wall))
			}
			o.Threads = max(o.InCalls, least(min(busiest*float64(max(0, o.Others)), float64(o.Wall))))
			o.Blocked -= o.Threads
		}
	}
}

// busiestShare returns how long the busiest of a rank's threads other than the first one ran or
// waited for a CPU, as a multiple of the CPU time of all of these. Threads that ended are not
// listed; they count as one.
func busiestShare(r *trace.Rank) float64 {
	most, listed := 0.0, 0.0
	all := 0.0
	if len(r.Context) > 1 {
		all = float64(ranFor(r))
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if t.TID == r.PID || t.Tool {
			all -= float64(t.CPUNS)
			continue
		}
		listed += float64(t.CPUNS)
		most = max(most, float64(t.CPUNS+max(0, t.RunDelayNS)))
	}
	all = max(all, listed)
	most = max(most, all-listed)
	if all <= 0 {
		return 1
	}
	return most / all
}

// A Team is the threads of a rank that compute, and how they used the rank's time outside MPI.
type Team struct {
	Threads int
	// Ran is the CPU time of all threads outside MPI, Available the time outside MPI of the first
	// one times the number of threads; in ns.
	Ran, Available float64
}

// minTeamShare is the fraction of the first thread's time outside MPI for which a thread must have
// a CPU to count as one that computes.
const minTeamShare = 0.05

// TeamOf returns the team of a rank. It is not known if the CPU time of most computation was not
// measured, or if the rank has more threads than a trace lists.
func (a *Accounts) TeamOf(row int) (t Team, known bool) {
	i := a.MainOf[row]
	if i < 0 || a.Each[i].Compute <= 0 || len(a.Ranks[row].Threads) >= trace.MaxThreadUsages {
		return Team{}, false
	}
	t.Threads = 1
	compute := float64(a.Each[i].Compute)
	for k := range a.Ranks[row].Threads {
		u := &a.Ranks[row].Threads[k]
		if u.TID != a.Ranks[row].PID && !u.Tool && float64(u.CPUNS) >= minTeamShare*compute {
			t.Threads++
		}
	}
	wall, own, others := 0.0, 0.0, 0.0
	for _, o := range a.Each[i].OffCPU {
		if o.Others < 0 {
			return Team{}, false
		}
		wall, own, others = wall+float64(o.Wall), own+float64(o.cpu), others+float64(o.Others)
	}
	if wall < evident*compute {
		return Team{}, false
	}
	inCalls := 0.0 // of the other threads: MPI polls
	for j := i + 1; j < len(a.Locations) && a.Locations[j].Row == row; j++ {
		inCalls += float64(a.Each[j].Mpi)
	}
	t.Available = float64(t.Threads) * compute
	t.Ran = min(t.Available, compute/wall*own+max(0, compute/wall*others-inCalls))
	return t, true
}
