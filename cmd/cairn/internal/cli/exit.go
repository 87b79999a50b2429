package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

// Exit codes. The operator relies on them.
const (
	ExitUsage       = messages.ExitUsage
	ExitBadData     = messages.ExitBadData
	exitUnavailable = messages.ExitUnavailable
	ExitInternal    = messages.ExitInternal
	exitRefused     = messages.ExitRefused
)

// UsageError marks err as an error of the command line.
func UsageError(err error) error { return badUsage{err} }

// IsUsageError reports whether err is an error of the command line.
func IsUsageError(err error) bool { return errors.As(err, new(badUsage)) }

type badUsage struct{ error }

func (e badUsage) Unwrap() error { return e.error }

// StatusError returns an error that ends the process with a code. With a nil cause no message is
// printed.
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

// ExitCode returns the exit code of the process for err. quiet reports whether the message has been
// printed already.
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

// classify returns the exit code of an error that carries none.
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

// EndedBy is the exit code of a command that a signal ended: 128 plus the signal, as in shells.
func EndedBy(s syscall.Signal) int { return 128 + int(s) }
