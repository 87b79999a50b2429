package strangers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/test/network"
)

// A Job is a program that runs.
type Job struct {
	Dir     string // the program's working directory
	PIDs    []int  // by rank
	network *network.Network
	stretch []byte // shared with the ranks of class B: a float64 for each (stretch/stretch.c)
}

// word is the environment variable by which the processes of a job are found, even if a launcher's
// daemon started them.
const word = "CAIRN_STRANGERS_JOB"

// findRanks waits until all ranks of a job have loaded MPI, and returns their processes.
func findRanks(ctx context.Context, id string, ranks int, ended <-chan struct{}) ([]int, error) {
	for {
		if found := ranksNow(id); len(found) == ranks {
			pids := make([]int, ranks)
			for rank, pid := range found {
				if rank >= ranks {
					return nil, fmt.Errorf("rank %d of %d: the program starts several jobs", rank, ranks)
				}
				pids[rank] = pid
			}
			return pids, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
			return nil, fmt.Errorf("the program ended before all of %d ranks were there", ranks)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ranksNow returns the processes that are ranks of a job. Of several that have the same rank in
// their environment, it is the one that was started first.
func ranksNow(id string) map[int]int {
	found := map[int]int{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, []byte(word+"="+id+"\x00")) {
			continue
		}
		rank, ok := rankIn(environment)
		maps, err := os.ReadFile(filepath.Join(folder, "maps"))
		if !ok || err != nil || !bytes.Contains(maps, []byte("/libmpi")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if before, known := found[rank]; err == nil && (!known || startOf(pid) < startOf(before)) {
			found[rank] = pid
		}
	}
	return found
}

// startOf returns when a process was started, in the kernel's ticks since boot: process ids start
// again from low numbers. 0: it has ended.
func startOf(pid int) uint64 {
	const start = 19 // of the fields after the name
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) <= start {
		return 0
	}
	ticks, _ := strconv.ParseUint(fields[start], 10, 64)
	return ticks
}

// rankIn returns the rank that a launcher has put into an environment.
func rankIn(environment []byte) (rank int, ok bool) {
	for _, variable := range bytes.Split(environment, []byte{0}) {
		name, value, _ := strings.Cut(string(variable), "=")
		if name == "OMPI_COMM_WORLD_RANK" || name == "PMI_RANK" {
			rank, err := strconv.Atoi(value)
			return rank, err == nil
		}
	}
	return 0, false
}

func (j *Job) of(ranks []int) (pids []int) {
	for _, r := range ranks {
		pids = append(pids, j.PIDs[r])
	}
	return pids
}

func (j *Job) signal(ranks []int, s syscall.Signal) {
	for _, pid := range j.of(ranks) {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}

func (j *Job) threads(rank int) (all []int) {
	folders, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", j.PIDs[rank]))
	for _, f := range folders {
		if id, err := strconv.Atoi(filepath.Base(f)); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// pin binds all threads of a rank, and those that they will start, to a core.
func (j *Job) pin(rank, core int) error {
	for _, thread := range j.threads(rank) {
		if err := setCore(thread, core); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// resident returns the bytes that the smallest of some ranks has in memory.
func (j *Job) resident(ranks []int) float64 {
	least := 0.0
	for _, pid := range j.of(ranks) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseFloat(fields[1], 64)
			if n := pages * float64(os.Getpagesize()); least == 0 || n < least {
				least = n
			}
		}
	}
	return least
}

// watchDelays samples how long each rank waits for a CPU until ended is closed, and returns that as
// parts of the time.
func watchDelays(pids []int, ended <-chan struct{}) []float64 {
	begun := time.Now()
	first, last := make([]float64, len(pids)), make([]float64, len(pids))
	for i, pid := range pids {
		first[i] = delayNow(pid, 0)
	}
	copy(last, first)
	for pause(50*time.Millisecond, ended) {
		for i, pid := range pids {
			last[i] = delayNow(pid, last[i])
		}
	}
	for i := range last {
		part := (last[i] - first[i]) / time.Since(begun).Seconds()
		last[i] = math.Round(1e4*part) / 1e4
	}
	return last
}

// delayNow returns how long the first thread of a process has waited for a CPU, in seconds; before
// if it has ended.
func delayNow(pid int, before float64) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if d, ok := parseDelay(string(text)); err == nil && ok {
		return d
	}
	return before
}

// parseDelay returns the second number of /proc/PID/schedstat, which are nanoseconds on a CPU,
// nanoseconds waiting for one, and time slices.
func parseDelay(text string) (seconds float64, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return 0, false
	}
	waited, err := strconv.ParseUint(fields[1], 10, 64)
	return float64(waited) / 1e9, err == nil
}

// fill writes zeros into a folder until it is full.
func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, ".full"))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 1<<16)
	for {
		if _, err := f.Write(block); err != nil {
			if errors.Is(err, unix.ENOSPC) {
				return nil
			}
			return err
		}
	}
}
