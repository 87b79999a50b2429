//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

// #include <stdint.h>
// #include "handover.h"
// #include "threads.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// started reports that there is a spool. Only the shim's one thread starts it.
var started bool

// reason returns the errno of a failure, which the shim prints. A failure without an errno
// is printed here.
func reason(err error) C.int {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != 0 {
		return C.int(errno)
	}
	complain("%v", err)
	return C.int(syscall.EINVAL)
}

// complain prints why tracing stops, in one line and without os.Stderr, which may be closed.
func complain(format string, args ...any) {
	line := "cairn: " + fmt.Sprintf(format, args...)
	_, _ = syscall.Write(2, append([]byte(line), '\n'))
}

//export cairn_core_start
func cairn_core_start(directory *C.char) (result C.int) {
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
	C.cairn_threads_unbind()
	s, err := spool.Open(C.GoString(directory))
	if err != nil {
		return reason(err)
	}
	started = true
	// one is enough; processing the adopted buffers may make room for the others
	if err := supply(s, 1, 0); err != nil {
		return reason(err)
	}
	if supply(s, C.CAIRN_READY-1, 0) != nil {
		C.cairn_none_left()
	}
	go compress(s)
	return 0
}

// compress processes the events of the application's threads until the process ends
// or tracing stops.
func compress(s *spool.Spool) {
	defer C.cairn_end() // after the reason is in the headers of the buffers
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("the recorder failed: %v", p)
			complain("%v", err)
			s.Stop(err)
		}
	}()
	for {
		var wanted, starving, asked C.uint32_t
		var minimum C.uint64_t
		events := C.cairn_await(&wanted, &minimum, &starving, &asked)
		err := supply(s, int(wanted), uint64(minimum))
		handleEvents(s, events)
		if asked != 0 {
			answer(s)
		}
		noteUsage(s)
		if err == nil {
			continue
		}
		// the buffers just compressed may have made room
		switch err = supply(s, 1, uint64(minimum)); {
		case err == nil:
		case starving == 0:
			C.cairn_none_left()
		default:
			complain("process %d: %v", os.Getpid(), err)
			s.Stop(err)
			return
		}
	}
}

// supply provides n record buffers, one of them with room for minimum bytes of records.
func supply(s *spool.Spool, n int, minimum uint64) error {
	for range n {
		buffer, capacity, err := s.Fresh(minimum)
		if err != nil {
			return err
		}
		C.cairn_supply(buffer, C.uint64_t(capacity))
		minimum = 0
	}
	return nil
}

// handleEvents applies queued buffer events in order and refills the free list after each full
// buffer, so that application threads do not starve.
func handleEvents(s *spool.Spool, e *C.struct_cairn_event) {
	for e != nil {
		// the event is in the buffer, which may belong to another thread as soon as it is consumed
		thread, buffer, full := uint32(e.thread), e.buffer, e.full != 0
		if e.own != 0 && !full {
			s.Adopt(uint32(e.own)-1, buffer, uint64(e.capacity))
		}
		e = e.next
		if full {
			s.Full(thread, buffer)
			if wanted := C.cairn_consumed(C.uint32_t(s.Spare())); wanted > 0 && supply(s, int(wanted), 0) != nil {
				C.cairn_none_left()
			}
		} else {
			s.Given(thread, buffer)
		}
	}
}

// noteUsage records the resources that tracing has taken.
func noteUsage(s *spool.Spool) {
	var stalls C.struct_cairn_stalls
	C.cairn_stalled(&stalls)
	s.NoteUsage(spool.Stalls{Count: uint64(stalls.count), TotalNS: uint64(stalls.total_ns), LongestNS: uint64(stalls.longest_ns)})
}

// answer passes the rank's ballot to a thread at a marker.
func answer(s *spool.Spool) {
	var words [C.CAIRN_BALLOT]C.uint64_t
	b, ok := s.Ballot()
	result := C.int(0)
	if ok {
		result = 1
		words = [...]C.uint64_t{C.uint64_t(b.Signature), 0, C.uint64_t(b.Period), C.uint64_t(b.Calls)}
		if b.Unchanged {
			words[1] = 1
		}
	}
	C.cairn_answer(&words[0], result)
}

func main() {}
