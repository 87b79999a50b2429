package eventlog

// A stream is a sequence of entries in chunks. An entry is never split.
type stream struct {
	chunks []Chunk
	tail   []byte
}

// ended marks the end of an entry.
func (s *stream) ended(spool *Spool, size int) {
	if len(s.tail) >= size {
		s.flush(spool)
	}
}

func (s *stream) flush(spool *Spool) {
	if len(s.tail) > 0 {
		s.chunks = append(s.chunks, spool.Put(s.tail))
		s.tail = s.tail[:0]
	}
}

// A streamReader reads a stream from its beginning.
type streamReader struct {
	spool  *Spool
	chunks []Chunk // remaining chunks
	b      []byte  // the present chunk
	at     int     // offset of the next entry in b
	buffer []byte
	err    error
}

// more reports whether there is another entry.
func (r *streamReader) more() bool {
	if r.at < len(r.b) {
		return true
	}
	if len(r.chunks) == 0 || r.err != nil {
		return false
	}
	r.b, r.err = r.spool.Get(r.chunks[0], r.buffer)
	r.at = 0
	if r.chunks[0].bytes == nil {
		r.buffer = r.b
	}
	r.chunks = r.chunks[1:]
	return r.err == nil
}

func (r *streamReader) byte() byte {
	b := r.b[r.at]
	r.at++
	return b
}

func (r *streamReader) unsigned() uint64 {
	v, next := unsigned(r.b, r.at)
	r.at = next
	return v
}

func (r *streamReader) signed() int64 {
	v, next := signed(r.b, r.at)
	r.at = next
	return v
}
