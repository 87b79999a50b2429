package launch

// #include "disposition.h"
// #include <stdlib.h>
import "C"

import (
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ignored reports whether a signal was ignored when this process was started. Go's runtime handles
// most signals, and unblocks some.
func Ignored(s syscall.Signal) bool { return has(uint64(C.cairn_ignored_signals()), s) }

// ignoreAgain ignores what was ignored when this process was started.
func ignoreAgain() {
	for s := syscall.Signal(1); s <= numberOfSignals; s++ {
		if Ignored(s) {
			signal.Ignore(s)
		}
	}
}

// spawn starts a program with what this process was started with: the signals that are ignored and
// blocked, and standard files.
func spawn(path string, arguments, environment []string) (*os.Process, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	argv, freeArguments := vector(arguments)
	defer freeArguments()
	envp, freeEnvironment := vector(environment)
	defer freeEnvironment()
	syscall.ForkLock.Lock() // no descriptors that are about to be closed on exec
	pid := C.cairn_spawn(name, argv, envp)
	syscall.ForkLock.Unlock()
	if pid < 0 {
		return nil, &fs.PathError{Op: "fork/exec", Path: path, Err: syscall.Errno(-pid)}
	}
	return os.FindProcess(int(pid))
}

// vector returns words as C has them.
func vector(words []string) (first **C.char, free func()) {
	const size = unsafe.Sizeof(first)
	memory := C.calloc(C.size_t(len(words)+1), C.size_t(size))
	all := unsafe.Slice((**C.char)(memory), len(words)+1)
	for i, word := range words {
		all[i] = C.CString(word)
	}
	return &all[0], func() {
		for _, word := range all {
			C.free(unsafe.Pointer(word))
		}
		C.free(memory)
	}
}

// Restore has the program that is executed next get what this process was started with: signals,
// of which handled ones become the default, and closed standard files. The calling thread becomes
// the program's.
func Restore() {
	C.cairn_close_again()
	signal.Reset()
	ignoreAgain()
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
