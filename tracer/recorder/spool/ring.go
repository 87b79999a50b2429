package spool

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// A Ring is what a living process tells the compressor (tracer/ring/ring.h).
type Ring struct{ file *os.File }

// OpenRing opens it.
func (d *Directory) OpenRing() (*Ring, error) {
	f, _, err := d.openFile(observed.FileName)
	return &Ring{f}, err
}

// A RingState is what the process says.
type RingState struct {
	Filled uint64 // bytes of buffers that it has filled so far
	Cuts   uint64 // ballots that it has requested so far
	Once   int64  // bytes of buffers that it does not use again and of copies, of all that it has made so far
}

// Read reads it.
func (r *Ring) Read() (s RingState, err error) {
	var b [rawlayout.RingBytes]byte
	if _, err := r.file.ReadAt(b[:], rawlayout.ObservedRing); err != nil {
		return s, err
	}
	if string(b[:len(rawlayout.RingMagic)]) != rawlayout.RingMagic {
		return s, fmt.Errorf("%s has no ring", r.file.Name())
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	return RingState{word(rawlayout.RingFilledAt), word(rawlayout.RingCutsAt), int64(word(rawlayout.RingOnceAt))}, nil
}

// Close closes it.
func (r *Ring) Close() error { return r.file.Close() }
