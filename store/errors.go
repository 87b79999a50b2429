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
	AccessDenied       Reason = "AccessDenied"       // the key is unknown, wrong, or not allowed to
	BucketMissing      Reason = "BucketMissing"
	Unreachable        Reason = "Unreachable" // no answer, or an answer that says to try again later
	NotFound           Reason = "NotFound"    // the object is not there
	Changed            Reason = "Changed"     // the object is not of the version that was asked for
	Unsupported        Reason = "Unsupported" // the store cannot do that at all
	Other              Reason = "Other"
)

// Error is what went wrong with one operation, and what to do next.
type Error struct {
	Op      string // "read", "write", "list", "delete", "open", "create bucket"
	URL     string // of the object or store
	Reason  Reason
	Message string // one sentence, without secrets
	Err     error  // what it was made from, may be nil

	waited bool // Patient has tried again for as long as it may
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

// IsNotFound reports whether err says that the object is not there.
func IsNotFound(err error) bool { return ReasonOf(err) == NotFound }

// MayPass reports whether trying again later can help without a change of the
// request: also a missing bucket or wrong credentials can be mended while a
// job runs, so only what is wrong in the request itself cannot pass. Nor can what
// a Patient store has waited for already.
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
