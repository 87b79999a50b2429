package storage

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/messages"
)

// Seen is the latest evidence that the storage works, or that it does not.
type Seen struct {
	At time.Time
	// Trouble is nil if it works.
	Trouble *messages.StorageTrouble
	// Who saw the trouble, as the beginning of a sentence.
	Who string
}

// Take records evidence if it is later than what is known. At equal times, trouble takes
// precedence.
func (s *Seen) Take(at time.Time, trouble *messages.StorageTrouble, who string) {
	if at.After(s.At) || at.Equal(s.At) && trouble != nil {
		s.At, s.Trouble, s.Who = at, trouble, who
	}
}

// TroubleAt returns the time of the trouble. An older check cannot show that it is over.
func (s *Seen) TroubleAt() time.Time {
	if s.Trouble == nil {
		return time.Time{}
	}
	return s.At
}

// TakeCheck records the result of a check. While it is running, the previous result counts.
func (s *Seen) TakeCheck(check Check) {
	ended := check.Ended
	if ended.IsZero() {
		ended = check.beforeEnded
	}
	if ended.After(s.At) {
		s.Take(ended, check.Trouble(), "")
	}
}

// TakeStep records what a container of a step reported when it ended.
func (s *Seen) TakeStep(pod, step string, ended *corev1.ContainerStateTerminated) {
	if ended == nil {
		return
	}
	var said struct {
		Storage *messages.StorageTrouble `json:"storage"`
	}
	told := messages.Decode(ended.Message, &said)
	switch {
	case told && said.Storage != nil:
		s.Take(ended.FinishedAt.Time, said.Storage, fmt.Sprintf("pod %s (%s): ", pod, step))
	case ended.ExitCode == 0:
		s.Take(ended.FinishedAt.Time, nil, "")
	}
}
