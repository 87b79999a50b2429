package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A part that is in the store is removed from the spool. stored-N replaces part-N: it has the
// location of the part and its index. Many of them are joined (joined_parts.go).
const (
	storedFile    = "stored-"
	storedNew     = "stored.new" // being written
	maxStoredFile = 4 << 20
)

// A Part is a part of a process's times.
type Part struct {
	*trace.Part
	Number int
	// Pieces are the pieces of the part in objects of the store; nil: it is in the spool.
	Pieces []Piece
}

// Local reports whether the part is in the spool only.
func (p *Part) Local() bool { return len(p.Pieces) == 0 }

// A Piece is a range of the bytes of a part, which is in an object of the store from byte At on.
type Piece struct {
	Object string `json:"object"`
	At     int64  `json:"at"`
	From   int64  `json:"from,omitempty"`
	Bytes  int64  `json:"bytes"`
}

// A Remote reads objects of the store.
type Remote func(object string) io.ReaderAt

// A storedPart is the content of stored-N.
type storedPart struct {
	Pieces []Piece `json:"pieces"`
	Bytes  int64   `json:"bytes"` // length of the part, including its index
	Index  []byte  `json:"index"` // the end of the file, from its index on
	// a part with sums of its times, in case the store loses it; none if it has values or chapters
	Sums []byte `json:"sums,omitempty"`
}

