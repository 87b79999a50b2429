package eventlog

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
)

// A Spool stores chunks of bytes: in memory up to a limit, beyond it compressed in a temporary
// file. Its methods may be called concurrently. Because loops repeat themselves in the chunks, too,
// S2 compresses them to between a fifth and a half at some nanoseconds per call.
type Spool struct {
	mutex           sync.Mutex // for Put
	limit, inMemory int64
	file            *os.File
	size            int64
	packed          []byte // scratch for a compressed chunk
	refused         bool   // the file cannot be created or is full: everything stays in memory
	failed          atomic.Pointer[error]
}

// A Chunk is the location of bytes in a Spool.
type Chunk struct {
	bytes  []byte // nil: in the file
	at     int64
	n      uint32
	packed uint32 // size in the file
}

// NewSpool returns a spool that keeps up to limit bytes in memory.
func NewSpool(limit int64) *Spool { return &Spool{limit: limit} }

// Put stores a copy of b.
func (s *Spool) Put(b []byte) Chunk {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.inMemory+int64(len(b)) > s.limit && s.write(b) {
		c := Chunk{at: s.size, n: uint32(len(b)), packed: uint32(len(s.packed))}
		s.size += int64(c.packed)
		return c
	}
	s.inMemory += int64(len(b))
	return Chunk{bytes: append(make([]byte, 0, len(b)), b...), n: uint32(len(b))}
}

// write compresses a chunk and appends it to the file. It reports false if that fails: a read-only
// file system must not prevent the analysis.
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
		os.Remove(file.Name()) // the file is freed with the process, however that ends
		s.file = file
	}
	s.packed = s2.Encode(s.packed[:cap(s.packed)], b)
	_, err := s.file.WriteAt(s.packed, s.size)
	s.refused = err != nil
	return err == nil
}

// Get returns a chunk, read into buffer if it is not in memory. The caller must not modify it.
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

// Err returns the first read error, for callers that cannot handle errors where they read.
func (s *Spool) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close releases the file.
func (s *Spool) Close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
