package spool

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// A Ring is what a living process tells the compressor (tracer/ring/ring.h).
type Ring struct{ file *os.File }

// OpenRing opens it.
func (d *Directory) OpenRing() (*Ring, error) {
	f, err := plainfile.Open(d.root, observed.FileName)
	return &Ring{f}, err
}

// Read returns how many bytes of buffers the process has filled, and how many ballots it has
// requested.
func (r *Ring) Read() (filled, cuts uint64, err error) {
	var b [rawlayout.RingBytes]byte
	if _, err := r.file.ReadAt(b[:], rawlayout.ObservedRing); err != nil {
		return 0, 0, err
	}
	if string(b[:len(rawlayout.RingMagic)]) != rawlayout.RingMagic {
		return 0, 0, fmt.Errorf("%s has no ring", r.file.Name())
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	return word(rawlayout.RingFilledAt), word(rawlayout.RingCutsAt), nil
}

// Close closes it.
func (r *Ring) Close() error { return r.file.Close() }
