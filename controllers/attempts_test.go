package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

func TestObserveAttempts(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	launcher := func(uid string, status corev1.ContainerStatus) corev1.Pod {
		status.Name = "launcher"
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Labels: map[string]string{mpiv2beta1.JobRoleLabel: "launcher"}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
				{Name: "cairn-ship", RestartCount: 9, State: running(at(0))}, status,
			}},
		}
	}
	crashLoop := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}

	// What is seen, one look after the other, as "attempt pod restarts exit-code".
	var seen []v1alpha1.Attempt
	look := func(want []string, pods ...corev1.Pod) {
		t.Helper()
		seen = observeAttempts(seen, pods, "launcher")
		var got []string
		for _, a := range seen {
			got = append(got, fmt.Sprint(a.Attempt, " ", a.PodUID, " ", a.RestartCount, " ", ptr.Deref(a.ExitCode, -1)))
		}
		require.Equal(t, want, got)
	}
	look(nil, launcher("a", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}))
	look([]string{"0 a 0 -1"}, launcher("a", corev1.ContainerStatus{State: running(at(1))}))
	look([]string{"0 a 0 3"}, launcher("a", corev1.ContainerStatus{State: exited(at(1), 3)}))
	look([]string{"0 a 0 3"}, launcher("a", corev1.ContainerStatus{State: crashLoop, LastTerminationState: exited(at(1), 3)}))
	look([]string{"0 a 0 3", "1 a 1 -1"}, launcher("a", corev1.ContainerStatus{RestartCount: 1, State: running(at(20)), LastTerminationState: exited(at(1), 3)}))
	look([]string{"0 a 0 3", "1 a 1 4"}, launcher("a", corev1.ContainerStatus{RestartCount: 1, State: crashLoop, LastTerminationState: exited(at(20), 4)}))

	// The pod is deleted while its third container runs; how that ends is no result.
	doomed := launcher("a", corev1.ContainerStatus{RestartCount: 2, State: crashLoop, LastTerminationState: exited(at(50), 1)})
	doomed.DeletionTimestamp = ptr.To(metav1.NewTime(at(51 + 120)))
	doomed.DeletionGracePeriodSeconds = ptr.To[int64](120)
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1"}, doomed)
	doomed.DeletionTimestamp = ptr.To(metav1.NewTime(at(53)))
	doomed.DeletionGracePeriodSeconds = ptr.To[int64](0)
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1"}, doomed)
	require.EqualValues(t, 4, *lastExitCode(seen))

	// Another pod, and one that is none of the launcher's.
	other := launcher("w", corev1.ContainerStatus{State: running(at(99))})
	other.Labels[mpiv2beta1.JobRoleLabel] = "worker"
	look([]string{"0 a 0 3", "1 a 1 4", "2 a 2 -1", "3 b 0 0"}, launcher("b", corev1.ContainerStatus{State: exited(at(99), 0)}), other)

	// Only the latest are kept, with their numbers.
	for i := range 20 {
		seen = observeAttempts(seen, []corev1.Pod{launcher(fmt.Sprint("c", i), corev1.ContainerStatus{State: running(at(100 + i))})}, "launcher")
	}
	require.Len(t, seen, v1alpha1.MaxAttempts)
	require.EqualValues(t, 23, seen[len(seen)-1].Attempt)
}

// An earlier attempt is not the launcher that runs now: its pod may be gone, and the next one may not start.
func TestLauncherThatWaitsAgain(t *testing.T) {
	begin := func(t *testing.T) (*stage, *corev1.Pod) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.worker(1, traceable)
		s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
		s.settle()
		require.Equal(t, "the launcher is running", s.expect("Ready", isFalse, "Running"))
		first := &corev1.Pod{}
		require.NoError(t, s.Get(s.ctx, s.key("stencil-launcher-x"), first))
		return s, first
	}
	pending := func(s *stage) {
		s.Helper()
		s.launcherPod("stencil-launcher-y", corev1.ContainerStatus{})
		s.kubelet("stencil-launcher-y", func(status *corev1.PodStatus) {
			status.ContainerStatuses = nil
			status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available"}}
		})
		s.settle()
		require.Equal(s, "waiting for the launcher to start: pod stencil-launcher-y: 0/1 nodes are available", s.expect("Ready", isFalse, "Starting"))
	}
	t.Run("its pod is gone", func(t *testing.T) {
		s, first := begin(t)
		require.NoError(t, s.Delete(s.ctx, first, client.GracePeriodSeconds(0)))
		pending(s)
		require.Equal(t, []string{"0 0 -"}, s.attempts())
		s.launcherPod("stencil-launcher-y", corev1.ContainerStatus{State: running(s.clock.Now())})
		s.settle()
		require.Equal(t, "the launcher is running", s.expect("Ready", isFalse, "Running"))
	})
	t.Run("it ended with its pod", func(t *testing.T) {
		s, first := begin(t)
		first.Finalizers = []string{"test/keep"}
		require.NoError(t, s.Update(s.ctx, first))
		require.NoError(t, s.Delete(s.ctx, first, client.GracePeriodSeconds(0)))
		started := s.job().Status.Attempts[0].StartedAt
		state := exited(started.Time, 143)
		state.Terminated.FinishedAt = metav1.NewTime(time.Now().Add(time.Second))
		s.launcherPod(first.Name, corev1.ContainerStatus{State: state})
		s.settle()
		require.NotNil(t, s.job().Status.Attempts[0].FinishedAt)
		require.Nil(t, s.job().Status.Attempts[0].ExitCode)
		require.NoError(t, s.Get(s.ctx, s.key(first.Name), first))
		first.Finalizers = nil
		require.NoError(t, s.Update(s.ctx, first))
		pending(s)
	})
}
