package storage

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/store"
)

// PutBytes writes an object.
func PutBytes(ctx context.Context, s store.Store, key string, raw []byte) error {
	return s.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

// GetBytes reads an object.
func GetBytes(ctx context.Context, s store.Store, key string) ([]byte, error) {
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// PutObject writes bytes to a path, which may be local or s3://.
func PutObject(c *cobra.Command, s3 Flags, path string, b []byte) error {
	dir, key := store.Split(path)
	if key == "" {
		return cli.UsageError(fmt.Errorf("%s is not the name of a file", path))
	}
	s, err := s3.Open(dir)
	if err != nil {
		return err
	}
	return s.Put(c.Context(), key, bytes.NewReader(b), int64(len(b)))
}
