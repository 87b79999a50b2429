package strangers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/test/network"
)

// A Job is a program that runs.
type Job struct {
	Dir     string    // the program's working directory
	PIDs    []int     // by rank
	waited  []float64 // seconds that each rank waited for a CPU while the fault was there
	groups  *rankGroups
	files   *fileWatch // of Dir
	network *network.Network
	// Of class B:
	slots    []stretchSlot // shared with the ranks
	replayer string        // path of its program
	region   string        // the MPI function before which a rank was stretched
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
	for pid, environment := range processesOf(id) {
		rank, ok := rankIn(environment)
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if !ok || err != nil || !bytes.Contains(maps, []byte("/libmpi")) {
			continue
		}
		if before, known := found[rank]; !known || startOf(pid) < startOf(before) {
			found[rank] = pid
		}
	}
	return found
}

// processesOf returns the environment of each process of a job: its ranks, the launcher and Cairn.
func processesOf(id string) map[int][]byte {
	all := map[int][]byte{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		pid, bad := strconv.Atoi(filepath.Base(folder))
		if err == nil && bad == nil && bytes.Contains(environment, []byte(word+"="+id+"\x00")) {
			all[pid] = environment
		}
	}
	return all
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

func threadsOf(pid int) (all []int) {
	folders, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, f := range folders {
		if id, err := strconv.Atoi(filepath.Base(f)); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// pin binds all threads of a process, and those that they will start, to a core.
func pin(pid, core int) error {
	for _, thread := range threadsOf(pid) {
		if err := setCore(thread, core); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// pin binds each rank to a core of its own, and all other processes of the job to that of the rank
// that is to have a fault: Cairn takes some percent of a core, which the others do not lack then.
func (j *Job) pin(id string, rank int) error {
	for pid := range processesOf(id) {
		on := core(rank)
		if r := slices.Index(j.PIDs, pid); r >= 0 {
			on = core(r)
		}
		if err := pin(pid, on); err != nil {
			return err
		}
	}
	return nil
}

// allAre reports whether the state of each of some ranks, as the letter of /proc/PID/stat, is one
// of some; 0 is that of a process that is not there.
func (j *Job) allAre(ranks []int, states ...byte) bool {
	for _, pid := range j.of(ranks) {
		if !slices.Contains(states, stateOf(pid)) {
			return false
		}
	}
	return true
}

// stateOf returns the letter of a process's state, or 0.
func stateOf(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	at := bytes.LastIndex(text, []byte(") "))
	if err != nil || at < 0 || at+2 >= len(text) {
		return 0
	}
	return text[at+2]
}

// running reports whether a process is there and not a zombie.
func running(pid int) bool { return !slices.Contains([]byte{'Z', 'X', 0}, stateOf(pid)) }

// watch samples how long each rank waits for a CPU until ended is closed, and returns that as parts
// of the time.
func (j *Job) watch(ended <-chan struct{}) (parts []float64) {
	begun := time.Now()
	first, last := make([]float64, len(j.PIDs)), make([]float64, len(j.PIDs))
	for rank, pid := range j.PIDs {
		first[rank] = delayNow(pid, 0)
	}
	copy(last, first)
	for pause(50*time.Millisecond, ended) {
		for rank, pid := range j.PIDs {
			last[rank] = delayNow(pid, last[rank])
		}
	}
	took := time.Since(begun).Seconds()
	for rank := range last {
		last[rank] -= first[rank]
		parts = append(parts, math.Round(1e4*last[rank]/took)/1e4)
	}
	j.waited = last
	return parts
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
