package refusal

import "time"

const (
	// DefaultRetry is the pause before the first retry.
	DefaultRetry = 10 * time.Second
	// MaxRetryPause limits a pause that doubles with each failure.
	MaxRetryPause = 5 * time.Minute
	// DefaultStorageWait is how long a job waits for storage that is not ready.
	DefaultStorageWait = 2 * time.Minute
)

// Backoff returns the pause after a failure, given the number of failures before it.
func Backoff(first time.Duration, failures int) time.Duration {
	pause := first
	for range failures {
		if pause *= 2; pause >= MaxRetryPause {
			return max(first, MaxRetryPause)
		}
	}
	return pause
}
