package main

import (
	"errors"
	"io/fs"

	"github.com/cairn-mpi/cairn/store"
)

// classify finds the exit code for an error that carries none.
func classify(err error) int {
	var storage *store.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exitUsage
	case errors.As(err, &storage):
		switch storage.Reason {
		case store.NotFound:
			return exitUsage
		case store.CredentialsMissing, store.AccessDenied, store.BucketMissing:
			return exitRefused
		}
		return exitUnavailable
	}
	return exitInternal
}
