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
// process (not of the open file), so that children do not keep it.

// lockDescriptor is where the descriptor goes: out of the way of programs that close all the low ones, since closing
// any descriptor of the file gives the lock back.
const lockDescriptor = 500

func takeLock(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, lockDescriptor)
	if err != nil {
		// as many descriptors are not allowed
		if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return err
		}
	}
	f.Close() // before the lock is taken
	return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
}

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
