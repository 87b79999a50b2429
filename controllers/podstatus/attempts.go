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

// ObserveAttempts merges the starts of the launcher that its pods show with those that were seen
// before. A pod that restarts its container shows only the last two, and a Job that retries creates
// new pods. A start is identified by its pod and its time.
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
			// The first observation counts: a pod that is finally removed no longer has the time of
			// its deletion request.
			attempts[i].FinishedAt, attempts[i].ExitCode = start.FinishedAt, start.ExitCode
		}
	}
	if extra := len(attempts) - v1alpha1.MaxAttempts; extra > 0 {
		attempts = attempts[extra:]
	}
	return attempts
}

// startsOf returns the starts of a container that its pod still shows.
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

// endedByDeletion reports whether a container ended because its pod was being deleted. A Job that
// has used up its retries deletes its pod, including a launcher that has just started again. The
// exit code of mpirun is then not the reason of the failure.
func endedByDeletion(pod corev1.Pod, end *corev1.ContainerStateTerminated) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
	return !end.FinishedAt.Time.Before(pod.DeletionTimestamp.Add(-grace))
}

// LastExitCode returns the exit code of the last attempt that ended by itself, or nil if none did.
func LastExitCode(attempts []v1alpha1.Attempt) *int32 {
	for _, attempt := range slices.Backward(attempts) {
		if attempt.ExitCode != nil {
			return attempt.ExitCode
		}
	}
	return nil
}

// AttemptsArgument returns the value of --attempts.
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
