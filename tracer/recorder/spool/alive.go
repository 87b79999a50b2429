package spool

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/clock"
)

const (
	aliveFile  = "alive"
	aliveMagic = "CAIRNAL1"
	aliveBytes = len(aliveMagic) + 8
)

// errNoLock: the process has no lock yet, or is damaged.
var errNoLock = errors.New("the process has no lock")

// A Watch observes from outside whether a process is alive. A process cannot report its own end,
// and one that computes or waits for long reports nothing.
type Watch struct {
	directory *Directory
	kind      string // of the process's clock

	mu    sync.Mutex
	lock  *os.File
	last  uint64 // when the process was seen alive last, in ticks of its clock
	noted uint64 // what of that is in the file
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
	return &Watch{directory: d, kind: p.Clock.Kind, lock: lock}, nil
}

// Alive reports whether the process is alive.
func (w *Watch) Alive() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, ok := clock.Now(w.kind) // before the look
	alive, err := isLocked(w.lock)
	if alive && ok {
		w.last = uint64(now.Ticks)
	}
	return alive, err
}

// Note writes down when the process was seen alive last, so that a recovery knows it.
func (w *Watch) Note() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == w.noted {
		return nil
	}
	w.noted = w.last
	return w.directory.overwrite(aliveFile, binary.NativeEndian.AppendUint64([]byte(aliveMagic), w.last), 0)
}

// Close ends the observation.
func (w *Watch) Close() error { return errors.Join(w.Note(), w.lock.Close()) }

// seenAlive returns when the process was last seen alive from outside, in ticks of its clock; 0: it
// was not observed.
func (d *Directory) seenAlive() int64 {
	b, err := d.read(aliveFile, int64(aliveBytes))
	if err != nil || len(b) != aliveBytes || string(b[:len(aliveMagic)]) != aliveMagic {
		return 0
	}
	return max(0, int64(binary.NativeEndian.Uint64(b[len(aliveMagic):])))
}

// isLocked reports whether another process holds a lock on the file.
func isLocked(f *os.File) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET}
	err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
	return err == nil && lock.Type != unix.F_UNLCK, err
}
