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

// A shard is written for its length and its digest, which its name has. A short one is held then, and put. One that is longer
// is written once more for the store: that of a pod whose ranks have just written much may have tens of MiB.

// maxHeld is the length of a shard that is held.
const maxHeld = 2 << 20

// A digest is what write writes: its digest, its length, and itself if it is short, else nil.
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

// A holder counts bytes, and holds them as long as there are few.
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

// errPutEnded ends the writing of what nobody reads any more.
var errPutEnded = errors.New("the upload has ended")

// putStream puts so many bytes that write writes.
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
