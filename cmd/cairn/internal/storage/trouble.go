package storage

import (
	"errors"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

// Failure describes an error in a message if the storage caused it. Otherwise it returns nil.
func Failure(err error) *messages.StorageTrouble {
	var failed *store.Error
	if !errors.As(err, &failed) || failed.Reason == store.NotFound {
		return nil
	}
	return Trouble(err)
}

// Trouble describes an error of the storage, or any other, in a message. It returns nil for no
// error.
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
