package shipper

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Only one sidecar at a time works on a spool: a new one waits for an earlier one to end. The lock
// is that of the spool's directory, which the system releases with the process.

// lockSpool waits until no other sidecar works on the spool, at most until the grace period of the
// pod ends; then it returns false. A spool that cannot be locked is used without a lock.
func (s *ship) lockSpool(ctx context.Context) (release func(), ok bool) {
	release = func() {}
	dir, err := os.Open(s.Options.Spool)
	if err != nil {
		return release, true // sweep reports the error
	}
	var end <-chan time.Time
	done := ctx.Done()
	for logged := false; ; {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { dir.Close() }, true
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			dir.Close()
			return release, true
		}
		if !logged {
			s.Logf("another sidecar works on the spool: waiting for it")
			logged = true
		}
		select {
		case <-done:
			done, end = nil, time.After(s.Grace-s.reserve())
		case <-end:
			dir.Close()
			return release, false
		case <-time.After(s.Scan):
		}
	}
}
