package podstatus

import (
	"fmt"
	"testing"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

func TestObserveAttempts(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	launcher := func(uid string, status corev1.ContainerStatus) corev1.Pod {
		status.Name = "launcher"
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Labels: map[string]string{mpiv2beta1.JobRoleLabel: "launcher"}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
				{Name: "cairn-ship", RestartCount: 9, State: runningSince(at(0))}, status,
			}},
		}
	}
	crashLoop := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}

	// The observations, one after the other, as "attempt pod restarts exit-code".
	var seen []v1alpha1.Attempt
	look := func(want []string, pods ...corev1.Pod) {
		t.Helper()
		seen = ObserveAttempts(seen, pods, "launcher")
		var got []string
		for _, a := range seen {
			got = append(got, fmt.Sprint(a.Attempt, " ", a.PodUID, " ", a.RestartCount, " ", ptr.Deref(a.ExitCode, -1)))
		}
		require.Equal(t, want, got)
	}
	look(nil, launcher("a", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}))
	look([]string{"0 a 0 -1"}, launcher("a", corev1.ContainerStatus{State: runningSince(at(1))}))
	look([]string{"0 a 0 3"}, launcher("a", corev1.ContainerStatus{State: exitedWith(at(1), 3)}))
	look([]string{"0 a 0 3"}, launcher("a", corev1.ContainerStatus{State: crashLoop, LastTerminationState: exitedWith(at(1), 3)}))
	look([]string{"0 a 0 3", "1 a 1 -1"}, launcher("a", corev1.ContainerStatus{RestartCount: 1, State: runningSince(at(20)), LastTerminationState: exitedWith(at(1), 3)}))
	look([]string{"0 a 0 3", "1 a 1 4"}, launcher("a", corev1.ContainerStatus{RestartCount: 1, State: crashLoop, LastTerminationState: exitedWith(at(20), 4)}))

	// The pod is deleted while its third container runs; how that ends is no result.
	doomed := launcher("a", corev1.ContainerStatus{RestartCount: 2, State: crashLoop, LastTerminationState: exitedWith(at(50), 1)})
	doomed.DeletionTimestamp = ptr.To(metav1.NewTime(at(51 + 120)))
	doomed.DeletionGracePeriodSeconds = ptr.To[int64](120)
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1"}, doomed)
	doomed.DeletionTimestamp = ptr.To(metav1.NewTime(at(53)))
	doomed.DeletionGracePeriodSeconds = ptr.To[int64](0)
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1"}, doomed)
	require.EqualValues(t, 4, *LastExitCode(seen))

	// Another pod, which is not the launcher's.
	other := launcher("w", corev1.ContainerStatus{State: runningSince(at(99))})
	other.Labels[mpiv2beta1.JobRoleLabel] = "worker"
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1", "3 b 0 0"}, launcher("b", corev1.ContainerStatus{State: exitedWith(at(99), 0)}), other)

	// Only the latest are kept, with their numbers.
	for i := range 20 {
		seen = ObserveAttempts(seen, []corev1.Pod{launcher(fmt.Sprint("c", i), corev1.ContainerStatus{State: runningSince(at(100 + i))})}, "launcher")
	}
	require.Len(t, seen, v1alpha1.MaxAttempts)
	require.EqualValues(t, 23, seen[len(seen)-1].Attempt)
}
