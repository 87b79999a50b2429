package hosts

// #include "disposition.h"
import "C"

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignored returns the signals that were ignored when this process was started, one bit for each.
// Go's runtime handles most signals, and unblocks some.
func ignored() uint64 { return uint64(C.cairn_ignored_signals()) }

func has(set uint64, sig syscall.Signal) bool { return set>>(sig-1)&1 != 0 }

// restoreSignals gives signals the dispositions that this process was started with, as far as the
// program that is executed next gets them: handled ones become the default. The calling thread
// becomes the program's.
func restoreSignals() {
	signal.Reset()
	set := ignored()
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if has(set, sig) {
			signal.Ignore(sig)
		}
	}
	mask := unix.Sigset_t{}
	blocked := uint64(C.cairn_blocked_signals())
	mask.Val[0] = blocked
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &mask, nil)
	pending := uint64(C.cairn_pending_signals()) & blocked
	for sig := syscall.Signal(1); sig < 32; sig++ {
		if has(pending, sig) {
			// the runtime has unblocked and received it, as other threads still do
			_ = unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
		}
	}
}

// forgetChildren calls a function whose children leave no trace in this process: neither a child
// that the program could wait for, nor CPU time of children, which a wait would add.
func forgetChildren(f func()) {
	signal.Ignore(unix.SIGCHLD)
	f()
	if !has(ignored(), unix.SIGCHLD) {
		// the runtime's handler, which the program gets as the default; Reset would leave it ignored
		signal.Notify(make(chan os.Signal, 1), unix.SIGCHLD)
	}
}
