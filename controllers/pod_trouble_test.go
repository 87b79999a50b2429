package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
		{"done", in(corev1.ContainerStatus{Name: inject.ProbeContainer, State: terminated(0, "Completed", traceable)}), ""},
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
			require.Equal(t, test.want, startTrouble(corev1.Pod{Spec: spec, Status: test.status}))
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
	require.Equal(t, "pods stencil-worker-0, stencil-worker-1, stencil-worker-2 and 61 more: 0/2 nodes are available", summary(pods, startTrouble))
	for i := 64; i < 128; i++ {
		add(i, fmt.Sprint("trouble ", i))
	}
	require.Equal(t, "pods stencil-worker-0, stencil-worker-1, stencil-worker-2 and 61 more: 0/2 nodes are available; "+
		"pod stencil-worker-64: trouble 64; pod stencil-worker-65: trouble 65; and 62 more pods with other troubles", summary(pods, startTrouble))
	require.Empty(t, summary(nil, startTrouble))
}

const evictedMessage = `Usage of EmptyDir volume "cairn" exceeds the limit "272Mi". `

// kubelet writes the status of a worker's pod.
func (s *stage) kubelet(name string, change func(*corev1.PodStatus)) {
	s.Helper()
	made := &corev1.Pod{}
	require.NoError(s, s.Get(s.ctx, s.key(name), made))
	change(&made.Status)
	require.NoError(s, s.Status().Update(s.ctx, made))
}

// TestEvictionIsNamed: a worker is evicted, the launcher fails of it, and the pods are gone when the job has ended.
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
	failures := observePodFailures(nil, pods)
	require.Len(t, failures, maxPodFailures)
	require.Equal(t, "pod w-0 was ended by the cluster (PreemptionByScheduler): default-scheduler: preempting to accommodate a higher priority pod", failures[0])
	require.Equal(t, failures, observePodFailures(failures, pods), "seen again, noted once")
	require.Equal(t, "and 13 more in status.podFailures", boundedLines(failures)[3])
}

// An evicted pod of ours did not run out of memory, though its container was killed, too.
func TestEvictionOfOurOwnPod(t *testing.T) {
	o := readPods([]corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Status: corev1.PodStatus{
		Reason: "Evicted", Message: "The node was low on resource: ephemeral-storage.",
		ContainerStatuses: []corev1.ContainerStatus{ended(cairnContainer, "", 137)},
	}}})
	require.False(t, o.outOfMemory())
	require.Equal(t, "pod m was evicted: The node was low on resource: ephemeral-storage", o.String())
}

// TestInitContainerThatFails: a worker whose init container fails never becomes ready, and mpi-operator says nothing.
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

// A job that runs without storage has no tracer, and its pods no label of ours. It is followed all the same.
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
	require.True(t, 0 < s.after && s.after <= maxLook, "these pods start no pass: %v", s.after)

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
