package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
			return nil, usageError(fmt.Errorf("%s is a directory; the trace of a run is the file %s in it", path, collect.TraceFile))
		}
		return nil, err
	}
	return readTrace(path, object)
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
	return statusError(exitBadData, err)
}

// writeObject writes a trace to a path of any kind, whole or not at all.
func writeObject(c *cobra.Command, s3 s3Flags, path string, content *trace.Content) error {
	var encoded bytes.Buffer
	if err := trace.Write(&encoded, content); err != nil {
		return err
	}
	return putObject(c, s3, path, encoded.Bytes())
}
