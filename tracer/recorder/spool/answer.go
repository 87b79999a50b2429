package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// An answer is what the compressor tells the process: a part of the process's file of observations
// (tracer/ring/ring.h).
type answer [answerBytes]byte

const answerBytes = rawlayout.CompressorBytes + 8*rawlayout.RingBuffers

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

// write writes the part. The cut comes last, since the process may read meanwhile: once it sees the
// cut, the ballot is there.
func (a *answer) write(d *Directory) error {
	f, err := d.openObserved()
	if err != nil {
		return err
	}
	const behind = rawlayout.CompressorCutAt + 8
	if _, err = f.WriteAt(a[behind:], rawlayout.ObservedAnswer+behind); err == nil {
		_, err = f.WriteAt(a[:behind], rawlayout.ObservedAnswer)
	}
	return errors.Join(err, f.Close())
}

// resume reads what an earlier compressor has answered. What that has removed must not be
// forgotten.
func (a *answer) resume(d *Directory) error {
	f, err := d.openObserved()
	if err != nil {
		return err
	}
	_, err = f.ReadAt(a[:], rawlayout.ObservedAnswer)
	if err = errors.Join(err, f.Close()); err != nil || bytes.HasPrefix(a[:], []byte(rawlayout.CompressorMagic)) {
		return err
	}
	*a = answer{}
	copy(a[:], rawlayout.CompressorMagic)
	return a.write(d)
}

// openObserved opens the file of observations to write to it. The process has made it, with room
// for the answer.
func (d *Directory) openObserved() (*os.File, error) {
	f, _, err := d.openFileTo(observed.FileName, plainfile.OpenWritable)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() < rawlayout.ObservedContext {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s has no room for what the compressor answers", f.Name()))
	}
	return f, nil
}
