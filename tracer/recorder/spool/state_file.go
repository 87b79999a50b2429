package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
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

// A savedState is the content of a file.
type savedState struct {
	number  uint64
	logs    [3]logEnd
	memory  int // Limits.Memory
	content []byte
}

// frameState adds the frame to the state of the next checkpoint, which begins at stateFrame of b.
func (w *Writer) frameState(b []byte) []byte {
	word := func(i int, value uint64) { binary.LittleEndian.PutUint64(b[8*i:], value) }
	word(0, w.checkpoints)
	word(1, uint64(len(b)-stateFrame))
	for i := range w.logs {
		word(2+2*i, uint64(w.logs[i].number))
		word(3+2*i, uint64(w.logs[i].bytes))
	}
	word(8, uint64(w.recorder.Limits.Memory))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// unframeState returns the state in a file; ok is false for an incomplete file.
func unframeState(b []byte) (s savedState, ok bool) {
	if len(b) < stateFrame+stateSum {
		return s, false
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	n := word(1)
	if n > uint64(len(b)-stateFrame-stateSum) {
		return s, false
	}
	end := stateFrame + int(n)
	if binary.LittleEndian.Uint64(b[end:]) != xxhash.Sum64(b[:end]) {
		return s, false
	}
	s = savedState{number: word(0), memory: int(word(8)), content: b[stateFrame:end]}
	for i := range s.logs {
		s.logs[i] = logEnd{number: int(word(2 + 2*i)), bytes: int64(word(3 + 2*i))}
	}
	return s, true
}

// writeState writes the checkpoint with this number; the first one is 0.
func (d *Directory) writeState(number uint64, framed []byte) error {
	name := stateFiles[number%2]
	if number < 2 {
		return d.replace(name+".new", name, framed)
	}
	return d.overwrite(name, framed)
}

// readFrame reads the frame in a file; nil if it is incomplete, however long the file is.
func (d *Directory) readFrame(name string) ([]byte, error) {
	f, err := plainfile.Open(d.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxStateFile {
		err = fmt.Errorf("%s is %w: %d bytes, more than %d", name, plainfile.ErrOdd, info.Size(), maxStateFile)
	}
	if err != nil {
		return nil, err
	}
	var head [2]uint64
	if _, err := f.ReadAt(record.BytesOf(head[:]), 0); err != nil || head[1] > maxStateFile {
		return nil, nil
	}
	size := stateFrame + int64(head[1])
	digest := xxhash.New()
	if n, err := io.Copy(digest, io.NewSectionReader(f, 0, size)); err != nil || n < size {
		return nil, err
	}
	var sum [1]uint64
	if _, err := f.ReadAt(record.BytesOf(sum[:]), size); err != nil || sum[0] != digest.Sum64() {
		return nil, nil
	}
	b := make([]byte, size+stateSum)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil // it became shorter
	}
	return b[:n], err
}

// readState reads the newest state of a process, and whether there is one.
func (d *Directory) readState() (state savedState, ok bool, err error) {
	damaged := ""
	for _, name := range stateFiles {
		b, err := d.readFrame(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return state, false, err
		}
		s, whole := unframeState(b)
		switch {
		case !whole:
			damaged = name
		case !ok || s.number > state.number:
			state, ok = s, true
		}
	}
	if !ok && damaged != "" {
		return state, false, fmt.Errorf("%s: %w", damaged, recorder.ErrCheckpoint)
	}
	return state, ok, nil
}
