package launch

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// own are signals that say something of this process, or stop it as they stop the command. Go's
// runtime uses SIGURG and SIGPROF, and leaves those from 32 to 34 to the C library.
var own = []syscall.Signal{
	syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	syscall.SIGCHLD, syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGURG, syscall.SIGPROF, 32, 33, 34,
}

// numberOfSignals is that of Linux on our machines.
const numberOfSignals = 64

// passedSignals returns the signals that are passed on to the command, beside those that ask it to
// end.
func passedSignals() (passed []os.Signal) {
	for s := syscall.Signal(1); s <= numberOfSignals; s++ {
		if !slices.Contains(own, s) && !slices.Contains(endSignals, os.Signal(s)) {
			passed = append(passed, s)
		}
	}
	return passed
}

// An arrival is a signal that this process got.
type arrival struct {
	signal syscall.Signal
	at     time.Time
}

// catchPassed has the signals that are passed on come to a channel, until stop is called.
func catchPassed() (arrivals <-chan arrival, stop func()) {
	arrived, dated := make(chan os.Signal, numberOfSignals), make(chan arrival, numberOfSignals)
	signal.Notify(arrived, passedSignals()...)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-arrived:
				dated <- arrival{s.(syscall.Signal), time.Now()}
			case <-ended:
				return
			}
		}
	}()
	return dated, func() { signal.Stop(arrived); close(ended) }
}

// passOn passes a signal on to the command, which alone would have got it without Cairn.
func (j *Job) passOn(a arrival) {
	switch {
	case j.reachedGroup(a.signal):
		j.reached[a.signal] = a.at
	case a.at.Sub(j.reached[a.signal]) >= repeat:
		_ = j.process.Signal(a.signal)
	}
}

// withBlocked calls a function that starts a process in which signals are blocked, one bit for
// each.
func withBlocked(signals uint64, start func() error) error {
	runtime.LockOSThread() // the process inherits the mask of the thread
	defer runtime.UnlockOSThread()
	var before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{Val: [16]uint64{signals}}, &before); err != nil {
		return err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }()
	return start()
}

// has reports whether a signal is in a set that has one bit for each.
func has(set uint64, s syscall.Signal) bool { return set>>(s-1)&1 != 0 }
