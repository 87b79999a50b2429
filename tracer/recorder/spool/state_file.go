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

// Checkpoints go to two files in turn, in place: the one that is being written is never the newest, so that a process
// can be killed at any moment, and no file has to be made and renamed each time. A file is the checkpoint's number, the
// length of the state, the state, and a checksum of all that.
var stateFiles = [2]string{"state-0", "state-1"}

const stateFrame = 16 // bytes before the state

// frameState puts a state, which begins at stateFrame of b, into its frame.
func frameState(b []byte, number uint64) []byte {
	binary.LittleEndian.PutUint64(b, number)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-stateFrame))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// unframeState is the state in a file; false for a file that was not written to its end.
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

// writeState writes checkpoint number n, counted from 0.
func writeState(dir string, number uint64, framed []byte) error {
	name := stateFiles[number%2]
	if number < 2 {
		return writeFile(dir, name, framed) // what exists was once whole
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
