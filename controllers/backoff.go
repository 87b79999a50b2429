package controllers

import "time"

const (
	// defaultRetry is the pause before something is tried again.
	defaultRetry = 10 * time.Second
	// maxRetryPause bounds a pause that doubles with each failure.
	maxRetryPause = 5 * time.Minute
	// defaultStorageWait is how long a job waits for storage that is not ready.
	defaultStorageWait = 2 * time.Minute
)

// backoff is the pause after a number of failures before the one that was seen last.
func backoff(first time.Duration, failures int) time.Duration {
	pause := first
	for range failures {
		if pause *= 2; pause >= maxRetryPause {
			return max(first, maxRetryPause)
		}
	}
	return pause
}
