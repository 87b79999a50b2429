package ring

// #include "ring.h"
import "C"

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/plainfile"
)

// DoorbellFile is the name of the doorbell in the spool.
const DoorbellFile = "doorbell"

// A Doorbell wakes the compressor.
type Doorbell struct{ memory []byte }

// OpenDoorbell opens the doorbell of a spool. Processes have mapped the one of an earlier
// compressor, so that is used again.
func OpenDoorbell(spool *os.Root) (*Doorbell, error) {
	f, err := plainfile.Open(spool, DoorbellFile)
	if err == nil && !complete(f) {
		f.Close()
		err = os.ErrNotExist
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, plainfile.ErrOdd) {
		if f, err = plainfile.Create(spool, DoorbellFile); err == nil {
			// another user's processes open it, whatever the umask
			err = errors.Join(f.Truncate(C.CAIRN_DOORBELL_BYTES), f.Chmod(0o644), f.Close())
		}
		if err == nil {
			f, err = plainfile.Open(spool, DoorbellFile)
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	memory, err := unix.Mmap(int(f.Fd()), 0, C.CAIRN_DOORBELL_BYTES, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return &Doorbell{memory}, nil
}

// complete reports whether a doorbell was not left by somebody who was killed while making it.
func complete(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Size() >= C.CAIRN_DOORBELL_BYTES && info.Mode().Perm() == 0o644
}

// Await waits until Wake is called, here or in a traced process, at most for CAIRN_PERIOD_NS, since
// a wake-up can be missed.
func (d *Doorbell) Await() { C.cairn_ring_await(unsafe.Pointer(&d.memory[0])) }

// Wake wakes who waits.
func (d *Doorbell) Wake() { C.cairn_ring_wake(unsafe.Pointer(&d.memory[0])) }

// Close unmaps the doorbell. Nobody may wait.
func (d *Doorbell) Close() error { return unix.Munmap(d.memory) }
