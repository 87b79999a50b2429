package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// An answer is what the compressor tells the process: the content of a file of the process's
// directory that the process makes and reads, and that the compressor writes (tracer/ring/ring.h).
type answer [answerBytes]byte

const (
	answerFile  = "compressor"
	answerBytes = rawlayout.CompressorBytes + 8*rawlayout.RingBuffers
)

func (a *answer) word(at int) uint64 { return binary.NativeEndian.Uint64(a[at:]) }

func (a *answer) set(at int, value uint64) { binary.NativeEndian.PutUint64(a[at:], value) }

// cuts returns the number of cuts whose ballots the answer has.
func (a *answer) cuts() uint64 { return a.word(rawlayout.CompressorCutAt) }

func (a *answer) setBallot(cuts uint64, b online.Ballot) {
	unchanged := uint64(0)
	if b.Unchanged {
		unchanged = 1
	}
	a.set(rawlayout.CompressorSignatureAt, b.Signature)
	a.set(rawlayout.CompressorUnchangedAt, unchanged)
	a.set(rawlayout.CompressorPeriodAt, uint64(b.Period))
	a.set(rawlayout.CompressorCallsAt, b.Calls)
	a.set(rawlayout.CompressorCutAt, cuts)
}

// release notes that the records of a use of a slot are in a checkpoint.
func (a *answer) release(slot int, taken uint64) { a.set(rawlayout.CompressorBytes+8*slot, taken) }

// stop says why the process stops tracing.
func (a *answer) stop(why string) {
	copy(a[rawlayout.CompressorStoppedAt:][:rawlayout.BufferStoppedBytes-1], why)
}

func (a *answer) isStopped() bool { return a[rawlayout.CompressorStoppedAt] != 0 }

// write writes the file. The cut comes last, since the process may read meanwhile: once it sees the
// cut, the ballot is there.
func (a *answer) write(d *Directory) error {
	const behind = rawlayout.CompressorCutAt + 8
	return d.overwrite(answerFile, a[:], behind)
}

// resume reads what an earlier compressor has answered. What that has removed must not be
// forgotten.
func (a *answer) resume(d *Directory) error {
	b, err := d.read(answerFile, 1<<20)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case len(b) >= answerBytes && bytes.HasPrefix(b, []byte(rawlayout.CompressorMagic)):
		copy(a[:], b)
		return nil
	}
	copy(a[:], rawlayout.CompressorMagic)
	return a.write(d)
}
