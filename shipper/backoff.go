package shipper

import (
	"math/rand/v2"
	"time"
)

// A backoff spaces out attempts while the store cannot be reached.
type backoff struct {
	pause time.Duration
	until time.Time
}

const (
	firstPause   = time.Second
	longestPause = 15 * time.Second
)

// failed doubles the pause, with jitter: pods that failed at the same time must not retry at the
// same time.
func (b *backoff) failed() {
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	b.until = time.Now().Add(between(b.pause/2, b.pause))
}

// between returns a random duration in [low, high].
func between(low, high time.Duration) time.Duration { return low + rand.N(high-low+1) }

// wait reports whether it is too early for another attempt.
func (b *backoff) wait() bool { return time.Now().Before(b.until) }

// next returns the time until the next attempt.
func (b *backoff) next() time.Duration { return max(time.Until(b.until), 100*time.Millisecond) }
