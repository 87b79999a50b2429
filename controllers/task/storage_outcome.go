package task

import (
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/api/messages"
)

// Refused is the trouble of a Job that the storage refused; nil if that is not why it failed. Only a person can mend it.
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

// storageTroubleOf is what a pod said about the storage, or what its exit code says.
func storageTroubleOf(f Failure) *messages.StorageTrouble {
	if trouble := f.storage(); trouble != nil {
		return trouble
	}
	return &messages.StorageTrouble{Reason: messages.StorageAccessDenied, Message: f.String()}
}

// storage is what a pod said about the storage; nil if it said nothing.
func (f Failure) storage() *messages.StorageTrouble {
	var said struct {
		Storage *messages.StorageTrouble `json:"storage"`
	}
	if !messages.Decode(f.Message, &said) {
		return nil
	}
	return said.Storage
}

// StorageTrouble is what the pods of a Job that failed said about the storage; nil if they said nothing.
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
