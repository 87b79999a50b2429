package journal

import (
	"fmt"
	"os"
	"sync/atomic"
)

// A Spool holds chunks of bytes: in memory up to a limit, beyond in a temporary file. Chunks are put one at a time; they
// may be read by many.
type Spool struct {
	limit, held int64
	file        *os.File
	size        int64
	refused     bool // there can be no file, or it is full: everything stays in memory
	failed      atomic.Pointer[error]
}

// A Chunk is where a Spool has some bytes.
type Chunk struct {
	bytes []byte // nil: in the file
	at    int64
	n     int
}

// NewSpool makes a spool that holds so many bytes in memory.
func NewSpool(limit int64) *Spool { return &Spool{limit: limit} }

// Put keeps a copy of some bytes.
func (s *Spool) Put(b []byte) Chunk {
	if s.held+int64(len(b)) > s.limit && s.write(b) {
		c := Chunk{at: s.size, n: len(b)}
		s.size += int64(len(b))
		return c
	}
	s.held += int64(len(b))
	return Chunk{bytes: append(make([]byte, 0, len(b)), b...), n: len(b)}
}

// write appends to the file; false if that cannot be: a read-only system is no reason to find nothing.
func (s *Spool) write(b []byte) bool {
	if s.refused {
		return false
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "cairn-analyze-*")
		if err != nil {
			s.refused = true
			return false
		}
		os.Remove(file.Name()) // it goes with the process, however that ends
		s.file = file
	}
	_, err := s.file.WriteAt(b, s.size)
	s.refused = err != nil
	return err == nil
}

// Get reads a chunk, into buffer if it is not in memory. It is not to be changed.
func (s *Spool) Get(c Chunk, buffer []byte) ([]byte, error) {
	if c.bytes != nil || c.n == 0 {
		return c.bytes, nil
	}
	if cap(buffer) < c.n {
		buffer = make([]byte, c.n)
	}
	buffer = buffer[:c.n]
	if _, err := s.file.ReadAt(buffer, c.at); err != nil {
		err = fmt.Errorf("reading back what was put aside in a temporary file: %w", err)
		s.failed.CompareAndSwap(nil, &err)
		return nil, err
	}
	return buffer, nil
}

// Err is the first error in reading, for those who read where they cannot fail.
func (s *Spool) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close gives the file back.
func (s *Spool) Close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
