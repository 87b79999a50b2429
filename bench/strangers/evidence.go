package strangers

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
)

// evidence are the faults of class A.
var evidence = []Fault{
	{
		Class: Evidence, Name: "stop", About: "a rank is stopped and continued; the strength is the part that it is stopped",
		Weakest: 0.3, Strongest: 0.7, Touched: one, Begin: beginStop, Expected: blockedRanks,
	},
	{
		Class: Evidence, Name: "hog", About: "so many processes compute on a rank's core",
		Weakest: 1, Strongest: 3, Touched: one, Begin: beginHog, Expected: preempted,
	},
	{
		Class: Evidence, Name: "nice", About: "a process computes on a rank's core, and the rank has a niceness of so much",
		Weakest: 2, Strongest: 10, Touched: one, Begin: beginNice, Expected: preempted,
	},
	{
		Class: Evidence, Name: "quota", About: "a cgroup takes this part of a core away from a rank",
		Weakest: 0.3, Strongest: 0.7, Touched: one, Possible: cpuGroups.possible, Begin: beginQuota,
		Expected: func(touched []int) []plant.Expected {
			return []plant.Expected{
				{Kind: verdict.Excess, Forms: []verdict.Form{verdict.Stopped}, Who: touched, Exact: true},
				{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.Limits}, Who: touched},
			}
		},
	},
	{
		Class: Evidence, Name: "together", About: "both ranks are on one core", Weakest: 1, Strongest: 1, Touched: everyone,
		Begin: beginTogether, Expected: func([]int) []plant.Expected {
			return []plant.Expected{{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.TooFew}}}
		},
	},
	{
		Class: Evidence, Name: "memory", About: "a cgroup takes this part of a rank's memory away, so that the kernel reclaims it",
		Weakest: 0.3, Strongest: 0.6, Touched: one, Possible: memoryGroups.possible, Begin: beginMemory,
		Expected: blockedRanks,
	},
	{
		Class: Evidence, Name: "kill", About: "a rank is killed", Weakest: 1, Strongest: 1, Ends: true, Touched: one,
		Begin: beginKill, Expected: crashed,
	},
	{
		Class: Evidence, Name: "full-disk", About: "the program's folder gets full", Weakest: 1, Strongest: 1, Ends: true,
		Touched: everyone, Possible: mayMount, Begin: beginFull, Expected: nobody,
	},
}

func mayMount() error {
	if os.Geteuid() != 0 {
		return errors.New("only root may mount a small file system")
	}
	return nil
}

func nobody([]int) []plant.Expected { return nil }

// blockedRanks accepts that ranks neither ran nor wanted a CPU.
func blockedRanks(touched []int) []plant.Expected {
	return []plant.Expected{{
		Kind: verdict.Excess, Forms: []verdict.Form{verdict.Blocked, verdict.Stopped}, Who: touched, Exact: true,
	}}
}

// preempted accepts that ranks wait for a CPU. That there are too few CPUs is true, too, but lacks
// the rank.
func preempted(touched []int) []plant.Expected {
	return []plant.Expected{
		{Kind: verdict.Excess, Forms: []verdict.Form{verdict.Preempted}, Who: touched, Exact: true},
		{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.TooFew}, Who: touched},
	}
}

func crashed(touched []int) []plant.Expected {
	return []plant.Expected{{Kind: verdict.Crash, Who: touched, Exact: true}}
}

// period is that of stopping and continuing.
const period = 200 * time.Millisecond

// beginStop stops ranks for a part of each period. At strength 0 they are only continued.
func beginStop(j *Job, touched []int, strength float64) (func(), error) {
	stopped := time.Duration(strength * float64(period))
	return repeat(func(ended <-chan struct{}) bool {
		if stopped > 0 {
			j.signal(touched, syscall.SIGSTOP)
		}
		still := pause(stopped, ended)
		j.signal(touched, syscall.SIGCONT)
		return still && pause(period-stopped, ended)
	}), nil
}

// repeat calls a function in a goroutine until it returns false, or the returned function is
// called.
func repeat(do func(ended <-chan struct{}) bool) (end func()) {
	ended := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for do(ended) {
			continue
		}
	})
	return func() {
		close(ended)
		done.Wait()
	}
}

// pause reports whether d went by before ended was closed.
func pause(d time.Duration, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return false
	case <-time.After(d):
		return true
	}
}

// beginHog starts processes that compute on the cores of ranks.
func beginHog(_ *Job, touched []int, strength float64) (func(), error) {
	var cores []int
	for _, rank := range touched {
		cores = append(cores, core(rank))
	}
	return beginHogs(cores, strength)
}

// beginHogs starts processes that compute on each of some cores: as many as the strength, rounded.
func beginHogs(cores []int, strength float64) (func(), error) {
	var hogs []*exec.Cmd
	end := func() {
		for _, h := range hogs {
			_ = h.Process.Kill()
			_ = h.Wait()
		}
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

func beginNice(j *Job, touched []int, strength float64) (func(), error) {
	for _, rank := range touched {
		for _, thread := range j.threads(rank) {
			if err := unix.Setpriority(unix.PRIO_PROCESS, thread, int(strength)); err != nil {
				return nil, os.NewSyscallError("setpriority", err)
			}
		}
	}
	return beginHog(j, touched, min(strength, 1))
}

// beginTogether moves all ranks to the first core. At strength 0 they stay.
func beginTogether(j *Job, _ []int, strength float64) (func(), error) {
	for rank := range j.PIDs {
		to := core(rank)
		if strength > 0 {
			to = 0
		}
		if err := j.pin(rank, to); err != nil {
			return nil, err
		}
	}
	return func() {}, nil
}

func beginKill(j *Job, touched []int, strength float64) (func(), error) {
	if strength > 0 {
		j.signal(touched, syscall.SIGKILL)
	}
	return func() {}, nil
}

// beginFull fills the program's folder, which is a small file system (Machine.place).
func beginFull(j *Job, _ []int, strength float64) (func(), error) {
	if strength == 0 {
		return func() {}, nil
	}
	return func() {}, fill(j.Dir)
}
