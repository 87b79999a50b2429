package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// Checkpoints are written in place to two files in turn. The older one is overwritten, so the
// process can be killed at any time, and no file has to be created and renamed each time. A file
// has the checkpoint's number, the length of the state, the state, and a checksum of all of these.

// stateFiles are the names of the two files; checkpoint n is in file n%2.
var stateFiles = [2]string{"state-0", "state-1"}

const stateFrame = 16 // bytes before the state

// frameState adds the frame to a state, which begins at stateFrame of b.
func frameState(b []byte, number uint64) []byte {
	binary.LittleEndian.PutUint64(b, number)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-stateFrame))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// unframeState returns the state in a file; ok is false for an incomplete file.
func unframeState(b []byte) (state []byte, number uint64, ok bool) {
	if len(b) < stateFrame+8 {
		return nil, 0, false
	}
	n := binary.LittleEndian.Uint64(b[8:])
	if n > uint64(len(b)-stateFrame-8) {
		return nil, 0, false
	}
	end := stateFrame + int(n)
	if binary.LittleEndian.Uint64(b[end:]) != xxhash.Sum64(b[:end]) {
		return nil, 0, false
	}
	return b[stateFrame:end], binary.LittleEndian.Uint64(b), true
}

// writeState writes the checkpoint with this number; the first one is 0.
func writeState(dir string, number uint64, framed []byte) error {
	name := stateFiles[number%2]
	if number < 2 {
		return writeFile(dir, name, framed) // replaces a complete file
	}
	if err := fitsLimit(int64(len(framed))); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|notFollowed, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(framed, 0)
	return errors.Join(err, f.Close())
}

// readState reads the newest state of a process, its number, and whether there is one.
func (d *Directory) readState() (state []byte, number uint64, ok bool, err error) {
	damaged := ""
	for _, name := range stateFiles {
		b, err := d.read(name, maxStateFile)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, false, err
		}
		s, n, whole := unframeState(b)
		switch {
		case !whole:
			damaged = name
		case !ok || n > number:
			state, number, ok = s, n, true
		}
	}
	if !ok && damaged != "" {
		return nil, 0, false, fmt.Errorf("%s: %w", damaged, recorder.ErrCheckpoint)
	}
	return state, number, ok, nil
}
