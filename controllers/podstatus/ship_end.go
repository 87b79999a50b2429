package podstatus

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/controllers/inject"
)

// ShipEnds returns the ends of a pod's sidecar that its status still shows.
func ShipEnds(pod corev1.Pod) []*corev1.ContainerStateTerminated {
	var ends []*corev1.ContainerStateTerminated
	for _, status := range pod.Status.InitContainerStatuses {
		if status.Name != inject.ShipContainer {
			continue
		}
		for _, ended := range []*corev1.ContainerStateTerminated{status.LastTerminationState.Terminated, status.State.Terminated} {
			if ended != nil {
				ends = append(ends, ended)
			}
		}
	}
	return ends
}
