package task

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// MergeContainer is the init container that merges.
const MergeContainer = "merge"

// MergesFirst reports whether a Job of ours merges and then reports.
func MergesFirst(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == MergeContainer })
}

// InitEnd is how the merge of a pod ended; nil if it did not, or there is none.
func InitEnd(pod corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.InitContainerStatuses {
		if status.Name == MergeContainer {
			return status.State.Terminated
		}
	}
	return nil
}

// endOf is the end of a pod's container that counts: the merge if that failed, else the main one.
func endOf(pod corev1.Pod) *corev1.ContainerStateTerminated {
	if ended := InitEnd(pod); ended != nil && ended.ExitCode != 0 {
		return ended
	}
	return terminated(pod, MainContainer)
}
