package storage

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/messages"
)

// Seen is the latest sign of a storage that works, or does not.
type Seen struct {
	At time.Time
	// trouble is nil if it works.
	Trouble *messages.StorageTrouble
	// who saw the trouble, in words that a sentence begins with.
	Who string
}

// Take takes a sign of the storage, if it is later than those before; trouble counts more than its absence.
func (s *Seen) Take(at time.Time, trouble *messages.StorageTrouble, who string) {
	if at.After(s.At) || at.Equal(s.At) && trouble != nil {
		s.At, s.Trouble, s.Who = at, trouble, who
	}
}

// TroubleAt is when the trouble was seen: a check that is older does not tell whether it is over.
func (s *Seen) TroubleAt() time.Time {
	if s.Trouble == nil {
		return time.Time{}
	}
	return s.At
}

// TakeCheck takes what a check found. While it is on its way, the one before it counts.
func (s *Seen) TakeCheck(check Check) {
	ended := check.Ended
	if ended.IsZero() {
		ended = check.beforeEnded
	}
	if ended.After(s.At) {
		s.Take(ended, check.Trouble(), "")
	}
}

// TakeStep takes what a container of a step said when it ended.
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
