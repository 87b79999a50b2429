package main

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// traceFile is an open trace and what it is read from.
type traceFile struct {
	*trace.Reader
	object store.Reader
}

func (f *traceFile) Close() error { return f.object.Close() }

// openTrace opens a trace by its path, which may be local or s3://.
func openTrace(ctx context.Context, path string, s3 s3Flags) (*traceFile, error) {
	o, err := s3.options()
	if err != nil {
		return nil, err
	}
	object, err := store.OpenFile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	reader, err := trace.Open(object, object.Size())
	if err != nil {
		object.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &traceFile{reader, object}, nil
}
