package strangers

import (
	"math"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// beginHog starts processes that compute on the cores of ranks.
func beginHog(j *Job, touched []int, strength float64) (func() float64, error) {
	var cores []int
	for _, rank := range touched {
		cores = append(cores, core(rank))
	}
	end, err := beginHogs(cores, strength)
	if err != nil {
		return nil, err
	}
	return func() float64 { return min(end(), j.leastWaited(touched)) }, nil
}

// beginHogs starts processes that compute on each of some cores: as many as the strength, rounded.
// The effect is the least CPU time of them, in seconds.
func beginHogs(cores []int, strength float64) (func() float64, error) {
	var hogs []*exec.Cmd
	end := func() float64 {
		least := math.Inf(1)
		for _, h := range hogs {
			_ = h.Process.Kill()
			_ = h.Wait()
			least = min(least, (h.ProcessState.UserTime() + h.ProcessState.SystemTime()).Seconds())
		}
		if len(hogs) == 0 {
			return 0
		}
		return least
	}
	for _, on := range cores {
		for range int(strength + 0.5) {
			h, err := startHog(on)
			if h != nil && h.Process != nil {
				hogs = append(hogs, h)
			}
			if err != nil {
				end()
				return nil, err
			}
		}
	}
	return end, nil
}

// startHog starts a process that computes on a core; on all if that is negative. It ends by itself
// after two minutes of CPU time if this process cannot end it.
func startHog(on int) (*exec.Cmd, error) {
	h := exec.Command("sh", "-c", "ulimit -t 120; while :; do :; done")
	if err := h.Start(); err != nil || on < 0 {
		return h, err
	}
	return h, setCore(h.Process.Pid, on)
}

// core is that of a rank in class A.
func core(rank int) int { return rank % runtime.NumCPU() }

func setCore(thread, core int) error {
	var set unix.CPUSet
	set.Set(core)
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(thread, &set))
}

func beginNice(j *Job, touched []int, strength float64) (func() float64, error) {
	for _, rank := range touched {
		for _, thread := range threadsOf(j.PIDs[rank]) {
			if err := unix.Setpriority(unix.PRIO_PROCESS, thread, int(strength)); err != nil {
				return nil, os.NewSyscallError("setpriority", err)
			}
		}
	}
	return beginHog(j, touched, min(strength, 1))
}

// beginTogether moves all ranks to the first core. At strength 0 they stay.
func beginTogether(j *Job, _ []int, strength float64) (func() float64, error) {
	var all []int
	for rank, pid := range j.PIDs {
		to := core(rank)
		if strength > 0 {
			to = 0
		}
		if err := pin(pid, to); err != nil {
			return nil, err
		}
		all = append(all, rank)
	}
	if strength == 0 {
		return noEffect, nil
	}
	return func() float64 { return j.leastWaited(all) }, nil
}

// leastWaited returns the shortest time that one of some ranks waited for a CPU while the fault was
// there, in seconds.
func (j *Job) leastWaited(ranks []int) float64 {
	least := math.Inf(1)
	for _, r := range ranks {
		least = min(least, j.waited[r])
	}
	return least
}
