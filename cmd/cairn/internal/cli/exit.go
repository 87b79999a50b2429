package cli

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
	ExitUsage       = messages.ExitUsage
	ExitBadData     = messages.ExitBadData
	exitUnavailable = messages.ExitUnavailable
	ExitInternal    = messages.ExitInternal
	exitRefused     = messages.ExitRefused
)

// UsageError is err as one of a command line that cannot be understood.
func UsageError(err error) error { return badUsage{err} }

// IsUsageError reports whether err is one of the command line.
func IsUsageError(err error) bool { return errors.As(err, new(badUsage)) }

type badUsage struct{ error }

func (e badUsage) Unwrap() error { return e.error }

// StatusError ends the process with a code; with a nil cause it does so without a message.
func StatusError(code int, cause error) error { return exitStatus{code, cause} }

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

// ExitCode says how the process ends for err, and whether the message has been said already.
func ExitCode(err error) (code int, quiet bool) {
	var status exitStatus
	if errors.As(err, &status) {
		return status.code, status.cause == nil
	}
	if IsUsageError(err) {
		return ExitUsage, false
	}
	return classify(err), false
}

// classify finds the exit code for an error that carries none.
func classify(err error) int {
	var storage *store.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ExitUsage
	case errors.As(err, &storage):
		switch storage.Reason {
		case store.NotFound:
			return ExitUsage
		case store.CredentialsMissing, store.AccessDenied, store.BucketMissing:
			return exitRefused
		}
		return exitUnavailable
	}
	return ExitInternal
}

// EndedBy is the exit code of a command that a signal ended, as shells give it.
func EndedBy(s syscall.Signal) int { return 128 + int(s) }
