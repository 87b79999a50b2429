package refusal

import "time"

const (
	// DefaultRetry is the pause before something is tried again.
	DefaultRetry = 10 * time.Second
	// MaxRetryPause bounds a pause that doubles with each failure.
	MaxRetryPause = 5 * time.Minute
	// DefaultStorageWait is how long a job waits for storage that is not ready.
	DefaultStorageWait = 2 * time.Minute
)

// Backoff is the pause after a number of failures before the one that was seen last.
func Backoff(first time.Duration, failures int) time.Duration {
	pause := first
	for range failures {
		if pause *= 2; pause >= MaxRetryPause {
			return max(first, MaxRetryPause)
		}
	}
	return pause
}