// parts opens the parts of the process, in order. A part that is both in the store and in the spool
// counts as stored.
func (d *Directory) parts() ([]Part, error) {
	stored, err := d.numbered(storedFile)
	if err != nil {
		return nil, err
	}
	here, err := d.numbered(partFile)
	if err != nil {
		return nil, err
	}
	var parts []Part
	known := map[int]bool{}
	for _, number := range stored {
		p, err := d.openStored(number)
		if err != nil {
			return nil, fmt.Errorf("%s%d: %w", storedFile, number, err)
		}
		known[number] = true
		parts = append(parts, p)
	}
	for _, number := range here {
		if known[number] {
			continue
		}
		p, err := d.openPart(number)
		if err != nil {
			return nil, fmt.Errorf("%s%d: %w", partFile, number, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (d *Directory) openPart(number int) (Part, error) {
	name := partFile + strconv.Itoa(number)
	info, err := d.root.Lstat(name)
	if err != nil {
		return Part{}, err
	}
	if info.Size() > maxPartFile {
		return Part{}, fmt.Errorf("%w: %d bytes", plainfile.ErrOdd, info.Size())
	}
	p, err := trace.OpenPart(&fileOf{d, name}, info.Size())
	return Part{Part: p, Number: number}, err
}

func (d *Directory) openStored(number int) (Part, error) {
	s, err := d.readStored(number)
	if err != nil {
		return Part{}, err
	}
	p, err := trace.OpenPart(&remotePart{directory: d, part: s}, s.Bytes)
	return Part{Part: p, Number: number, Pieces: s.Pieces}, err
}

func (d *Directory) readStored(number int) (s storedPart, err error) {
	b, err := d.read(storedFile+strconv.Itoa(number), maxStoredFile)
	if err != nil {
		return s, err
	}
	if json.Unmarshal(b, &s) != nil || !s.valid() {
		return s, recorder.ErrBlocks // without quoting the file
	}
	return s, nil
}

func (s *storedPart) valid() bool {
	if len(s.Pieces) == 0 || s.Bytes < int64(len(s.Index)) || s.Bytes > int64(len(s.Pieces))*2*maxPartFile {
		return false
	}
	at := int64(0)
	for _, p := range s.Pieces {
		if p.At < 0 || p.From < at || p.Bytes < 0 || p.Bytes > s.Bytes-p.From {
			return false
		}
		at = p.From + p.Bytes
	}
	return true
}

// writeStored writes stored-N atomically and returns its length.
func (d *Directory) writeStored(number int, s storedPart) (size int64, err error) {
	b, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	return int64(len(b)), d.replace(storedNew, storedFile+strconv.Itoa(number), b)
}

// replace writes a file under the name fresh and renames it to name.
func (d *Directory) replace(fresh, name string, content []byte) error {
	f, err := plainfile.Create(d.root, fresh)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.root.Rename(fresh, name)
}

// Stored records that a part is in an object of the store, from byte at on, and removes it from the
// spool. It returns the number of bytes freed.
func (d *Directory) Stored(p Part, object string, at int64) (freed int64, err error) {
	index, err := p.Index()
	if err != nil {
		return 0, err
	}
	sums, err := d.sums(p)
	if err != nil {
		sums = nil // the store still has the times
	}
	kept, err := d.writeStored(p.Number, storedPart{Pieces: []Piece{{Object: object, At: at, Bytes: p.Size()}}, Bytes: p.Size(), Index: index, Sums: sums})
	if err != nil {
		return 0, err
	}
	if err := d.dropStored(); err != nil {
		return 0, err
	}
	more, err := d.joinStored()
	return p.Size() - kept - more, err
}

// Lost records that the store has lost an object with a part or with pieces of it. The sums of
// their times, which were kept here, replace them. It returns the number of bytes that the
// spool has grown by.
func (d *Directory) Lost(p Part, object string) (taken int64, err error) {
	s, err := d.readStored(p.Number)
	if err != nil {
		return 0, err
	}
	if len(s.Pieces) > 1 {
		return d.replaceLost(p.Number, object)
	}
	if len(s.Sums) == 0 {
		return 0, recorder.ErrBlocks
	}
	// if we are killed between these two, the part counts as stored, and the caller will find
	// again that it is lost
	if err := d.replace(partNew, partFile+strconv.Itoa(p.Number), s.Sums); err != nil {
		return 0, err
	}
	return int64(len(s.Sums)), d.root.Remove(storedFile + strconv.Itoa(p.Number))
}

// dropStored removes parts that are already stored: Stored may have been killed before
// it removed them.
func (d *Directory) dropStored() error {
	stored, err := d.numbered(storedFile)
	for _, number := range stored {
		if failed := d.root.Remove(partFile + strconv.Itoa(number)); failed != nil && !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// OpenPart opens the file of a part that is in the spool.
func (d *Directory) OpenPart(p Part) (*os.File, error) {
	return plainfile.Open(d.root, partFile+strconv.Itoa(p.Number))
}

// A fileOf is a file of a directory that is opened for each read: there may be many, and they are
// read long after the directory was closed.
type fileOf struct {
	directory *Directory
	name      string
}

func (f *fileOf) ReadAt(b []byte, at int64) (int, error) {
	d, err := f.directory.again()
	if err != nil {
		return 0, err
	}
	defer d.Close()
	file, err := plainfile.Open(d.root, f.name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(b, at)
}

// A remotePart is the file of a part in the store. Its head and its index are in memory.
type remotePart struct {
	directory *Directory
	part      storedPart
}

func (r *remotePart) ReadAt(b []byte, at int64) (int, error) {
	s := &r.part
	switch index := s.Bytes - int64(len(s.Index)); {
	case at >= index && at <= s.Bytes:
		n := copy(b, s.Index[at-index:])
		if n < len(b) {
			return n, io.EOF
		}
		return n, nil
	case at == 0 && len(b) <= len(trace.PartHead):
		return copy(b, trace.PartHead), nil
	}
	for _, p := range s.Pieces {
		if at < p.From || at+int64(len(b)) > p.From+p.Bytes {
			continue
		}
		if r.directory.Remote == nil {
			return 0, fmt.Errorf("%w: they are in the storage, in %s", recorder.ErrBlocks, p.Object)
		}
		return r.directory.Remote(p.Object).ReadAt(b, p.At+at-p.From)
	}
	return 0, recorder.ErrBlocks
}
