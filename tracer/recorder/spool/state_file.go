package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// Checkpoints are written in place to two files in turn. The older one is overwritten, so the
// compressor can be killed at any time, and no file has to be created and renamed each time. A file
// has the checkpoint's number, the length of the state, where the logs ended, the memory limit from
// then on, the state, and a checksum of all of these.

// stateFiles are the names of the two files; checkpoint n is in file n%2.
var stateFiles = [2]string{"state-0", "state-1"}

const (
	stateFrame = 16 + 3*16 + 8 // bytes before the state
	stateSum   = 8             // and after it
)

// A stateHead is what precedes the state.
type stateHead struct {
	Number uint64
	Length uint64 // of the state
	Logs   [3]logEnd
	Memory uint64 // Limits.Memory
}

// A savedState is the content of a file.
type savedState struct {
	stateHead
	content []byte
}

// frameState adds the frame to the state of the next checkpoint, which begins at stateFrame of b.
func (w *Writer) frameState(b []byte) []byte {
	head := stateHead{Number: w.checkpoints, Length: uint64(len(b) - stateFrame), Memory: uint64(w.recorder.Limits.Memory)}
	for i := range w.logs {
		head.Logs[i] = w.logs[i].end()
	}
	_, _ = binary.Encode(b, binary.LittleEndian, &head)
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// writeState writes the checkpoint with this number; the first one is 0.
func (d *Directory) writeState(number uint64, framed []byte) error {
	name := stateFiles[number%2]
	if number < 2 {
		return d.replace(name, bytes.NewReader(framed))
	}
	return d.overwrite(name, framed, 0)
}

// readFrame reads the state in a file; whole is false for an incomplete file, however long it is.
func (d *Directory) readFrame(name string) (s savedState, whole bool, err error) {
	f, err := plainfile.Open(d.root, name)
	if err != nil {
		return s, false, err
	}
	defer f.Close()
	if _, err := plainfile.Size(f, maxStateFile); err != nil {
		return s, false, err
	}
	err = binary.Read(io.NewSectionReader(f, 0, stateFrame), binary.LittleEndian, &s.stateHead)
	if err != nil || s.Length > maxStateFile {
		return s, false, nil
	}
	// first without keeping it: there may be no state, but any bytes
	size := stateFrame + int64(s.Length)
	if whole, err = copyFrame(io.Discard, f, size); !whole {
		return s, false, err
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	if whole, err = copyFrame(b, f, size); !whole {
		return s, false, err
	}
	_, err = binary.Decode(b.Bytes(), binary.LittleEndian, &s.stateHead) // it may be another one by now
	s.content = b.Bytes()[stateFrame:]
	return s, s.Length == uint64(len(s.content)), err
}

// copyFrame copies a frame up to its checksum, and reports whether that is right.
func copyFrame(to io.Writer, f io.ReaderAt, size int64) (right bool, err error) {
	digest := xxhash.New()
	if n, err := io.Copy(io.MultiWriter(digest, to), io.NewSectionReader(f, 0, size)); err != nil || n < size {
		return false, err
	}
	var sum [stateSum]byte
	_, err = f.ReadAt(sum[:], size)
	return err == nil && binary.LittleEndian.Uint64(sum[:]) == digest.Sum64(), nil
}

// readState reads the newest state of a process, and whether there is one.
func (d *Directory) readState() (state savedState, ok bool, err error) {
	damaged := ""
	for _, name := range stateFiles {
		s, whole, err := d.readFrame(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return state, false, err
		}
		switch {
		case !whole:
			damaged = name
		case !ok || s.Number > state.Number:
			state, ok = s, true
		}
	}
	if !ok && damaged != "" {
		return state, false, fmt.Errorf("%s: %w", damaged, recorder.ErrCheckpoint)
	}
	return state, ok, nil
}
