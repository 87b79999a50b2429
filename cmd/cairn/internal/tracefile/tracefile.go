package tracefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// File is an open trace and the object that it is read from.
type File struct {
	*trace.Reader
	Object store.Reader
}

// Close closes the file or object.
func (f *File) Close() error { return f.Object.Close() }

// Open opens a trace by its path, which may be local or s3://.
func Open(ctx context.Context, path string, s3 storage.Flags) (*File, error) {
	o, err := s3.Options()
	if err != nil {
		return nil, err
	}
	object, err := store.OpenFile(ctx, path, o)
	if err != nil {
		if about, statErr := os.Stat(path); statErr == nil && about.IsDir() {
			return nil, cli.UsageError(fmt.Errorf("%s is a directory; the trace of a run is the file %s in it", path, collect.TraceFile))
		}
		return nil, err
	}
	return Read(path, object)
}

// Read opens a trace in an object, and takes ownership of the object.
func Read(path string, object store.Reader) (*File, error) {
	reader, err := trace.Open(object, object.Size(), readlimit.Option(object.Size()))
	if err != nil {
		object.Close()
		return nil, Damaged(path, err)
	}
	return &File{reader, object}, nil
}

// Damaged adds the path of the trace to an error of package trace. The error is bad data, unless
// the storage failed or the command was asked to end.
func Damaged(path string, err error) error {
	err = fmt.Errorf("%s: %w", path, err)
	var storage *store.Error
	if errors.As(err, &storage) || errors.Is(err, context.Canceled) {
		return err
	}
	return cli.StatusError(cli.ExitBadData, err)
}

// Write writes a trace to a local path or an s3:// URL, completely or not at all.
func Write(c *cobra.Command, s3 storage.Flags, path string, content *trace.Content) error {
	var encoded bytes.Buffer
	if err := trace.Write(&encoded, content); err != nil {
		return err
	}
	return storage.PutObject(c, s3, path, encoded.Bytes())
}
