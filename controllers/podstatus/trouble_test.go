package podstatus

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/controllers/inject"
)

func TestStartTrouble(t *testing.T) {
	limited := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")}}
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: inject.InstallContainer}, {Name: inject.ProbeContainer, Resources: limited}, {Name: inject.ShipContainer, Resources: limited}},
		Containers:     []corev1.Container{{Name: "worker"}},
	}
	terminated := func(code int32, reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
	}
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	in := func(status corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{status}}
	}
	for _, test := range []struct {
		name   string
		status corev1.PodStatus
		want   string
	}{
		{"unschedulable", corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available"}}},
			"0/2 nodes are available"},
		{"our image", in(corev1.ContainerStatus{Name: inject.InstallContainer, State: waiting("ImagePullBackOff", `Back-off pulling image "cairn:test"`)}),
			`container cairn-install: ImagePullBackOff: Back-off pulling image "cairn:test"`},
		{"on its way", in(corev1.ContainerStatus{Name: inject.InstallContainer, State: waiting("PodInitializing", "")}), ""},
		{"done", in(corev1.ContainerStatus{Name: inject.ProbeContainer, State: terminated(0, "Completed", `{"traceable":true}`)}), ""},
		{"probe out of memory", in(corev1.ContainerStatus{Name: inject.ProbeContainer, State: terminated(137, "OOMKilled", "")}),
			"container cairn-probe ran out of memory (limit 128Mi)"},
		{"install fails", in(corev1.ContainerStatus{Name: inject.InstallContainer, State: terminated(70, "Error", "cairn: no space left on device\n")}),
			"container cairn-install exited with code 70: no space left on device"},
		{"install fails with JSON", in(corev1.ContainerStatus{Name: inject.InstallContainer, State: terminated(70, "Error", `{"message":"no space","x":1}`)}),
			"container cairn-install exited with code 70: no space"},
		{"cannot start", in(corev1.ContainerStatus{Name: inject.InstallContainer, State: terminated(128, "StartError", "exec /usr/local/bin/cairn: exec format error")}),
			"container cairn-install: StartError: exec /usr/local/bin/cairn: exec format error"},
		{"sidecar again and again", in(corev1.ContainerStatus{Name: inject.ShipContainer, RestartCount: 3, State: waiting("CrashLoopBackOff", "back-off 40s"),
			LastTerminationState: terminated(137, "OOMKilled", "")}),
			"container cairn-ship ran out of memory (limit 128Mi) (CrashLoopBackOff, started 4 times)"},
		{"the user's container", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "worker", State: terminated(255, "Error", "secret output")}}},
			"container worker exited with code 255"},
		{"the node has no room", corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Node didn't have enough resource: cpu."},
			"OutOfcpu: Node didn't have enough resource: cpu"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, StartTrouble(corev1.Pod{Spec: spec, Status: test.status}))
		})
	}
}

// However many pods there are, a condition stays readable.
func TestTroublesAreBounded(t *testing.T) {
	var pods []corev1.Pod
	add := func(i int, message string) {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stencil-worker-%d", i)},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}}}})
	}
	for i := range 64 {
		add(i, "0/2 nodes are available")
	}
	require.Equal(t, "pods stencil-worker-0, stencil-worker-1, stencil-worker-2 and 61 more: 0/2 nodes are available", Summary(pods, StartTrouble))
	for i := 64; i < 128; i++ {
		add(i, fmt.Sprint("trouble ", i))
	}
	require.Equal(t, "pods stencil-worker-0, stencil-worker-1, stencil-worker-2 and 61 more: 0/2 nodes are available; "+
		"pod stencil-worker-64: trouble 64; pod stencil-worker-65: trouble 65; and 62 more pods with other problems", Summary(pods, StartTrouble))
	require.Empty(t, Summary(nil, StartTrouble))
}
