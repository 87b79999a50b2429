package task

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
)

// A container that was killed for an unknown reason is tried again, with more memory, but nothing
// claims that it ran out of memory.
func TestKilledForAnUnknownReason(t *testing.T) {
	for reason, says := range map[string]string{podstatus.ReasonOOMKilled: "out of memory", "Error": "exit code 137"} {
		o := ReadPods([]corev1.Pod{{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: MainContainer, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: messages.ExitKilled, Reason: reason}}}}}}})
		require.True(t, o.Killed())
		require.Equal(t, says, o.String())
	}
}
