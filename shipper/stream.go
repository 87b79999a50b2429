package shipper

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// The length and the digest of a shard, which are in its name, must be known before it is uploaded.
// A short shard is kept in memory. A longer one is written a second time for the upload: that of a
// pod whose ranks have just written much may have tens of MiB.

// maxHeld is the maximum length of a shard that is kept in memory.
const maxHeld = 2 << 20

// digest returns the digest and the length of what write writes, and the content if it is short,
// else nil.
type digest struct {
	sum   string
	bytes int64
	held  []byte
}

func digestOf(write func(io.Writer) error) (digest, error) {
	hash := sha256.New()
	held := &holder{held: []byte{}}
	if err := write(io.MultiWriter(hash, held)); err != nil {
		return digest{}, err
	}
	return digest{hex.EncodeToString(hash.Sum(nil)), held.bytes, held.held}, nil
}

// A holder counts bytes, and keeps them while there are few.
type holder struct {
	bytes int64
	held  []byte // nil: there were too many
}

func (h *holder) Write(b []byte) (int, error) {
	h.bytes += int64(len(b))
	switch {
	case h.bytes > maxHeld:
		h.held = nil
	case h.held != nil:
		h.held = append(h.held, b...)
	}
	return len(b), nil
}

// errPutEnded stops the writer when nothing reads its output any more.
var errPutEnded = errors.New("the upload has ended")

// putStream uploads what write writes, which has the given length.
func (s *ship) putStream(ctx context.Context, key string, bytes int64, write func(io.Writer) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if failed := recover(); failed != nil {
				err = fmt.Errorf("%w: the sidecar failed on it: %v", errUnusable, failed)
			}
			w.CloseWithError(err)
			written <- err
		}()
		out := bufio.NewWriterSize(w, 64<<10)
		if err = write(out); err == nil {
			err = out.Flush()
		}
	}()
	err := s.Store.Put(ctx, key, r, bytes)
	r.CloseWithError(errPutEnded)
	if failed := <-written; failed != nil && !errors.Is(failed, errPutEnded) {
		return failed
	}
	return err
}
