package collect

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// writeIndex writes the list of runs. It is written after the last of them, so that all runs in it
// exist.
func writeIndex(ctx context.Context, s store.Store, runs []messages.Run) error {
	if runs == nil {
		runs = []messages.Run{}
	}
	if err := shard.Write(ctx, s, messages.IndexFile, &messages.Index{Runs: runs}); err != nil {
		return fmt.Errorf("the list of runs: %w", err)
	}
	return nil
}

// ensureIndex writes the index if it does not exist; an existing one, to which a report may have
// added, is kept.
func ensureIndex(ctx context.Context, s store.Store, runs []messages.Run) error {
	_, err := s.Stat(ctx, messages.IndexFile)
	if store.IsNotFound(err) {
		return writeIndex(ctx, s, runs)
	}
	return err
}
