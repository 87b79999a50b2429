package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// repeat is the time within which the same signal counts as one: `timeout` and batch systems send
// it to the process and then to its group.
const repeat = time.Second

// endSignals ask a process to end.
var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP}

// EndSignals are the signals that ask `cairn run` to end. The channel receives one for each
// request.
type EndSignals struct {
	Asked chan syscall.Signal
	Stop  func()
}

// CatchEndSignals keeps these signals from ending this process. SIGINT is caught even if a shell
// ignored it, as shells do for background jobs: launchers do the same, and whoever sends SIGINT to
// such a job means it. A SIGHUP that nohup ignored stays ignored.
func CatchEndSignals() *EndSignals {
	caught := endSignals
	if signal.Ignored(syscall.SIGHUP) {
		caught = slices.DeleteFunc(slices.Clone(caught), func(s os.Signal) bool { return s == syscall.SIGHUP })
	}
	arrived, done := make(chan os.Signal, 16), make(chan struct{})
	e := &EndSignals{Asked: make(chan syscall.Signal, 16)}
	e.Stop = func() { signal.Stop(arrived); close(done) }
	signal.Notify(arrived, caught...)
	go e.dropRepeats(arrived, done)
	return e
}

// dropRepeats forwards signals without repeats.
func (e *EndSignals) dropRepeats(arrived <-chan os.Signal, done <-chan struct{}) {
	var last time.Time
	for {
		select {
		case s := <-arrived:
			if time.Since(last) < repeat {
				continue
			}
			last = time.Now()
			e.Asked <- s.(syscall.Signal)
		case <-done:
			return
		}
	}
}

// atTerminal reports whether this process is in the foreground of a terminal, so that keys pressed
// there send it signals.
func atTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
