package main

// #include <stdint.h>
// #include "handover.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// started tells that there is a spool. MPI is initialized by one thread.
var started bool

// reason is the errno of a failure, which the shim reports; what has none is said here.
func reason(err error) C.int {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != 0 {
		return C.int(errno)
	}
	complain("%v", err)
	return C.int(syscall.EINVAL)
}

// complain says why tracing stops, in one line, whatever has become of Go's own standard error.
func complain(format string, args ...any) {
	line := "cairn: " + fmt.Sprintf(format, args...)
	_, _ = syscall.Write(2, append([]byte(line), '\n'))
}

//export cairn_core_start
func cairn_core_start(directory, process *C.char) (result C.int) {
	defer func() {
		if p := recover(); p != nil {
			complain("the recorder failed at its start: %v", p)
			result = C.int(syscall.EFAULT)
		}
	}()
	if started {
		return C.int(syscall.EALREADY)
	}
	keepSmall()
	spool, err := recorder.Start(C.GoString(directory), []byte(C.GoString(process)))
	if err != nil {
		return reason(err)
	}
	started = true
	// the first segment is asked for at once
	if err := supply(spool, 1, 0); err != nil {
		return reason(err)
	}
	go compress(spool)
	go spool.Watch().Run()
	return 0
}

// compress works off what the application's threads hand over, until the process ends or tracing stops.
func compress(spool *recorder.Spool) {
	defer C.cairn_end() // after the reason is in the segments' headers
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("the recorder failed: %v", p)
			complain("%v", err)
			spool.Stop(err)
		}
	}()
	for {
		var wanted, starving C.uint32_t
		var minimum C.uint64_t
		events := C.cairn_await(&wanted, &minimum, &starving)
		err := supply(spool, int(wanted), uint64(minimum))
		workOff(spool, events)
		if err == nil {
			continue
		}
		// what was just compressed may have made room
		switch err = supply(spool, 1, uint64(minimum)); {
		case err == nil:
		case starving == 0:
			C.cairn_none_left()
		default:
			complain("process %d: %v", os.Getpid(), err)
			spool.Stop(err)
			return
		}
	}
}

// supply makes n segments ready, one of them with room for minimum bytes of records.
func supply(spool *recorder.Spool, n int, minimum uint64) error {
	for range n {
		segment, capacity, err := spool.Fresh(minimum)
		if err != nil {
			return err
		}
		C.cairn_supply(segment, C.uint64_t(capacity))
		minimum = 0
	}
	return nil
}

// workOff does what a list of events tells.
func workOff(spool *recorder.Spool, e *C.struct_cairn_event) {
	for e != nil {
		// the event is in the segment, which may be another thread's as soon as it is worked off
		thread, segment, full := uint32(e.thread), e.segment, e.full != 0
		e = e.next
		if full {
			spool.Full(thread, segment)
			C.cairn_worked_off(1)
		} else {
			spool.Given(thread, segment)
		}
	}
}

func main() {}
