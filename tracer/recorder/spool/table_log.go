package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// The tables of a recorder (tables.go) are in a file, tables-N: first everything, and then the
// changes of each checkpoint. A checkpoint has the number of the file, the length of its valid
// part, and the checksum of that. So bytes that a process wrote after its last checkpoint, before
// it was killed, do not count.
//
// When the changes are longer than the initial content, much of the file may be obsolete. Then
// everything is written again to a new file, and the old one is removed once a checkpoint refers
// to the new one. So a byte is written at most three times on average, and the file is about
// twice as long as the tables. A reader that finds the file of a checkpoint removed reads the
// newer checkpoint.
const (
	tablesFile    = "tables-"
	maxTablesFile = 6 * maxStateBytes // longest file that is read
	minTables     = 1 << 20           // least length of a file before everything is written again
	pieceHeader   = 4                 // the length of a piece before it
)

// A tableLog is the writer's state of the file.
type tableLog struct {
	at       recorder.TablesAt
	digest   xxhash.Digest // of the valid part
	base     int64         // bytes of the initial content
	minBytes int64         // minTables, smaller in tests
	pending  []byte        // not written yet
	anew     bool          // pending is everything and begins the next file
	obsolete int64         // bytes of the previous file, which is not removed yet; 0: none
	resumed  bool          // an earlier compressor wrote the file
}

// add makes the changes since the last add pending.
func (l *tableLog) add(r *recorder.Recorder) {
	everything := l.at.Bytes == 0 && len(l.pending) == 0
	if len(l.pending) == 0 && !everything && (l.resumed || l.at.Bytes > max(l.minBytes, 2*l.base)) {
		everything, l.anew = true, true
	}
	at := len(l.pending)
	l.pending = r.AppendTables(append(l.pending, make([]byte, pieceHeader)...), everything)
	binary.LittleEndian.PutUint32(l.pending[at:], uint32(len(l.pending)-at-pieceHeader))
}

// next returns the location of the tables after the next write.
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

func tablesName(number int) string { return tablesFile + strconv.Itoa(number) }

// write writes the pending bytes. After an error they are still pending.
func (l *tableLog) write(d *Directory) error {
	at, digest := l.next()
	begin := at.Bytes - int64(len(l.pending))
	if err := d.append(tablesName(at.Number), begin, l.pending); err != nil {
		return err
	}
	if l.anew {
		l.obsolete += l.at.Bytes
	}
	if begin == 0 {
		l.base = at.Bytes
	}
	l.at, l.digest, l.anew, l.resumed = at, digest, false, false
	if l.pending = l.pending[:0]; cap(l.pending) > maxStateKept {
		l.pending = nil
	}
	return nil
}

// removeObsolete removes the file that no checkpoint refers to any more and returns the
// number of bytes freed.
func (l *tableLog) removeObsolete(d *Directory) (freed int64) {
	if l.obsolete == 0 {
		return 0
	}
	if d.remove(tablesName(l.at.Number-1)) != nil {
		return 0
	}
	freed, l.obsolete = l.obsolete, 0
	return freed
}

// resume goes on at the tables of the last checkpoint, and removes what was written after that. The
// next checkpoint writes everything.
func (l *tableLog) resume(d *Directory, at recorder.TablesAt) error {
	numbers, err := d.numbered(tablesFile)
	for _, number := range numbers {
		if number != at.Number {
			err = errors.Join(err, d.root.Remove(tablesName(number)))
		}
	}
	l.at, l.resumed = at, true
	return err
}

// readTables reads the tables of a checkpoint, piece by piece.
func (d *Directory) readTables(at recorder.TablesAt, take func(piece []byte) error) error {
	name := tablesName(at.Number)
	f, err := plainfile.Open(d.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := plainfile.Size(f, maxTablesFile)
	if err != nil {
		return err
	}
	if size < at.Bytes { // do not allocate what only a damaged checkpoint claims
		return fmt.Errorf("%s: %w", name, recorder.ErrCheckpoint)
	}
	if err := takePieces(f, at, take); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func takePieces(f io.Reader, at recorder.TablesAt, take func(piece []byte) error) error {
	digest := xxhash.New()
	from := io.TeeReader(io.LimitReader(f, at.Bytes), digest)
	var piece []byte
	for left := at.Bytes; left > 0; {
		var header [pieceHeader]byte
		_, err := io.ReadFull(from, header[:])
		n := int64(binary.LittleEndian.Uint32(header[:]))
		if left -= pieceHeader + n; err != nil || left < 0 || n > maxStateFile {
			return errors.Join(recorder.ErrCheckpoint, err)
		}
		if int64(cap(piece)) < n {
			piece = make([]byte, n)
		}
		piece = piece[:n]
		if _, err := io.ReadFull(from, piece); err != nil {
			return errors.Join(recorder.ErrCheckpoint, err)
		}
		if err := take(piece); err != nil {
			return err
		}
	}
	if digest.Sum64() != at.Sum {
		return recorder.ErrCheckpoint
	}
	return nil
}
