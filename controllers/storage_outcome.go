package controllers

import (
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/api/messages"
)

// refused is the trouble of a Job that the storage refused; nil if that is not why it failed. Only a person can mend it.
func (o outcome) refused() *messages.StorageTrouble {
	if !o.finished || o.succeeded {
		return nil
	}
	for _, f := range o.failed {
		if f.exitCode == messages.ExitRefused {
			return storageTroubleOf(f)
		}
	}
	return nil
}

// storageTroubleOf is what a pod said about the storage, or what its exit code says.
func storageTroubleOf(f failure) *messages.StorageTrouble {
	if trouble := f.storage(); trouble != nil {
		return trouble
	}
	return &messages.StorageTrouble{Reason: messages.StorageAccessDenied, Message: f.String()}
}

// storage is what a pod said about the storage; nil if it said nothing.
func (f failure) storage() *messages.StorageTrouble {
	var said struct {
		Storage *messages.StorageTrouble `json:"storage"`
	}
	if !messages.Decode(f.message, &said) {
		return nil
	}
	return said.Storage
}

// storageTrouble is what the pods of a Job that failed said about the storage; nil if they said nothing.
func (o outcome) storageTrouble() *messages.StorageTrouble {
	if !o.finished || o.succeeded {
		return nil
	}
	for _, index := range slices.Sorted(maps.Keys(o.failed)) {
		if trouble := o.failed[index].storage(); trouble != nil {
			return trouble
		}
	}
	return nil
}
