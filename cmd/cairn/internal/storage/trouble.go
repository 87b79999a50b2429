package storage

import (
	"errors"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

// Failure is what a message says of an error if the storage is to blame for it; nil if it is not.
func Failure(err error) *messages.StorageTrouble {
	var failed *store.Error
	if !errors.As(err, &failed) || failed.Reason == store.NotFound {
		return nil
	}
	return Trouble(err)
}

// Trouble is what a message says of an error that came from the storage, or of any other; nil for none.
func Trouble(err error) *messages.StorageTrouble {
	if err == nil {
		return nil
	}
	trouble := &messages.StorageTrouble{Reason: messages.StorageOther, Message: err.Error()}
	switch reason := messages.StorageReason(store.ReasonOf(err)); reason {
	case messages.StorageCredentialsMissing, messages.StorageAccessDenied, messages.StorageBucketMissing, messages.StorageUnreachable:
		trouble.Reason = reason
	}
	return trouble
}
