package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// pieces is a file in memory that grows without being copied. So a merge of a large job has what it
// reads, and then what it writes, in memory once, not twice.
type pieces struct {
	list   [][]byte // all but the last have pieceBytes bytes
	size   int64
	digest hash.Hash
}

const (
	firstPieceBytes = 16 << 10
	pieceBytes      = 1 << 20
)

// Write appends; it never fails.
func (p *pieces) Write(b []byte) (int, error) {
	if p.digest == nil {
		p.digest = sha256.New()
	}
	_, _ = p.digest.Write(b)
	for rest := b; len(rest) > 0; {
		last := len(p.list) - 1
		if last < 0 || len(p.list[last]) == pieceBytes {
			p.list = append(p.list, make([]byte, 0, p.room(len(rest))))
			last++
		}
		n := min(len(rest), pieceBytes-len(p.list[last]))
		p.list[last] = append(p.list[last], rest[:n]...)
		rest = rest[n:]
	}
	p.size += int64(len(b))
	return len(b), nil
}

// room is the capacity of a new piece; it is small for small files.
func (p *pieces) room(n int) int {
	if len(p.list) > 0 {
		return pieceBytes
	}
	return min(max(n, firstPieceBytes), pieceBytes)
}

// ReadAt reads what was written.
func (p *pieces) ReadAt(b []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, errors.New("a negative offset")
	}
	n := 0
	for n < len(b) && offset < p.size {
		k := copy(b[n:], p.list[offset/pieceBytes][offset%pieceBytes:])
		n += k
		offset += int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// reader returns a reader of everything from the beginning.
func (p *pieces) reader() io.Reader { return io.NewSectionReader(p, 0, p.size) }

// sha256 is the digest of what was written, in hexadecimal.
func (p *pieces) sha256() string {
	if p.digest == nil {
		return digestOf(nil)
	}
	return hex.EncodeToString(p.digest.Sum(nil))
}
