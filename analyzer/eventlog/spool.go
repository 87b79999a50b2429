package eventlog

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
)

// A Spool holds chunks of bytes: in memory up to a limit, beyond in a temporary file, compressed. Many may put and read
// chunks at the same time. Loops repeat themselves in the chunks too, so that S2, which takes some nanoseconds a
// call, leaves a fifth to a half of them.
type Spool struct {
	mutex       sync.Mutex // of Put
	limit, held int64
	file        *os.File
	size        int64
	packed      []byte // room for a compressed chunk
	refused     bool   // there can be no file, or it is full: everything stays in memory
	failed      atomic.Pointer[error]
}

// A Chunk is where a Spool has some bytes.
type Chunk struct {
	bytes  []byte // nil: in the file
	at     int64
	n      uint32
	packed uint32 // how many bytes the file has of it
}

// NewSpool makes a spool that holds so many bytes in memory.
func NewSpool(limit int64) *Spool { return &Spool{limit: limit} }

// Put keeps a copy of some bytes.
func (s *Spool) Put(b []byte) Chunk {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held+int64(len(b)) > s.limit && s.write(b) {
		c := Chunk{at: s.size, n: uint32(len(b)), packed: uint32(len(s.packed))}
		s.size += int64(c.packed)
		return c
	}
	s.held += int64(len(b))
	return Chunk{bytes: append(make([]byte, 0, len(b)), b...), n: uint32(len(b))}
}

// write compresses a chunk and appends it to the file; false if that cannot be: a read-only system is no reason to find nothing.
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
	s.packed = s2.Encode(s.packed[:cap(s.packed)], b)
	_, err := s.file.WriteAt(s.packed, s.size)
	s.refused = err != nil
	return err == nil
}

// Get reads a chunk, into buffer if it is not in memory. It is not to be changed.
func (s *Spool) Get(c Chunk, buffer []byte) ([]byte, error) {
	if c.bytes != nil || c.n == 0 {
		return c.bytes, nil
	}
	if all := int(c.n) + int(c.packed); cap(buffer) < all {
		buffer = make([]byte, all)
	}
	buffer = buffer[:int(c.n)+int(c.packed)]
	plain, packed := buffer[:c.n], buffer[c.n:]
	_, err := s.file.ReadAt(packed, c.at)
	if err == nil {
		plain, err = s2.Decode(plain, packed)
	}
	if err == nil && len(plain) != int(c.n) {
		err = s2.ErrCorrupt
	}
	if err != nil {
		err = fmt.Errorf("reading back what was written to a temporary file: %w", err)
		s.failed.CompareAndSwap(nil, &err)
		return nil, err
	}
	return plain, nil
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
