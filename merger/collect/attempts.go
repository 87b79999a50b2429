package collect

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/api/messages"
)

// An Attempt is one start of the launcher, as observed by the operator.
type Attempt = messages.Attempt

// ParseAttempts parses the value of --attempts; "" is none.
func ParseAttempts(s string) ([]Attempt, error) {
	if s == "" {
		return nil, nil
	}
	var attempts []Attempt
	if err := json.Unmarshal([]byte(s), &attempts); err != nil {
		return nil, fmt.Errorf("the list of attempts is not valid: %w", err)
	}
	slices.SortFunc(attempts, func(a, b Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	return attempts, nil
}

// clockSlack is the largest time by which a rank may appear to have started before its launcher:
// their nodes' clocks differ.
const clockSlack = 2 * time.Second

// attemptOf returns the attempt that a world belongs to: the last one that had begun when the world
// did. Ranks run in surviving workers, whose sidecars do not see a restart of the launcher, so only
// time is available. The kubelet restarts a container for the first time without a pause, so the
// slack is applied only if the attempt before is known to have ended. Times of Kubernetes are whole
// seconds.
func attemptOf(attempts []Attempt, startRealtimeNS int64) int {
	if len(attempts) == 0 {
		return 0
	}
	start := time.Unix(0, startRealtimeNS)
	found := attempts[0]
	for _, a := range attempts[1:] {
		ended := !found.FinishedAt.IsZero() && start.After(found.FinishedAt.Add(time.Second))
		if !start.Before(a.StartedAt) || ended && !start.Add(clockSlack).Before(a.StartedAt) {
			found = a
		}
	}
	return found.Attempt
}
