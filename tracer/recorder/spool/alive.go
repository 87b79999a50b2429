package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/clock"
)

const (
	aliveFile  = "alive"
	aliveMagic = "CAIRNAL4"
	maxAlive   = 1 << 10
)

// errNoLock: the process has no lock yet, or is damaged.
var errNoLock = errors.New("the process has no lock")

// A sighting is what was seen of a process's life from outside, as the file has it. 0: unknown.
type sighting struct {
	Magic       [len(aliveMagic)]byte
	Last        uint64 // when it was seen alive last, in ticks of its clock
	Order       uint64 // its number in the order of deaths on this host, from 1
	Status      uint64 // 1 + its wait status
	OutOfMemory uint64 // 1: the kernel killed a process of its memory cgroup
	Limit, Used uint64 // bytes: of its memory cgroup, and that it was seen with
	// Of the last look at its first thread, in ns: how long before Last, for how long the thread
	// had been watched, and the CPU time that it took meanwhile. State is its state then.
	Age, Watched, Ran, State uint64
	Looks, Suspended         uint64           // at its first thread, and how often that was suspended
	Program                  [maxProgram]byte // that it executed instead in the end, filled with zeros
}

// maxProgram is the length to which the name of a program is kept.
const maxProgram = 64

// A Watch observes from outside whether a process is alive. A process cannot report its own end,
// and one that computes or waits for long reports nothing.
type Watch struct {
	directory *Directory
	kind      string // of the process's clock

	mu    sync.Mutex
	lock  *os.File
	seen  sighting
	look  time.Time // the last look at its first thread
	noted sighting  // what of that is in the file
}

// Watch begins to observe the process.
func (d *Directory) Watch() (*Watch, error) {
	p, err := d.Process()
	if err != nil {
		return nil, err
	}
	lock, err := d.open(lockFile)
	if err == nil && lock == nil {
		err = errNoLock
	}
	if err != nil {
		return nil, err
	}
	w := &Watch{directory: d, kind: p.Clock.Kind, lock: lock}
	copy(w.seen.Magic[:], aliveMagic)
	w.noted = w.seen
	return w, nil
}

// Alive reports whether the process is alive.
func (w *Watch) Alive() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, ok := clock.Now(w.kind) // before the look
	holder, err := holderOf(w.lock)
	if holder != nobody && err == nil && ok {
		w.seen.Last = uint64(now.Ticks)
		if !w.look.IsZero() {
			w.seen.Age = uint64(time.Since(w.look))
		}
	}
	return holder != nobody, err
}

// PID returns the process's id in the PID namespace of this process; 0 if it has ended, or is
// outside of it.
func (w *Watch) PID() int {
	holder, err := holderOf(w.lock)
	if err != nil {
		return 0
	}
	return max(holder, 0)
}

// Died notes that the process died after order − 1 others of this host.
func (w *Watch) Died(order int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Order = uint64(order)
}

// Exited notes the wait status of the process.
func (w *Watch) Exited(status unix.WaitStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Status = 1 + uint64(status)
}

// UsedMemory notes how much memory the process was seen with at most, and the limit of its memory
// cgroup, both in bytes. killed reports that the kernel has killed a process of that cgroup for
// lack of memory.
func (w *Watch) UsedMemory(used, limit uint64, killed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Used, w.seen.Limit = used, limit
	if killed {
		w.seen.OutOfMemory = 1
	}
}

// Replaced notes that the process executes another program, of this name.
func (w *Watch) Replaced(program string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Program = [maxProgram]byte{}
	copy(w.seen.Program[:], program)
}

// Looked notes what the first thread of the process does, now: its state, for how long it has been
// watched, and the CPU time that it took meanwhile.
func (w *Watch) Looked(state byte, watched, ran time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look = time.Now()
	w.seen.Age, w.seen.Watched, w.seen.Ran, w.seen.State = 0, uint64(watched), uint64(ran), uint64(state)
}

// Saw counts a look at the first thread of the process, which was in a state as in /proc/PID/stat.
func (w *Watch) Saw(state byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Looks++
	if trace.IsSuspended(state) {
		w.seen.Suspended++
	}
}

// Note writes down what was seen of the process, so that a recovery knows it.
func (w *Watch) Note() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == w.noted {
		return nil
	}
	w.noted = w.seen
	b, err := binary.Append(nil, binary.NativeEndian, &w.seen)
	if err != nil {
		return err
	}
	return w.directory.overwrite(aliveFile, b, 0)
}

// Close ends the observation.
func (w *Watch) Close() error { return errors.Join(w.Note(), w.lock.Close()) }

// seenAlive returns what was seen of the process from outside; the zero value if it was not
// observed.
func (d *Directory) seenAlive() (s sighting) {
	b, err := d.read(aliveFile, maxAlive)
	if err != nil {
		return sighting{}
	}
	return decodeSighting(b)
}

// decodeSighting decodes the file's content; the zero value if its format is unknown.
func decodeSighting(b []byte) (s sighting) {
	if n, err := binary.Decode(b, binary.NativeEndian, &s); err != nil || n != len(b) || string(s.Magic[:]) != aliveMagic {
		return sighting{}
	}
	return s
}

// program returns the name of the program that the process executed in the end; "" if it was its
// own, as far as is known.
func (s *sighting) program() string {
	name, _, _ := bytes.Cut(s.Program[:], []byte{0})
	return strings.ToValidUTF8(string(name), "?")
}

// last returns when the process was seen alive last, in ticks of its clock.
func (s *sighting) last() int64 { return max(0, int64(s.Last)) }

// suspensions returns how often the process was seen suspended.
func (s *sighting) suspensions() trace.Suspensions {
	const most = 1 << 60
	return trace.Suspensions{Looks: int64(min(s.Looks, most)), Suspended: int64(min(s.Suspended, s.Looks, most))}
}

// addTo completes how a process ended with what was seen of it. The wait status says what the
// process itself cannot know or report: SIGKILL, _exit.
func (s *sighting) addTo(e *trace.End) {
	const most = 1 << 60
	number := func(word uint64) int64 { return int64(min(word, most)) }
	e.Order = int(min(s.Order, 1<<30))
	if s.Status != 0 {
		status := unix.WaitStatus(s.Status - 1)
		switch {
		case status.Signaled():
			e.Signal, e.ExitCode = int(status.Signal()), -1
		case status.Exited():
			e.Signal, e.ExitCode = 0, status.ExitStatus()
		}
	}
	e.Look = trace.Look{Age: number(s.Age), Watched: number(s.Watched), Ran: number(s.Ran), State: byte(s.State)}
	e.OutOfMemory = s.OutOfMemory != 0
	if e.OutOfMemory {
		e.MemoryLimit, e.MemoryUsed = number(s.Limit), number(s.Used)
	}
}

// nobody is the holder of a lock that nobody holds.
const nobody = -1

// holderOf returns the process that holds a lock on the file; 0 if it is in another PID namespace.
func holderOf(f *os.File) (pid int, err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET}
	err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
	if err != nil || lock.Type == unix.F_UNLCK {
		return nobody, err
	}
	return max(int(lock.Pid), 0), nil
}
