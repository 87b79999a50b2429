package controllers

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// refusedError: the API server, or an admission plugin or webhook that it asks, refuses an object that the job needs.
type refusedError struct {
	kind, name string
	// step is the StepLabel of a Job of ours.
	step string
	// change says that the object exists, and was to be changed.
	change bool
	err    error
	// since is when it was refused for the first time; it is not tried again before until, pause after the last time.
	since, until time.Time
	pause        time.Duration
}

func (e *refusedError) Error() string {
	return e.object() + " was refused: " + shortened(refuserWords(e.err), maxWords)
}

func (e *refusedError) object() string {
	if e.change {
		return "a change of " + e.kind + " " + e.name
	}
	return e.kind + " " + e.name
}

func (e *refusedError) Unwrap() error { return e.err }

// internalRefusal is an internal error of the API server that somebody it asked is the reason of.
var internalRefusal = regexp.MustCompile(`webhook|admission|quota`)

// isRefusal reports whether an error is somebody's decision, or that of a webhook that cannot be reached, and not a
// conflict or a passing failure of the API server.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case 401, 404, 408, 409, 410, 429:
		return false
	case 500:
		return internalRefusal.MatchString(err.Error())
	default:
		return code >= 400 && code < 500
	}
}

// resourcePrefix is what the API server puts before a refuser's words.
var resourcePrefix = regexp.MustCompile(`^\S+ "[^"]*" is (forbidden|invalid): `)

// refuserWords are the words of who refused an object, without the name of the object before them.
func refuserWords(err error) string {
	words := resourcePrefix.ReplaceAllString(err.Error(), "")
	return strings.Join(strings.Fields(words), " ")
}

// bySchema reports whether the object's own schema refuses it: no quota, policy or webhook, which may change their mind.
// Errors of a schema name fields, and nobody else's name.
func bySchema(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil || len(details.Causes) == 0 || strings.Contains(err.Error(), "denied the request") {
		return false
	}
	for _, cause := range details.Causes {
		if cause.Field == "" {
			return false
		}
	}
	return true
}

// refusals are what was refused lately. They are kept in memory only: a new operator asks again.
type refusals struct {
	mutex sync.Mutex
	of    map[string]*refusedError
}

// pending is the refusal of key that is not to be tried again yet; nil if there is none.
func (r *refusals) pending(key string, now time.Time) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if refused := r.of[key]; refused != nil && now.Before(refused.until) {
		return refused
	}
	return nil
}

// add notes a refusal and says when it is tried again: twice as long after this one as after the one before.
func (r *refusals) add(key string, refused *refusedError, now time.Time, first time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	refused.since, refused.pause = now, first
	if before := r.of[key]; before != nil {
		refused.since, refused.pause = before.since, min(2*before.pause, max(first, maxRefusalPause))
	}
	refused.until = now.Add(refused.pause)
	maps.DeleteFunc(r.of, func(_ string, old *refusedError) bool {
		return now.Sub(old.until) > maxRefusal // its job is gone
	})
	if r.of == nil {
		r.of = map[string]*refusedError{}
	}
	r.of[key] = refused
}

func (r *refusals) forget(key string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.of, key)
}
