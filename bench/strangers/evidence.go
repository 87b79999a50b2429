package strangers

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
)

// What is measured of several faults.
const (
	secondsStopped = "seconds for which the rank was seen stopped"
	secondsWaited  = "seconds for which the ranks waited for a CPU"
	wasKilled      = "1: the rank was there and is gone"
)

// leastSeconds is the effect of a fault, in seconds, below which it did not work.
const leastSeconds = 0.1

// evidence are the faults of class A.
var evidence = []Fault{
	{
		Class: Evidence, Name: "stop", About: "a rank is stopped and continued; the strength is the part that it is stopped",
		Weakest: 0.3, Strongest: 0.7, Touched: one, Begin: beginStop, Expected: blockedRanks,
		Effect: secondsStopped, Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "hog", About: "so many processes compute on a rank's core",
		Weakest: 1, Strongest: 3, Touched: one, Begin: beginHog, Expected: preempted,
		Effect: secondsWaited, Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "nice", About: "a process computes on a rank's core, and the rank has a niceness of so much",
		Weakest: 2, Strongest: 10, Touched: one, Begin: beginNice, Expected: preempted,
		Effect: secondsWaited, Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "quota", About: "a cgroup takes this part of a core away from a rank",
		Weakest: 0.3, Strongest: 0.7, Touched: one, Possible: cpuGroups.possible, Prepare: cpuGroups.prepare,
		Begin: beginQuota, Expected: throttled,
		Effect: "seconds for which cpu.stat says that the rank was throttled", Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "together", About: "both ranks are on one core", Weakest: 1, Strongest: 1, Touched: everyone,
		Begin: beginTogether, Expected: func([]int) []plant.Expected {
			return []plant.Expected{{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.TooFew}}}
		},
		Effect: secondsWaited, Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "memory", About: "a cgroup takes this part of a rank's memory away, so that the kernel reclaims it",
		Weakest: 0.3, Strongest: 0.6, Touched: one, Possible: memoryGroups.possible, Prepare: memoryGroups.prepare,
		Begin: beginMemory, Expected: blockedRanks,
		Effect: "how often the rank's cgroup met its limit, so that memory was reclaimed", Least: 10,
	},
	{
		Class: Evidence, Name: "slow-files", About: "so many milliseconds longer for each access of a rank to a file of the program's folder",
		Weakest: 5, Strongest: 50, Touched: one, Possible: mayWatchFiles, Prepare: prepareSlowFiles,
		Begin: beginSlowFiles, Expected: slowFiles,
		Effect: "seconds for which accesses were held", Least: leastSeconds,
	},
	{
		Class: Evidence, Name: "kill", About: "a rank is killed", Weakest: 1, Strongest: 1, Ends: true, Touched: one,
		Begin: beginKill, Expected: crashed, Effect: wasKilled, Least: 1,
	},
	{
		Class: Evidence, Name: "full-disk", About: "the program's folder gets full", Weakest: 1, Strongest: 1, Ends: true,
		Touched: everyone, Possible: mayMount, Begin: beginFull, Expected: nobody,
		Effect: "1: the folder was full", Least: 1,
	},
}

func nobody([]int) []plant.Expected { return nil }

// blockedRanks accepts that ranks neither ran nor wanted a CPU.
func blockedRanks(touched []int) []plant.Expected {
	return []plant.Expected{{
		Kind: verdict.Excess, Forms: []verdict.Form{verdict.Blocked, verdict.Halted, verdict.BySignal, verdict.Stopped}, Who: touched, Exact: true,
	}}
}

func throttled(touched []int) []plant.Expected {
	return []plant.Expected{
		{Kind: verdict.Excess, Forms: []verdict.Form{verdict.Stopped}, Who: touched, Exact: true},
		{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.Limits}, Who: touched},
	}
}

// preempted accepts that ranks wait for a CPU. That there are too few CPUs is true, too, but lacks
// the rank.
func preempted(touched []int) []plant.Expected {
	return []plant.Expected{
		{Kind: verdict.Excess, Forms: []verdict.Form{verdict.Preempted}, Who: touched, Exact: true},
		{Kind: verdict.CPUs, Forms: []verdict.Form{verdict.TooFew}, Who: touched},
	}
}

// slowFiles accepts that ranks are blocked, between calls or in those that read and write.
func slowFiles(touched []int) []plant.Expected {
	return append(blockedRanks(touched), plant.Expected{Kind: verdict.IO, Who: touched})
}

func crashed(touched []int) []plant.Expected {
	return []plant.Expected{{Kind: verdict.Crash, Who: touched, Exact: true}}
}

// period is that of stopping and continuing.
const period = 200 * time.Millisecond

// beginStop stops ranks for a part of each period. At strength 0 they are only continued. Time
// counts as stopped if all of them are seen so at the end of it.
func beginStop(j *Job, touched []int, strength float64) (func() float64, error) {
	stopped := time.Duration(strength * float64(period))
	seconds := 0.0
	end := repeat(func(ended <-chan struct{}) bool {
		begun := time.Now()
		if stopped > 0 {
			j.signal(touched, syscall.SIGSTOP)
		}
		still := pause(stopped, ended)
		if j.allAre(touched, 'T') {
			seconds += time.Since(begun).Seconds()
		}
		j.signal(touched, syscall.SIGCONT)
		return still && pause(period-stopped, ended)
	})
	return func() float64 { end(); return seconds }, nil
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

func beginKill(j *Job, touched []int, strength float64) (func() float64, error) {
	if strength == 0 {
		return noEffect, nil
	}
	if !j.allAre(touched, 'R', 'S', 'D') {
		return nil, fmt.Errorf("ranks %v are not there", touched)
	}
	j.signal(touched, syscall.SIGKILL)
	return func() float64 {
		if j.allAre(touched, 'Z', 'X', 0) {
			return 1
		}
		return 0
	}, nil
}

// noEffect is the end of what has none.
func noEffect() float64 { return 0 }
