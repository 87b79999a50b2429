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

// A shard is written twice and never held: once for its length and its digest, which its name has, and once for the store.
// That of a pod of 64 slots has tens of MiB.

// digest is that of what write writes, and its length.
func digest(write func(io.Writer) error) (sum string, bytes int64, err error) {
	hash := sha256.New()
	counted := &counter{w: hash}
	if err := write(counted); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), counted.bytes, nil
}

type counter struct {
	w     io.Writer
	bytes int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += int64(len(b))
	return c.w.Write(b)
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
