package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/merger/collect"
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
		if about, statErr := os.Stat(path); statErr == nil && about.IsDir() {
			return nil, usageError{fmt.Errorf("%s is a directory; the trace of a run is the file %s in it", path, collect.TraceFile)}
		}
		return nil, err
	}
	return readTrace(path, object)
}

// openJobTrace opens the trace of a run in a job's store. One that is not there, or cannot be read, is bad data.
func openJobTrace(ctx context.Context, s store.Store, run jobRun) (*traceFile, error) {
	key := run.key(collect.TraceFile)
	object, err := s.ReaderAt(ctx, key)
	switch {
	case store.IsNotFound(err):
		return nil, statusError{exitBadData, err}
	case err != nil:
		return nil, err
	}
	return readTrace(s.URL(key), object)
}

// readTrace takes over the object.
func readTrace(path string, object store.Reader) (*traceFile, error) {
	reader, err := trace.Open(object, object.Size(), readlimit.Option(object.Size()))
	if err != nil {
		object.Close()
		return nil, damaged(path, err)
	}
	return &traceFile{reader, object}, nil
}

// damaged names the trace that an error of package trace is about: bad data, unless the storage failed meanwhile or the
// command was told to end.
func damaged(path string, err error) error {
	err = fmt.Errorf("%s: %w", path, err)
	var storage *store.Error
	if errors.As(err, &storage) || errors.Is(err, context.Canceled) {
		return err
	}
	return statusError{exitBadData, err}
}
