package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The last recorded attempt is not the running launcher: its pod may be gone, and the next one may
// not start.
func TestLauncherThatWaitsAgain(t *testing.T) {
	t.Parallel()
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
