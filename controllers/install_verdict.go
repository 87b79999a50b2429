package controllers

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
)

// readVerdict is what the probe of a pod found, or, if it could not say anything, why the installation before it failed:
// on a full volume there may be no probe at all. Not ok while the probe has not ended.
func readVerdict(pod corev1.Pod) (answer messages.Probe, ok bool) {
	answer, ok = readProbe(pod)
	if !ok || answer.Reason != v1alpha1.ReasonProbeFailed {
		return answer, ok
	}
	for _, status := range pod.Status.InitContainerStatuses {
		ended := status.State.Terminated
		var failed messages.Probe
		if status.Name == inject.InstallContainer && ended != nil && messages.Decode(ended.Message, &failed) &&
			!failed.Traceable && reasonPattern.MatchString(string(failed.Reason)) {
			return failed.Fit(), true
		}
	}
	return answer, true
}
