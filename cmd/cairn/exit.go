package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

// Exit codes: the operator knows them, too.
const (
	exitUsage       = messages.ExitUsage
	exitBadData     = messages.ExitBadData
	exitUnavailable = messages.ExitUnavailable
	exitInternal    = messages.ExitInternal
	exitRefused     = messages.ExitRefused
)

// usageError is err as one of a command line that cannot be understood.
func usageError(err error) error { return badUsage{err} }

// isUsageError reports whether err is one of the command line.
func isUsageError(err error) bool { return errors.As(err, new(badUsage)) }

type badUsage struct{ error }

func (e badUsage) Unwrap() error { return e.error }

// statusError ends the process with a code; with a nil cause it does so without a message.
func statusError(code int, cause error) error { return exitStatus{code, cause} }

type exitStatus struct {
	code  int
	cause error
}

func (e exitStatus) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e exitStatus) Unwrap() error { return e.cause }

// exitCode says how the process ends for err, and whether the message has been said already.
func exitCode(err error) (code int, quiet bool) {
	var status exitStatus
	if errors.As(err, &status) {
		return status.code, status.cause == nil
	}
	if isUsageError(err) {
		return exitUsage, false
	}
	return classify(err), false
}

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

// endedBy is the exit code of a command that a signal ended, as shells give it.
func endedBy(s syscall.Signal) int { return 128 + int(s) }
