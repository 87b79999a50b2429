package task

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// MergeContainer is the init container that merges.
const MergeContainer = "merge"

// MergesFirst reports whether a Job merges before it reports.
func MergesFirst(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == MergeContainer })
}

// InitEnd returns how the merge of a pod ended, or nil if it has not ended or there is none.
func InitEnd(pod corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.InitContainerStatuses {
		if status.Name == MergeContainer {
			return status.State.Terminated
		}
	}
	return nil
}

// endOf returns the end of a pod that determines its result: that of the merge if it failed, else
// that of the main container.
func endOf(pod corev1.Pod) *corev1.ContainerStateTerminated {
	if ended := InitEnd(pod); ended != nil && ended.ExitCode != 0 {
		return ended
	}
	return terminated(pod, MainContainer)
}
