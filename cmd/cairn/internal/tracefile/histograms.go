package tracefile

import (
	"context"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// OpenHistograms opens a trace of histograms. It returns nil if the file is not one.
func OpenHistograms(ctx context.Context, path string, s3 storage.Flags) (h *trace.Histograms, bytes int64, err error) {
	o, err := s3.Options()
	if err != nil {
		return nil, 0, err
	}
	object, err := store.OpenFile(ctx, path, o)
	if err != nil {
		return nil, 0, nil //nolint:nilerr // Open reports the reason
	}
	defer object.Close()
	if !trace.IsHistograms(object) {
		return nil, 0, nil
	}
	if h, err = trace.OpenHistograms(object, object.Size(), readlimit.Option(object.Size())); err != nil {
		return nil, 0, Damaged(path, err)
	}
	return h, object.Size(), nil
}
