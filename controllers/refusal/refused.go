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

// Error: the API server, or an admission plugin or webhook that it asks, refuses an object that the job needs.
type Error struct {
	Kind, Name string
	// step is the StepLabel of a Job of ours.
	Step string
	// change says that the object exists, and was to be changed.
	Change bool
	Err    error
	// since is when it was refused for the first time; it is not tried again before until, pause after the last time.
	Since, Until time.Time
	pause        time.Duration
}

func (e *Error) Error() string {
	return e.Object() + " was refused: " + quote.Shorten(Words(e.Err), quote.MaxLength)
}

// Object names the object that was refused.
func (e *Error) Object() string {
	if e.Change {
		return "a change of " + e.Kind + " " + e.Name
	}
	return e.Kind + " " + e.Name
}

func (e *Error) Unwrap() error { return e.Err }

// internalRefusal is an internal error of the API server that somebody it asked is the reason of.
var internalRefusal = regexp.MustCompile(`webhook|admission|quota`)

// Is reports whether an error is somebody's decision, or that of a webhook that cannot be reached, and not a
// conflict or a passing failure of the API server.
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

// resourcePrefix is what the API server puts before a refuser's words.
var resourcePrefix = regexp.MustCompile(`^\S+ "[^"]*" is (forbidden|invalid): `)

// Words are the words of who refused an object, without the name of the object before them.
func Words(err error) string {
	words := resourcePrefix.ReplaceAllString(err.Error(), "")
	return strings.Join(strings.Fields(words), " ")
}

// BySchema reports whether the object's own schema refuses it: no quota, policy or webhook, which may change their mind.
// Errors of a schema name fields, and nobody else's name.
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

// Record are what was refused lately. They are kept in memory only: a new operator asks again.
type Record struct {
	mutex sync.Mutex
	of    map[string]*Error
}

// Pending is the refusal of key that is not to be tried again yet; nil if there is none.
func (r *Record) Pending(key string, now time.Time) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if refused := r.of[key]; refused != nil && now.Before(refused.Until) {
		return refused
	}
	return nil
}

// Add notes a refusal and says when it is tried again: twice as long after this one as after the one before.
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

// Forget drops what was refused under a key: it was taken since.
func (r *Record) Forget(key string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.of, key)
}

const (
	// maxRefusalPause bounds the pause before something that was refused is tried again. It begins with Settings.Retry
	// and doubles: a quota becomes free without anybody telling the operator.
	maxRefusalPause = 5 * time.Minute
	// MaxRefusal is how long an MPIJob is tried that its own schema refuses: long enough to mend a CRD.
	MaxRefusal = 10 * time.Minute
)
