package compressor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// lookInterval is the least time between two looks at what a process does. CPU times in
// /proc/PID/stat are in ticks of 10 ms.
const (
	lookInterval = 500 * time.Millisecond
	tick         = 10 * time.Millisecond
)

// An activity observes what the first thread of a process does, for when it is outside MPI and
// reports nothing: whether it runs, is blocked, or is stopped.
type activity struct {
	stat   string // file; "": the process is not visible
	looked time.Time
	ran    time.Duration // CPU time until then
}

// activityOf begins to observe a process; pid is 0 if it is not visible. root is "/" except in
// tests.
func activityOf(root string, pid int) *activity {
	if pid == 0 {
		return &activity{}
	}
	id := strconv.Itoa(pid)
	return &activity{stat: filepath.Join(root, "proc", id, "task", id, "stat")}
}

// see looks at the thread if the last look is old enough.
func (a *activity) see(life *spool.Watch) {
	now := time.Now()
	if a.stat == "" || now.Sub(a.looked) < lookInterval {
		return
	}
	b, err := os.ReadFile(a.stat)
	if err != nil {
		return
	}
	state, ran, ok := threadActivity(b)
	if !ok {
		return
	}
	if !a.looked.IsZero() {
		life.Looked(state, now.Sub(a.looked), max(0, ran-a.ran))
	}
	a.looked, a.ran = now, ran
}

// threadActivity returns the state and the CPU time of a thread by its stat file.
func threadActivity(stat []byte) (state byte, ran time.Duration, ok bool) {
	fields := statFields(stat)
	const first, user, system = 0, 11, 12
	if len(fields) <= system || len(fields[first]) != 1 {
		return 0, 0, false
	}
	for _, field := range []int{user, system} {
		n, err := strconv.ParseInt(string(fields[field]), 10, 48)
		if err != nil || n < 0 {
			return 0, 0, false
		}
		ran += time.Duration(n) * tick
	}
	return fields[first][0], ran, true
}

// statFields returns the fields of a stat file from the state on, which follows "pid (name)". The
// name may have any bytes.
func statFields(stat []byte) [][]byte { return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) }
