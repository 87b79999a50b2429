package spool

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// An answer is what the compressor tells the process, in a file of the process's directory that
// only the compressor writes and that the process reads (tracer/ring/ring.h).
type answer struct {
	bytes    int64 // of the compressor's files
	removed  int64 // of buffers that the compressor has removed
	cut      uint64
	ballot   online.Ballot
	stopped  string
	released [rawlayout.RingBuffers]uint64 // by number of a buffer: number of its last use that is in a checkpoint
}

const (
	answerFile  = "compressor"
	answerBytes = rawlayout.CompressorBytes + 8*rawlayout.RingBuffers
)

// release notes that the records of a use of a buffer are in a checkpoint.
func (a *answer) release(name string, taken uint64) {
	n, err := strconv.Atoi(strings.TrimSuffix(name, bufferSuffix))
	if err == nil && n >= 0 && n < len(a.released) {
		a.released[n] = taken
	}
}

// write writes the file.
func (a *answer) write(d *Directory) error {
	b := make([]byte, answerBytes)
	copy(b, rawlayout.CompressorMagic)
	put := func(at int, value uint64) { binary.NativeEndian.PutUint64(b[at:], value) }
	put(rawlayout.CompressorBytesAt, uint64(a.bytes))
	put(rawlayout.CompressorRemovedAt, uint64(a.removed))
	put(rawlayout.CompressorCutAt, a.cut)
	put(rawlayout.CompressorSignatureAt, a.ballot.Signature)
	if a.ballot.Unchanged {
		put(rawlayout.CompressorUnchangedAt, 1)
	}
	put(rawlayout.CompressorPeriodAt, uint64(a.ballot.Period))
	put(rawlayout.CompressorCallsAt, a.ballot.Calls)
	put(rawlayout.CompressorCutAgainAt, a.cut)
	copy(b[rawlayout.CompressorStoppedAt:][:rawlayout.BufferStoppedBytes-1], a.stopped)
	for i, taken := range a.released {
		put(rawlayout.CompressorBytes+8*i, taken)
	}
	return d.overwrite(answerFile, b)
}

// resume reads what an earlier compressor has told the process. What that has removed must not be
// forgotten.
func (a *answer) resume(d *Directory) error {
	b, err := d.read(answerFile, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return a.write(d)
	}
	if err != nil {
		return err
	}
	if len(b) < answerBytes || string(b[:len(rawlayout.CompressorMagic)]) != rawlayout.CompressorMagic {
		return a.write(d)
	}
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	a.bytes, a.removed = int64(word(rawlayout.CompressorBytesAt)), int64(word(rawlayout.CompressorRemovedAt))
	for i := range a.released {
		a.released[i] = word(rawlayout.CompressorBytes + 8*i)
	}
	stopped, _, _ := strings.Cut(string(b[rawlayout.CompressorStoppedAt:][:rawlayout.BufferStoppedBytes]), "\x00")
	a.stopped = stopped
	return nil
}
