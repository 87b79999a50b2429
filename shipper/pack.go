package shipper

import (
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// What a process writes grows by two to five bytes a call; coded (spool.Directory.Pack) it is less than one in most
// programs. So times are coded while the process goes on, block by block, whether the store is there or not, and there is no more to
// do at its end than for its last seconds.

// packInterval is the pause between two looks for what can be coded; tests have a shorter one.
var packInterval = 5 * time.Second

// packRetry is how long a process is left alone of which something could not be coded.
const packRetry = time.Minute

// A packer codes the times of the processes in a spool.
type packer struct {
	failed map[string]time.Time // directories, and since when
	next   time.Time            // when to look again
	behind int                  // files of logs that were left at the last look
}

// all codes a part of the times of each process until the context is done, and says how much smaller the spool has become.
func (k *packer) all(ctx context.Context, processes []process, logf func(format string, args ...any)) (freed int64) {
	k.behind = 0
	for _, p := range processes {
		if ctx.Err() != nil {
			break // there is little time left
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

// pack codes the times of processes that go on, and while the store is away of all.
func (s *ship) pack(ctx context.Context) {
	if time.Now().Before(s.packer.next) {
		return
	}
	processes, err := s.scan()
	if err != nil {
		return // sweep says so
	}
	processes = s.unshipped(processes)
	if !s.backoff.wait() {
		processes = slices.DeleteFunc(processes, func(p process) bool { return !p.alive })
	}
	s.auditor.removed(s.packer.all(ctx, processes, s.Logf))
	s.giveUpTimes(ctx)
}

// packEnded codes what is left of the times of a process that has ended: once, and not each time that a shard is written.
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

// Pack codes the times of the processes in a spool until the context is done: where nothing else runs, and anywhere when
// too much is waiting.
func Pack(ctx context.Context, spoolDirectory string) {
	s := newScanner(spoolDirectory)
	var k packer
	round := func() {
		if processes, err := s.scan(); err == nil {
			k.all(ctx, processes, func(string, ...any) {}) // what stays as it is counts all the same
		}
	}
	idly := make(chan struct{})
	defer close(idly)
	go func() {
		runtime.LockOSThread() // and not unlocked: the thread has another priority
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
	// leastPriority is that of a thread that is to run where nothing else does (nice 19).
	leastPriority = 19
	// maxBehind is how many files of logs may wait, of 1 MiB each.
	maxBehind = 64
	packPause = 100 * time.Millisecond
)
