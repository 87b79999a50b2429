package recorder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// What grows with every call, whatever is called, is the times. It is not kept in memory, nor written anew by every
// checkpoint: a spill is a sequence of bytes whose beginning is in a file of the process's directory, which only grows,
// and whose end is in memory. A checkpoint names the parts of the file that count, so that what a process wrote to it
// before it was killed, but after its last checkpoint, does no harm.
type spill struct {
	spilled []extent
	pieces  [][]byte // what follows, in pieces so that growing never copies
}

// An extent is a part of the file.
type extent struct{ at, n int64 }

const (
	spillFile  = "times"
	pieceBytes = 16 << 10
)

// room is the last piece, with room for n more bytes.
func (s *spill) room(n int) *[]byte {
	k := len(s.pieces)
	if k == 0 || cap(s.pieces[k-1])-len(s.pieces[k-1]) < n {
		size := pieceBytes
		if k == 0 && len(s.spilled) == 0 {
			size = 1 << 10 // most threads of most tests are short
		}
		s.pieces = append(s.pieces, make([]byte, 0, max(size, n)))
		k++
	}
	return &s.pieces[k-1]
}

// write moves all pieces but the last, which still grows, to the file; at is its length, before and after.
func (s *spill) write(f io.WriterAt, at int64) (int64, error) {
	for len(s.pieces) > 1 {
		p := s.pieces[0]
		if err := fitsLimit(at + int64(len(p))); err != nil {
			return at, err
		}
		if _, err := f.WriteAt(p, at); err != nil {
			return at, err
		}
		n := int64(len(p))
		if k := len(s.spilled); k > 0 && s.spilled[k-1].at+s.spilled[k-1].n == at {
			s.spilled[k-1].n += n
		} else {
			s.spilled = append(s.spilled, extent{at, n})
		}
		at += n
		last := len(s.pieces) - 1
		copy(s.pieces, s.pieces[1:])
		s.pieces[last] = nil
		s.pieces = s.pieces[:last]
	}
	return at, nil
}

var errSpill = errors.New("the file of times is missing or too short")

// bytes is all of it; f is needed when some is in the file.
func (s *spill) bytes(f io.ReaderAt) ([]byte, error) {
	var n int64
	for _, e := range s.spilled {
		n += e.n
	}
	for _, p := range s.pieces {
		n += int64(len(p))
	}
	if len(s.spilled) > 0 && f == nil {
		return nil, errSpill
	}
	all := make([]byte, 0, n)
	for _, e := range s.spilled {
		part := all[len(all) : len(all)+int(e.n)]
		if _, err := f.ReadAt(part, e.at); err != nil {
			return nil, errSpill
		}
		all = all[:len(all)+int(e.n)]
	}
	for _, p := range s.pieces {
		all = append(all, p...)
	}
	return all, nil
}

func (s *spill) encode(e *encoder) {
	e.uint(uint64(len(s.spilled)))
	for _, x := range s.spilled {
		e.uint(uint64(x.at))
		e.uint(uint64(x.n))
	}
	n := 0
	for _, p := range s.pieces {
		n += len(p)
	}
	e.uint(uint64(n))
	for _, p := range s.pieces {
		e.b = append(e.b, p...)
	}
}

// decode reads what encode wrote; limit is the length of the file.
func (s *spill) decode(d *decoder, limit int64) {
	for range d.count() {
		x := extent{int64(d.uint()), int64(d.uint())}
		if x.at < 0 || x.n < 0 || x.n > limit || x.at > limit-x.n {
			d.fail()
			return
		}
		s.spilled = append(s.spilled, x)
	}
	if b := d.bytes(); len(b) > 0 {
		s.pieces = [][]byte{b}
	}
}

// spillTimes moves what has become long of the threads' times to the file of the process's directory. The file is opened
// each time: a program may close descriptors that are not its own, and get them again for files of its own.
func (s *Spool) spillTimes() (err error) {
	var f *os.File
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, t := range s.recorder.threads {
		for _, c := range []*column{&t.gaps, &t.durations} {
			if len(c.pieces) < 2 {
				continue
			}
			if f == nil {
				if f, err = os.OpenFile(filepath.Join(s.dir, spillFile), os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
					return err
				}
				if s.timesBytes == 0 {
					if err := f.Chmod(0o644); err != nil {
						return err
					}
				}
			}
			before := s.timesBytes
			s.timesBytes, err = c.write(f, before)
			s.diskBytes += s.timesBytes - before
			if err != nil {
				return err
			}
		}
	}
	return nil
}
