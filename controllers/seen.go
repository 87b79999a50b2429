package controllers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/messages"
)

// seenStorage is the latest sign of a storage that works, or does not.
type seenStorage struct {
	at time.Time
	// trouble is nil if it works.
	trouble *messages.StorageTrouble
	// who saw the trouble, in words that a sentence begins with.
	who string
}

func (s *seenStorage) take(at time.Time, trouble *messages.StorageTrouble, who string) {
	if at.After(s.at) || at.Equal(s.at) && trouble != nil {
		s.at, s.trouble, s.who = at, trouble, who
	}
}

// troubleAt is when the trouble was seen: a check that is older does not tell whether it is over.
func (s *seenStorage) troubleAt() time.Time {
	if s.trouble == nil {
		return time.Time{}
	}
	return s.at
}

// takeCheck takes what a check found. While it is on its way, the one before it counts.
func (s *seenStorage) takeCheck(check storageCheck) {
	ended := check.ended
	if ended.IsZero() {
		ended = check.beforeEnded
	}
	if ended.After(s.at) {
		s.take(ended, check.trouble(), "")
	}
}

// takeStep takes what a container of a step said when it ended.
func (s *seenStorage) takeStep(pod, step string, ended *corev1.ContainerStateTerminated) {
	if ended == nil {
		return
	}
	var said struct {
		Storage *messages.StorageTrouble `json:"storage"`
	}
	told := messages.Decode(ended.Message, &said)
	switch {
	case told && said.Storage != nil:
		s.take(ended.FinishedAt.Time, said.Storage, fmt.Sprintf("pod %s (%s): ", pod, step))
	case ended.ExitCode == 0:
		s.take(ended.FinishedAt.Time, nil, "")
	}
}
