package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/store"
)

func putBytes(ctx context.Context, s store.Store, key string, raw []byte) error {
	return s.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

func getBytes(ctx context.Context, s store.Store, key string) ([]byte, error) {
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// putObject writes bytes to a path, which may be local or s3://.
func putObject(c *cobra.Command, s3 s3Flags, path string, b []byte) error {
	dir, key := store.Split(path)
	if key == "" {
		return usageError(fmt.Errorf("%s is not the name of a file", path))
	}
	s, err := s3.open(dir)
	if err != nil {
		return err
	}
	return s.Put(c.Context(), key, bytes.NewReader(b), int64(len(b)))
}
