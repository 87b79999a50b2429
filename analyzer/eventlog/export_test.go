package eventlog

// HoldInMemory makes journals need a file beyond so many bytes, until undo is called.
func HoldInMemory(bytes int64) (undo func()) {
	before := MaxHeld
	MaxHeld = bytes
	return func() { MaxHeld = before }
}

// FileSize is how many bytes the temporary file has.
func (s *Spool) FileSize() int64 { return s.size }

// InMemory reports whether a chunk is not in the file.
func (s *Spool) InMemory(c Chunk) bool { return c.packed == 0 }

// Overwrite writes over the beginning of the temporary file.
func (s *Spool) Overwrite(b []byte) error {
	_, err := s.file.WriteAt(b, 0)
	return err
}
