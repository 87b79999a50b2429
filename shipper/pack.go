package shipper

import (
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// The log of a process grows by two to five bytes per call; coded (spool.Directory.Pack) it is less
// than one byte in most programs. So times are coded while the process runs, block by block,
// whether or not the store is available. At its end only its last seconds are left to do.

// packInterval is the pause between two passes over the processes; tests use a shorter one.
var packInterval = 5 * time.Second

// packRetry is the pause for a process after coding failed.
const packRetry = time.Minute

// A packer codes the times of the processes in a spool.
type packer struct {
	failed map[string]time.Time // time of failure, by directory
	next   time.Time            // time of the next pass
	behind int                  // number of log files left at the last pass
}

// all codes a part of the times of each process until ctx is done, and returns by how much the
// spool has shrunk.
func (k *packer) all(ctx context.Context, processes []process, logf func(format string, args ...any)) (freed int64) {
	k.behind = 0
	for _, p := range processes {
		if ctx.Err() != nil {
			break // little time is left
		}
		done, err := k.pack(p)
		if err != nil {
			logf("%v", err)
		}
		freed += done.Before - done.After
		k.behind += done.More
	}
	k.next = time.Now()
	if k.behind == 0 {
		k.next = k.next.Add(packInterval)
	}
	return freed
}

// pack codes a part of the times of a process.
func (k *packer) pack(p process) (done spool.Packed, err error) {
	return k.try(p, "coded", func(d *spool.Directory) (spool.Packed, error) { return d.Pack() })
}

// pack codes the times of running processes, and, while the store is unavailable, of all processes.
func (s *ship) pack(ctx context.Context) {
	if time.Now().Before(s.packer.next) {
		return
	}
	processes, err := s.scan()
	if err != nil {
		return // sweep reports the error
	}
	processes = s.unshipped(processes)
	if !s.backoff.wait() {
		processes = slices.DeleteFunc(processes, func(p process) bool { return !p.alive })
	}
	s.auditor.removed(s.packer.all(ctx, processes, s.Logf))
	s.giveUpTimes(ctx)
}

// packEnded codes the remaining times of a process that has ended, so that it is done once and not
// for each shard.
func (s *ship) packEnded(ctx context.Context, p process) {
	for more := !p.alive; more && ctx.Err() == nil; {
		done, err := s.packer.try(p, "coded", func(d *spool.Directory) (spool.Packed, error) {
			d.Ended = true
			return d.Pack()
		})
		if err != nil {
			s.Logf("%v", err)
		}
		s.auditor.removed(done.Before - done.After)
		more = done.More > 0
	}
}

// Pack codes the times of the processes in a spool until ctx is done. It runs at the lowest
// priority, but at normal priority when too much is waiting.
func Pack(ctx context.Context, spoolDirectory string) {
	s := newScanner(spoolDirectory)
	var k packer
	round := func() {
		if processes, err := s.scan(); err == nil {
			k.all(ctx, processes, func(string, ...any) {}) // failures leave the files as they are
		}
	}
	idly := make(chan struct{})
	defer close(idly)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread has another priority
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, leastPriority)
		for range idly {
			round()
			idly <- struct{}{}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(k.next.Add(packPause))):
		}
		if k.behind > maxBehind {
			round()
			continue
		}
		idly <- struct{}{}
		<-idly
	}
}

const (
	// leastPriority is the priority of a thread that runs only on an idle CPU (nice 19).
	leastPriority = 19
	// maxBehind is the number of log files that may wait, of 1 MiB each.
	maxBehind = 64
	packPause = 100 * time.Millisecond
)
