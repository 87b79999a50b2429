package main

// #include <stdint.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

var (
	mu    sync.Mutex
	spool *recorder.Spool
)

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
	mu.Lock()
	defer mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			complain("the recorder failed at its start: %v", p)
			result = C.int(syscall.EFAULT)
		}
	}()
	if spool != nil {
		return C.int(syscall.EALREADY)
	}
	keepSmall()
	rememberHandlers()
	s, err := recorder.Start(C.GoString(directory), []byte(C.GoString(process)))
	if err != nil {
		return reason(err)
	}
	spool = s
	return 0
}

//export cairn_core_segment
func cairn_core_segment(thread C.uint32_t, full unsafe.Pointer, minimum C.uint64_t, capacity *C.uint64_t) (fresh unsafe.Pointer) {
	mu.Lock()
	defer mu.Unlock()
	if spool == nil {
		return nil
	}
	installHandlers()
	defer removeHandlers()
	debug.SetPanicOnFault(true) // a segment that is truncated or unmapped under us is no reason to die
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("the recorder failed: %v", p)
			complain("%v", err)
			spool.Stop(err)
			spool, fresh = nil, nil
		}
	}()
	segment, room, err := spool.Next(uint32(thread), full, uint64(minimum))
	if err != nil {
		if !said {
			said = true
			complain("process %d: %v", os.Getpid(), err)
		}
		return nil
	}
	*capacity = C.uint64_t(room)
	return segment
}

// said tells that the one line was printed.
var said bool

func main() {}
