package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A part that is in the store is removed from the spool. stored-N replaces part-N: it has the
// location of the part and its index. Many of them are joined (joined_parts.go).
const (
	storedFile    = "stored-"
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
func (d *Directory) parts() (parts []Part, err error) {
	known := map[int]bool{}
	for _, kind := range []struct {
		prefix string
		open   func(number int) (Part, error)
	}{{storedFile, d.openStored}, {partFile, d.openPart}} {
		numbers, err := d.numbered(kind.prefix)
		if err != nil {
			return nil, err
		}
		for _, number := range numbers {
			if known[number] {
				continue
			}
			p, err := kind.open(number)
			if err != nil {
				return nil, fmt.Errorf("%s%d: %w", kind.prefix, number, err)
			}
			known[number] = true
			parts = append(parts, p)
		}
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
	p, err := d.openRemote(s)
	return Part{Part: p, Number: number, Pieces: s.Pieces}, err
}

func (d *Directory) openRemote(s storedPart) (*trace.Part, error) {
	return trace.OpenPart(&remotePart{directory: d, part: s}, s.Bytes)
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
func (d *Directory) writeStored(o original) (size int64, err error) {
	b, err := json.Marshal(o.Part)
	if err != nil {
		return 0, err
	}
	return int64(len(b)), d.replace(o.file(storedFile), bytes.NewReader(b))
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
	kept, err := d.writeStored(original{p.Number, storedPart{Pieces: []Piece{{Object: object, At: at, Bytes: p.Size()}}, Bytes: p.Size(), Index: index, Sums: sums}})
	if err != nil {
		return 0, err
	}
	if err := d.dropStored(); err != nil {
		return 0, err
	}
	more, err := d.joinStored()
	return p.Size() - kept - more, err
}

// Lost records that the store has lost an object with a part, or with parts that were joined to it.
// The sums of their times, which were kept here, replace them, and a joined part is split. It
// returns the number of bytes that the spool has grown by.
func (d *Directory) Lost(p Part, object string) (taken int64, err error) {
	s, err := d.readStored(p.Number)
	if err != nil {
		return 0, err
	}
	originals, err := d.originals(original{p.Number, s})
	if err != nil {
		return 0, err
	}
	// The part itself, which has the number of the last one, is replaced last: until then it is the
	// valid one. If we are killed meanwhile, the caller will find again that it is lost.
	slices.SortFunc(originals, func(a, b original) int { return a.Number - b.Number })
	for _, o := range originals {
		size := int64(len(o.Part.Sums))
		switch {
		case o.Part.Pieces[0].Object != object:
			size, err = d.writeStored(o)
		case size == 0:
			err = recorder.ErrBlocks
		default:
			err = d.replace(o.file(partFile), bytes.NewReader(o.Part.Sums))
			if err == nil && o.Number == p.Number {
				err = d.root.Remove(o.file(storedFile))
			}
		}
		if err != nil {
			return taken, err
		}
		taken += size
	}
	return taken, d.remove(piecesFile + strconv.Itoa(p.Number))
}

// dropStored removes parts that are already stored: Stored may have been killed before
// it removed them.
func (d *Directory) dropStored() error {
	stored, err := d.numbered(storedFile)
	for _, number := range stored {
		err = errors.Join(err, d.remove(partFile+strconv.Itoa(number)))
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
	d, err := OpenDirectory(f.directory.spool, f.directory.name)
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
