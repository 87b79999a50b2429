package recorder

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A process holds an fcntl write lock on the file "lock" of its directory. The kernel gives it back when the process is
// gone, whatever became of it, and tells everybody on the node, also in another PID namespace. It is a lock of the
// process (not of the open file), so that children do not keep it. The shim takes it (spool.c).

// Alive tells whether the process of a process directory still lives. A process that has not got to taking its lock
// yet counts as dead.
func Alive(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return false, err
	}
	return lock.Type != unix.F_UNLCK, nil
}
