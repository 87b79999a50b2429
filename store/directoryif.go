package store

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile is locked while an object of its directory is compared and replaced. The empty file is
// never removed: that might remove it while another process holds the lock.
const lockFile = temporaryPrefix + "lock"

// PutIf compares and renames under a lock. On a file system without locks it is unsupported. Put
// does not take the lock: a caller that uses conditions must not put the same object without them.
func (d *directory) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (now string, err error) {
	err = d.put(ctx, key, r, size, func(tmp string) error {
		unlock, err := lock(filepath.Join(filepath.Dir(tmp), lockFile))
		if err != nil {
			return &Error{Op: "write", URL: d.URL(key), Reason: Unsupported, Message: "its file system cannot lock files", Err: err}
		}
		defer unlock()
		before, err := d.Stat(ctx, key)
		if err != nil && !IsNotFound(err) {
			return err
		}
		if before.Version != version {
			return &Error{Op: "write", URL: d.URL(key), Reason: Changed, Message: "another writer has replaced it"}
		}
		info, err := os.Stat(tmp)
		if err != nil {
			return err
		}
		now = versionOf(info)
		return os.Rename(tmp, d.file(key))
	})
	return now, err
}

// lock waits for a lock, which the system releases with the process. It is held only for a few
// system calls.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return func() { f.Close() }, nil
	}
}
