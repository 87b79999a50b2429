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
	spare   [][]byte // pieces that were written, to be filled again: else they are all that the collector has to do
}

// An extent is a part of the file.
type extent struct{ at, n int64 }

const (
	spillFile  = "times"
	pieceBytes = 16 << 10
	mostSpare  = 16 // pieces: about what comes between two checkpoints
)

// room is the last piece, with room for n more bytes.
func (s *spill) room(n int) *[]byte {
	k := len(s.pieces)
	if k == 0 || cap(s.pieces[k-1])-len(s.pieces[k-1]) < n {
		size := pieceBytes
		if last := len(s.spare) - 1; last >= 0 && k > 0 && n <= pieceBytes {
			s.pieces, s.spare = append(s.pieces, s.spare[last]), s.spare[:last]
			return &s.pieces[k]
		}
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
		s.spilled = appendExtent(s.spilled, extent{at, n})
		at += n
		if len(s.spare) < mostSpare && cap(p) == pieceBytes {
			s.spare = append(s.spare, p[:0])
		}
		last := len(s.pieces) - 1
		copy(s.pieces, s.pieces[1:])
		s.pieces[last] = nil
		s.pieces = s.pieces[:last]
	}
	return at, nil
}

// appendExtent adds a part that follows; where it follows in the file too, they become one.
func appendExtent(extents []extent, x extent) []extent {
	if k := len(extents) - 1; k >= 0 && extents[k].at+extents[k].n == x.at {
		extents[k].n += x.n
		return extents
	}
	return append(extents, x)
}

var errSpill = errors.New("the file of times is missing or too short")

// bytes is all of it; f is needed when some is in the file.
func (s *spill) bytes(f io.ReaderAt) ([]byte, error) {
	all, err := readExtents(s.spilled, f)
	for _, p := range s.pieces {
		all = append(all, p...)
	}
	return all, err
}

// readExtents reads parts of the file.
func readExtents(extents []extent, f io.ReaderAt) ([]byte, error) {
	if len(extents) == 0 {
		return nil, nil
	}
	if f == nil {
		return nil, errSpill
	}
	var n int64
	for _, e := range extents {
		n += e.n
	}
	all := make([]byte, n)
	part := all
	for _, e := range extents {
		if _, err := f.ReadAt(part[:e.n], e.at); err != nil {
			return nil, errSpill
		}
		part = part[e.n:]
	}
	return all, nil
}

func (s *spill) encode(e *encoder) {
	encodeExtents(e, s.spilled)
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
	s.spilled = decodeExtents(d, limit)
	if b := d.bytes(); len(b) > 0 {
		s.pieces = [][]byte{b}
	}
}

func encodeExtents(e *encoder, extents []extent) {
	e.uint(uint64(len(extents)))
	for _, x := range extents {
		e.uint(uint64(x.at))
		e.uint(uint64(x.n))
	}
}

func decodeExtents(d *decoder, limit int64) (extents []extent) {
	var n int64
	for range d.count() {
		x := extent{int64(d.uint()), int64(d.uint())}
		if x.at < 0 || x.n < 0 || x.n > limit || x.at > limit-x.n || n > limit-x.n {
			d.fail()
			return nil
		}
		n += x.n // no part counts twice, so that memory is bounded by the file
		extents = append(extents, x)
	}
	return extents
}

// spillTimes moves what has become long of the threads' times and value streams to the file of the process's directory. The file is opened
// each time: a program may close descriptors that are not its own, and get them again for files of its own.
func (s *Spool) spillTimes() (err error) {
	var f *os.File
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	write := func(write func(f io.WriterAt, at int64) (int64, error)) error {
		if f == nil {
			if f, err = os.OpenFile(filepath.Join(s.dir, spillFile), os.O_WRONLY|os.O_CREATE|notFollowed, 0o644); err != nil {
				return err
			}
			if s.timesBytes == 0 {
				if err := f.Chmod(0o644); err != nil {
					return err
				}
			}
		}
		before := s.timesBytes
		s.timesBytes, err = write(f, before)
		s.diskBytes += s.timesBytes - before
		s.budget.Add(s.timesBytes - before)
		return err
	}
	for _, t := range s.recorder.threads {
		for _, c := range []*column{&t.gaps, &t.durations} {
			if len(c.pieces) < 2 {
				continue
			}
			if err := write(c.write); err != nil {
				return err
			}
		}
		for i := range t.results {
			for k := range t.results[i].streams {
				if stream := &t.results[i].streams[k]; len(stream.runs) >= spillRuns {
					if err := write(stream.write); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
