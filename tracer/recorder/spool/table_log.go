package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// The tables of a recorder (tables.go) are in a file, tables-N: everything at some time, and then what each checkpoint found
// changed. A checkpoint says which file, how much of it counts, and the checksum of that, so what a process wrote before it
// was killed, but after its last checkpoint, does not count.
//
// Where changes are more than everything was, what they replaced may be most of the file: everything is written again, to a
// file of its own, and the one before is removed when a checkpoint counts on the new one. So a byte is written three times at
// the most, on average, and the file is about twice as long as what the tables held. A reader who finds the file of a checkpoint
// removed reads the newer checkpoint.
const (
	tablesFile    = "tables-"
	maxTablesFile = 6 * maxStateBytes // is read
	minTables     = 1 << 20           // of a file before everything is written again
	pieceHeader   = 4                 // the length of a piece before it
)

// A tableLog is the file as the process itself knows it.
type tableLog struct {
	at       recorder.TablesAt
	digest   xxhash.Digest // of what counts
	base     int64         // bytes of everything, at the beginning of the file
	minBytes int64         // leastTables but in tests
	pending  []byte        // what is not in the file yet
	anew     bool          // that is everything, and begins the next file
	obsolete int64         // bytes of the file before, which is not removed yet; 0: there is none
}

// add makes what has changed since the last time wait for write.
func (l *tableLog) add(r *recorder.Recorder) {
	everything := l.at.Bytes == 0 && len(l.pending) == 0
	if len(l.pending) == 0 && l.at.Bytes > max(l.minBytes, 2*l.base) {
		everything, l.anew = true, true
	}
	at := len(l.pending)
	l.pending = r.AppendTables(append(l.pending, make([]byte, pieceHeader)...), everything)
	binary.LittleEndian.PutUint32(l.pending[at:], uint32(len(l.pending)-at-pieceHeader))
}

// next is where the tables will be when what waits is written.
func (l *tableLog) next() (at recorder.TablesAt, digest xxhash.Digest) {
	at, digest = l.at, l.digest
	if at.Bytes == 0 || l.anew {
		digest.Reset()
	}
	if l.anew {
		at.Number, at.Bytes = at.Number+1, 0
	}
	_, _ = digest.Write(l.pending)
	at.Bytes, at.Sum = at.Bytes+int64(len(l.pending)), digest.Sum64()
	return at, digest
}

func tablesPath(dir string, number int) string {
	return filepath.Join(dir, tablesFile+strconv.Itoa(number))
}

// write writes what waits. After an error it waits still.
func (l *tableLog) write(dir string) error {
	at, digest := l.next()
	begin := at.Bytes - int64(len(l.pending))
	if err := fitsLimit(at.Bytes); err != nil {
		return err
	}
	flags := os.O_WRONLY | notFollowed
	if begin == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(tablesPath(dir, at.Number), flags, 0o644)
	if err != nil {
		return err
	}
	if begin == 0 {
		err = f.Chmod(0o644)
	}
	if err == nil {
		_, err = f.WriteAt(l.pending, begin)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if l.anew {
		l.obsolete += l.at.Bytes
	}
	if begin == 0 {
		l.base = at.Bytes
	}
	l.at, l.digest, l.anew = at, digest, false
	if l.pending = l.pending[:0]; cap(l.pending) > maxStateKept {
		l.pending = nil
	}
	return nil
}

// removeObsolete removes the file that no checkpoint counts on any more, and returns how many bytes that gives back.
func (l *tableLog) removeObsolete(dir string) (freed int64) {
	if l.obsolete == 0 {
		return 0
	}
	if err := os.Remove(tablesPath(dir, l.at.Number-1)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0
	}
	freed, l.obsolete = l.obsolete, 0
	return freed
}

// readTables reads the tables of a checkpoint, piece by piece.
func (d *Directory) readTables(at recorder.TablesAt, take func(piece []byte) error) error {
	name := tablesFile + strconv.Itoa(at.Number)
	f, err := plainfile.Open(d.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() > maxTablesFile:
		return fmt.Errorf("%s is %w: %d bytes, more than %d", name, plainfile.ErrOdd, info.Size(), maxTablesFile)
	case info.Size() < at.Bytes: // what is claimed is not allocated
		return fmt.Errorf("%s: %w", name, recorder.ErrCheckpoint)
	}
	digest := xxhash.New()
	from := io.TeeReader(io.LimitReader(f, at.Bytes), digest)
	var piece []byte
	for left := at.Bytes; left > 0; {
		var header [pieceHeader]byte
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return fmt.Errorf("%s: %w", name, errors.Join(recorder.ErrCheckpoint, err))
		}
		n := int64(binary.LittleEndian.Uint32(header[:]))
		if left -= pieceHeader + n; left < 0 {
			return fmt.Errorf("%s: %w", name, recorder.ErrCheckpoint)
		}
		if int64(cap(piece)) < n {
			piece = make([]byte, n)
		}
		piece = piece[:n]
		if _, err := io.ReadFull(from, piece); err != nil {
			return fmt.Errorf("%s: %w", name, errors.Join(recorder.ErrCheckpoint, err))
		}
		if err := take(piece); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if digest.Sum64() != at.Sum {
		return fmt.Errorf("%s: %w", name, recorder.ErrCheckpoint)
	}
	return nil
}
