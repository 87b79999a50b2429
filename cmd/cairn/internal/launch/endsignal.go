package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// repeat is how long a signal counts as the same one: `timeout` and batch systems send theirs to the process and then to
// its group.
const repeat = time.Second

// EndSignals are the signals that ask `cairn run` to end, one for each time that it is asked.
type EndSignals struct {
	Asked chan syscall.Signal
	Stop  func()
}

// CatchEndSignals keeps these signals from ending this process. SIGINT is caught even where a shell had it ignored, as it
// does for a job in the background: launchers do the same, and whoever sends it to that job means it. A SIGHUP that
// nohup had ignored stays ignored.
func CatchEndSignals() *EndSignals {
	caught := []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	arrived, done := make(chan os.Signal, 16), make(chan struct{})
	e := &EndSignals{Asked: make(chan syscall.Signal, 16)}
	e.Stop = func() { signal.Stop(arrived); close(done) }
	signal.Notify(arrived, caught...)
	go e.sift(arrived, done)
	return e
}

// sift passes on what arrives, without repeats.
func (e *EndSignals) sift(arrived <-chan os.Signal, done <-chan struct{}) {
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

// atTerminal reports whether this process is in the foreground of a terminal: keys pressed there send signals to it.
func atTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
