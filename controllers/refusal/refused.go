package refusal

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cairn-mpi/cairn/controllers/quote"
)

// Error means that the API server, or an admission plugin or webhook that it calls, refuses an
// object that the job needs.
type Error struct {
	Kind, Name string
	// Step is the StepLabel of the refused Job.
	Step string
	// Change is true if the object exists and was to be changed.
	Change bool
	Err    error
	// Since is the time of the first refusal. The next attempt is not made before Until.
	Since, Until time.Time
	pause        time.Duration
}

func (e *Error) Error() string {
	return e.Object() + " was refused: " + quote.Shorten(Words(e.Err), quote.MaxLength)
}

// Object returns the name of the refused object.
func (e *Error) Object() string {
	if e.Change {
		return "a change of " + e.Kind + " " + e.Name
	}
	return e.Kind + " " + e.Name
}

func (e *Error) Unwrap() error { return e.Err }

// internalRefusal matches internal errors of the API server that an admission component caused.
var internalRefusal = regexp.MustCompile(`webhook|admission|quota`)

// Is reports whether an error is a decision of an admission component, or an unreachable webhook.
// Conflicts and temporary failures of the API server are not.
func Is(err error) bool {
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

// resourcePrefix is the text that the API server puts before the message of the refusing component.
var resourcePrefix = regexp.MustCompile(`^\S+ "[^"]*" is (forbidden|invalid): `)

// Words returns the message of the component that refused an object, without the object's name
// before it.
func Words(err error) string {
	words := resourcePrefix.ReplaceAllString(err.Error(), "")
	return strings.Join(strings.Fields(words), " ")
}

// BySchema reports whether the object's own schema refuses it, not a quota, policy or webhook,
// which may decide differently later. Errors of a schema name fields only.
func BySchema(err error) bool {
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

// Record has the recent refusals. They are kept in memory only: a new operator tries again.
type Record struct {
	mutex sync.Mutex
	of    map[string]*Error
}

// Pending returns the refusal of key if it must not be tried again yet, otherwise nil.
func (r *Record) Pending(key string, now time.Time) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if refused := r.of[key]; refused != nil && now.Before(refused.Until) {
		return refused
	}
	return nil
}

// Add records a refusal and sets the time of the next attempt. The pause doubles with each refusal.
func (r *Record) Add(key string, refused *Error, now time.Time, first time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	refused.Since, refused.pause = now, first
	if before := r.of[key]; before != nil {
		refused.Since, refused.pause = before.Since, min(2*before.pause, max(first, maxRefusalPause))
	}
	refused.Until = now.Add(refused.pause)
	maps.DeleteFunc(r.of, func(_ string, old *Error) bool {
		return now.Sub(old.Until) > MaxRefusal // its job is gone
	})
	if r.of == nil {
		r.of = map[string]*Error{}
	}
	r.of[key] = refused
}

// Forget removes the refusal of key, after a success.
func (r *Record) Forget(key string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.of, key)
}

const (
	// maxRefusalPause limits the pause before the next attempt. The pause begins with
	// Settings.Retry and doubles: the operator gets no event when quota becomes free.
	maxRefusalPause = 5 * time.Minute
	// MaxRefusal is how long the creation of an MPIJob is retried if its own schema refuses it:
	// long enough to repair a CRD.
	MaxRefusal = 10 * time.Minute
)
