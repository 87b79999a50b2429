package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/task"
)

const evictedMessage = `Usage of EmptyDir volume "cairn" exceeds the limit "272Mi". `

// kubelet writes the status of a worker's pod.
func (s *stage) kubelet(name string, change func(*corev1.PodStatus)) {
	s.Helper()
	made := &corev1.Pod{}
	require.NoError(s, s.Get(s.ctx, s.key(name), made))
	change(&made.Status)
	require.NoError(s, s.Status().Update(s.ctx, made))
}

// TestEvictionIsNamed: a worker is evicted, the launcher fails because of that, and the pods are
// gone when the job has ended.
func TestEvictionIsNamed(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.worker(0, traceable)
	s.worker(1, traceable)
	launcher := s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	s.settle()
	s.kubelet("stencil-worker-1", func(status *corev1.PodStatus) {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", evictedMessage
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "TerminationByKubelet", Message: evictedMessage})
	})
	s.kubelet("stencil-worker-0", func(status *corev1.PodStatus) {
		status.InitContainerStatuses = append(status.InitContainerStatuses, corev1.ContainerStatus{Name: inject.ShipContainer, RestartCount: 1,
			State:                running(s.clock.Now()),
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}})
	})
	s.settle()
	evicted := `pod stencil-worker-1 was evicted: Usage of EmptyDir volume "cairn" exceeds the limit "272Mi"`
	require.Contains(t, s.expect("JobFinished", isFalse, "Running"), evicted)
	require.Len(t, s.job().Status.PodFailures, 2)
	outOfMemory := s.job().Status.PodFailures[0]
	require.Regexp(t, `^pod stencil-worker-0: container cairn-ship ran out of memory \(limit \d+Mi\)$`, outOfMemory)

	for _, name := range []string{"stencil-worker-0", "stencil-worker-1"} {
		gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
		require.NoError(t, s.Delete(s.ctx, gone))
	}
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 7)})
	s.endJob(launcher, false)
	s.settle()
	require.Equal(t, "launcher exited with code 7; "+outOfMemory+"; "+evicted, s.expect("JobFinished", isTrue, "Failed"))
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[{"id":"0/0","ranks":4,"missing_ranks":"2-3","calls":7}],"run_count":1}`})
	s.settle()
	require.Equal(t, "run 0/0: no trace of ranks 2-3 of 4; "+outOfMemory+"; "+evicted, s.expect("TraceCollected", isFalse, "RanksMissing"))
}

func TestPreemptionIsNamed(t *testing.T) {
	pods := make([]corev1.Pod, 20)
	for i := range pods {
		pods[i].Name = fmt.Sprintf("w-%d", i)
		pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler",
			Message: "default-scheduler: preempting to accommodate a higher priority pod"}}
	}
	failures := podstatus.ObservePodFailures(nil, pods)
	require.Len(t, failures, podstatus.MaxPodFailures)
	require.Equal(t, "pod w-0 was ended by the cluster (PreemptionByScheduler): default-scheduler: preempting to accommodate a higher priority pod", failures[0])
	require.Equal(t, failures, podstatus.ObservePodFailures(failures, pods), "seen again, noted once")
	require.Equal(t, "and 13 more in status.podFailures", podstatus.BoundedLines(failures)[3])
}

// An evicted pod of Cairn did not run out of memory, although its container was killed, too.
func TestEvictionOfOurOwnPod(t *testing.T) {
	o := task.ReadPods([]corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Status: corev1.PodStatus{
		Reason: "Evicted", Message: "The node was low on resource: ephemeral-storage.",
		ContainerStatuses: []corev1.ContainerStatus{ended(task.MainContainer, "", 137)},
	}}})
	require.False(t, o.Killed())
	require.Equal(t, "pod m was evicted: The node was low on resource: ephemeral-storage", o.String())
}

// TestInitContainerThatFails: a worker with a failed init container never becomes ready, and
// mpi-operator does not report it.
func TestInitContainerThatFails(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.worker(0, traceable)
	s.kubelet("stencil-worker-0", func(status *corev1.PodStatus) {
		status.Phase = corev1.PodFailed
		status.InitContainerStatuses = []corev1.ContainerStatus{{Name: inject.ProbeContainer, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}}}
	})
	s.settle()
	starting := s.expect("JobFinished", isFalse, "Starting")
	require.Contains(t, starting, "pod stencil-worker-0: container cairn-probe ran out of memory (limit ")
	require.Equal(t, 1, strings.Count(starting, "ran out of memory"), "said once: %s", starting)
	message := s.expect("Traced", isFalse, "ProbeFailed")
	require.True(t, strings.HasPrefix(message, "pod stencil-worker-0: the probe ran out of memory (limit "), message)
}

// A job that runs without storage has no tracer, and its pods do not have Cairn's label. It is
// followed nevertheless.
func TestJobWithoutStorageIsFollowed(t *testing.T) {
	s := newStage(t)
	s.settings.Storage = nil
	s.apply()
	s.settle()
	s.letPass(3 * time.Minute)
	s.expect("Traced", isFalse, "NotConfigured")
	s.worker(0, "")
	s.worker(1, "")
	launcher := s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason: "ImagePullBackOff", Message: "no such image"}}})
	s.settle()
	require.Equal(t, "waiting for the launcher to start: pod stencil-launcher-x: container launcher: ImagePullBackOff: no such image",
		s.expect("Ready", isFalse, "Starting"))
	require.True(t, 0 < s.after && s.after <= maxEventInterval, "these pods start no pass: %v", s.after)

	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	s.kubelet("stencil-worker-1", func(status *corev1.PodStatus) {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", evictedMessage
	})
	s.settle()
	require.Len(t, s.job().Status.Attempts, 1)
	require.Contains(t, s.expect("JobFinished", isFalse, "Running"), "pod stencil-worker-1 was evicted")

	s.kubelet("stencil-worker-0", func(status *corev1.PodStatus) {
		status.Phase, status.Reason, status.Message = corev1.PodFailed, "Evicted", evictedMessage
	})
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 7)})
	s.endJob(launcher, false)
	s.settle()
	require.Contains(t, s.expect("JobFinished", isTrue, "Failed"), "pod stencil-worker-0 was evicted")
}
