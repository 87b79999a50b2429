package podstatus

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// ObserveAttempts adds the starts of the launcher that pods tell of to those that
// were seen before. A pod that restarts its container keeps only the last two; a
// Job that retries makes new pods. A start is known by its pod and its time.
func ObserveAttempts(seen []v1alpha1.Attempt, pods []corev1.Pod, container string) []v1alpha1.Attempt {
	var found []v1alpha1.Attempt
	for _, pod := range pods {
		if IsLauncher(pod) {
			found = append(found, startsOf(pod, container)...)
		}
	}
	slices.SortStableFunc(found, func(a, b v1alpha1.Attempt) int { return a.StartedAt.Compare(b.StartedAt.Time) })

	attempts := slices.Clone(seen)
	for _, start := range found {
		i := slices.IndexFunc(attempts, func(a v1alpha1.Attempt) bool {
			return a.PodUID == start.PodUID && a.StartedAt.Equal(&start.StartedAt)
		})
		if i < 0 {
			if n := len(attempts); n > 0 {
				start.Attempt = attempts[n-1].Attempt + 1
			}
			attempts = append(attempts, start)
		} else if attempts[i].FinishedAt == nil && start.FinishedAt != nil {
			// The first look counts: when a pod is finally removed, it no longer tells
			// when its deletion was asked for.
			attempts[i].FinishedAt, attempts[i].ExitCode = start.FinishedAt, start.ExitCode
		}
	}
	if extra := len(attempts) - v1alpha1.MaxAttempts; extra > 0 {
		attempts = attempts[extra:]
	}
	return attempts
}

// startsOf are the starts of a container that its pod still knows.
func startsOf(pod corev1.Pod, container string) []v1alpha1.Attempt {
	var starts []v1alpha1.Attempt
	add := func(restarts int32, at metav1.Time, end *corev1.ContainerStateTerminated) {
		start := v1alpha1.Attempt{PodUID: pod.UID, RestartCount: max(restarts, 0), StartedAt: at}
		if end != nil {
			start.FinishedAt = ptr.To(end.FinishedAt)
			if !endedByDeletion(pod, end) {
				start.ExitCode = ptr.To(end.ExitCode)
			}
		}
		starts = append(starts, start)
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != container {
			continue
		}
		restarts := status.RestartCount
		if last := status.LastTerminationState.Terminated; last != nil {
			of := restarts - 1
			if status.State.Waiting != nil {
				// Between two starts the count is still that of the last one.
				of = restarts
			}
			add(of, last.StartedAt, last)
		}
		switch {
		case status.State.Running != nil:
			add(restarts, status.State.Running.StartedAt, nil)
		case status.State.Terminated != nil:
			end := status.State.Terminated
			add(restarts, end.StartedAt, end)
		}
	}
	return starts
}

// endedByDeletion reports whether a container ended because its pod was being deleted.
// A Job that has used up its retries deletes its pod, and with it a launcher that has
// just started again: the code that mpirun then ends with is not how it failed.
func endedByDeletion(pod corev1.Pod, end *corev1.ContainerStateTerminated) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
	return !end.FinishedAt.Time.Before(pod.DeletionTimestamp.Add(-grace))
}

// LastExitCode is that of the last attempt that ended by itself; nil if none did.
func LastExitCode(attempts []v1alpha1.Attempt) *int32 {
	for _, attempt := range slices.Backward(attempts) {
		if attempt.ExitCode != nil {
			return attempt.ExitCode
		}
	}
	return nil
}

// AttemptsArgument is the value of --attempts.
func AttemptsArgument(attempts []v1alpha1.Attempt) (string, error) {
	sent := []messages.Attempt{}
	for _, a := range attempts {
		finished := ptr.Deref(a.FinishedAt, metav1.Time{})
		sent = append(sent, messages.Attempt{
			Attempt: int(a.Attempt), PodUID: string(a.PodUID), RestartCount: int(a.RestartCount),
			StartedAt: a.StartedAt.UTC(), FinishedAt: finished.UTC(),
		})
	}
	raw, err := json.Marshal(sent)
	return string(raw), err
}
