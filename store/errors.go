package store

import (
	"errors"
	"strconv"
)

// Reason classifies what went wrong, so that a condition can name it.
type Reason string

// Reasons of an Error. The strings are part of the termination message of check-storage.
const (
	CredentialsMissing Reason = "CredentialsMissing" // no key to sign requests with
	AccessDenied       Reason = "AccessDenied"       // the key is unknown, wrong, or lacks the permission
	BucketMissing      Reason = "BucketMissing"
	Unreachable        Reason = "Unreachable" // no answer, or an answer that asks to try again later
	NotFound           Reason = "NotFound"    // the object does not exist
	Changed            Reason = "Changed"     // the object does not have the expected version
	Unsupported        Reason = "Unsupported" // the store does not support the operation
	Other              Reason = "Other"
)

// Error is the error of one operation, with what to do next.
type Error struct {
	Op      string // "read", "write", "list", "delete", "open", "create bucket"
	URL     string // of the object or store
	Reason  Reason
	Message string // one sentence, without secrets
	Err     error  // the cause; may be nil

	waited bool // Patient has retried for as long as it may
}

func (e *Error) Error() string {
	return "cannot " + e.Op + " " + e.URL + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of a store's error, "" for nil and Other for any other error.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return Other
}

// IsNotFound reports whether err means that the object does not exist.
func IsNotFound(err error) bool { return ReasonOf(err) == NotFound }

// MayPass reports whether a retry can succeed without a change of the request. Even a missing
// bucket or wrong credentials can be fixed while a job runs, so only errors of the request itself
// are permanent. The errors of a Patient store are permanent, too: it has retried already.
func MayPass(err error) bool {
	var e *Error
	if errors.As(err, &e) && e.waited {
		return false
	}
	switch ReasonOf(err) {
	case "", NotFound, Changed, Unsupported, Other:
		return false
	}
	return true
}

func quote(s string) string { return strconv.Quote(s) }
