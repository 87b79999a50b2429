package eventlog

// LimitMemory makes event logs use a file beyond the given number of bytes, until undo is called.
func LimitMemory(bytes int64) (undo func()) {
	before := MaxInMemory
	MaxInMemory = bytes
	return func() { MaxInMemory = before }
}

// FileSize returns the size of the temporary file in bytes.
func (s *Spool) FileSize() int64 { return s.size }

// InMemory reports whether a chunk is not in the file.
func (s *Spool) InMemory(c Chunk) bool { return c.packed == 0 }

// Overwrite overwrites the beginning of the temporary file.
func (s *Spool) Overwrite(b []byte) error {
	_, err := s.file.WriteAt(b, 0)
	return err
}
