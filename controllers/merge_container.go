package controllers

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// mergeContainer is the init container that merges.
const mergeContainer = "merge"

// mergesFirst reports whether a Job of ours merges and then reports.
func mergesFirst(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == mergeContainer })
}

// initEnd is how the merge of a pod ended; nil if it did not, or there is none.
func initEnd(pod corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.InitContainerStatuses {
		if status.Name == mergeContainer {
			return status.State.Terminated
		}
	}
	return nil
}

// endOf is the end of a pod's container that counts: the merge if that failed, else the main one.
func endOf(pod corev1.Pod) *corev1.ContainerStateTerminated {
	if ended := initEnd(pod); ended != nil && ended.ExitCode != 0 {
		return ended
	}
	return terminated(pod, cairnContainer)
}
