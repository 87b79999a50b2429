package main

import (
	"bytes"
	"context"
	"io"

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
