package shipper

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// One sidecar at a time works on a spool: one that is started while another one still ends waits for it. The lock is that of
// the spool's directory, which the system gives up with the process.

// alone waits until no other sidecar works on the spool, at most until the grace of the pod ends; false then. A spool that
// cannot be locked is worked on all the same.
func (s *ship) alone(ctx context.Context) (release func(), ok bool) {
	release = func() {}
	dir, err := os.Open(s.Options.Spool)
	if err != nil {
		return release, true // sweep says so
	}
	var end <-chan time.Time
	done := ctx.Done()
	for said := false; ; {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { dir.Close() }, true
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			dir.Close()
			return release, true
		}
		if !said {
			s.Logf("another sidecar works on the spool: waiting for it")
			said = true
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
