package task

import (
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/api/messages"
)

// Refused returns the trouble of a Job that failed because the storage refused it, otherwise nil.
// Only a person can repair it.
func (o Outcome) Refused() *messages.StorageTrouble {
	if !o.Finished || o.Succeeded {
		return nil
	}
	for _, f := range o.Failed {
		if f.ExitCode == messages.ExitRefused {
			return storageTroubleOf(f)
		}
	}
	return nil
}

// storageTroubleOf returns what a pod reported about the storage, or what its exit code implies.
func storageTroubleOf(f Failure) *messages.StorageTrouble {
	if trouble := f.storage(); trouble != nil {
		return trouble
	}
	return &messages.StorageTrouble{Reason: messages.StorageAccessDenied, Message: f.String()}
}

// storage returns what a pod reported about the storage, or nil if nothing.
func (f Failure) storage() *messages.StorageTrouble {
	var said struct {
		Storage *messages.StorageTrouble `json:"storage"`
	}
	if !messages.Decode(f.Message, &said) {
		return nil
	}
	return said.Storage
}

// StorageTrouble returns what the failed pods of a Job reported about the storage, or nil if
// nothing.
func (o Outcome) StorageTrouble() *messages.StorageTrouble {
	if !o.Finished || o.Succeeded {
		return nil
	}
	for _, index := range slices.Sorted(maps.Keys(o.Failed)) {
		if trouble := o.Failed[index].storage(); trouble != nil {
			return trouble
		}
	}
	return nil
}
