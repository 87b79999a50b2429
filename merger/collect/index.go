package collect

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// writeIndex says which runs there are. It comes after the last of them: who finds the index finds them all.
func writeIndex(ctx context.Context, s store.Store, runs []messages.Run) error {
	if runs == nil {
		runs = []messages.Run{}
	}
	if err := shard.Write(ctx, s, messages.IndexFile, &messages.Index{Runs: runs}); err != nil {
		return fmt.Errorf("the list of runs: %w", err)
	}
	return nil
}

// ensureIndex writes the index if it is not there; what a report has added to one that is stays.
func ensureIndex(ctx context.Context, s store.Store, runs []messages.Run) error {
	_, err := s.Stat(ctx, messages.IndexFile)
	if store.IsNotFound(err) {
		return writeIndex(ctx, s, runs)
	}
	return err
}
