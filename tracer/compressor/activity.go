package compressor

import (
	"bytes"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// lookInterval is the least time for which a process is watched. CPU times in /proc/PID/stat are in
// ticks of 10 ms.
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
	buffer [1024]byte
}

// activityOf begins to observe a process; pid is 0 if it is not visible.
func activityOf(pid int) *activity {
	if pid == 0 {
		return &activity{}
	}
	id := strconv.Itoa(pid)
	return &activity{stat: filepath.Join("/proc", id, "task", id, "stat")}
}

// see looks at the thread, and at its CPU time if it has been watched for long enough.
func (a *activity) see(life *spool.Watch) {
	now := time.Now()
	if a.stat == "" {
		return
	}
	state, ran, ok := threadActivity(a.read())
	if !ok {
		return
	}
	life.Saw(state)
	watched := now.Sub(a.looked)
	if watched < lookInterval {
		return
	}
	if !a.looked.IsZero() {
		life.Looked(state, watched, max(0, ran-a.ran))
	}
	a.looked, a.ran = now, ran
}

// read returns the content of the file, nil if there is none. It is read ten times a second, and
// os.ReadFile takes twice the time.
func (a *activity) read() []byte {
	fd, err := unix.Open(a.stat, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, a.buffer[:])
	if err != nil {
		return nil
	}
	return a.buffer[:n]
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
