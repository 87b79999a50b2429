package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/storage"
)

// While the job runs nothing else shows that the storage fails: it is checked every ten minutes.
func TestStorageFailsWhileTheJobRuns(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	s.settle()
	require.LessOrEqual(t, s.after, 10*time.Minute)
	require.NotZero(t, s.after)
	passed := s.batchJob(s.checkName())
	s.letPass(9 * time.Minute)
	require.Equal(t, passed.UID, s.batchJob(s.checkName()).UID)
	s.letPass(90 * time.Second)
	require.NotEqual(t, passed.UID, s.batchJob(s.checkName()).UID)
	s.ends(s.checkName(), pod{exitCode: 77, message: denied})
	s.settle()
	require.Contains(t, s.expect("StorageReady", isFalse, "AccessDenied"), "cairn-storage")
	s.expect("Ready", isFalse, "Running")
	s.expectEvents("Warning AccessDenied")
	require.InDelta(t, 10*time.Second, s.after, float64(3*time.Second), "sooner again than if it worked")
	s.letPass(11 * time.Second)
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
}

// While the job runs, the result of a check is read when it ends, even if nothing else happens.
func TestCheckIsReadWhileTheJobRuns(t *testing.T) {
	s := newStage(t)
	s.settings.Retry = time.Second
	s.clock.SetTime(time.Now().Add(time.Second - storage.CheckHolds))
	s.apply()
	s.passStorage()
	s.worker(0, traceable)
	s.worker(1, traceable)
	s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	s.settle()
	s.expect("JobFinished", isFalse, "Running")
	last := s.batchJob(s.checkName())

	defer s.operator()()
	replaced := func() bool {
		check := &batchv1.Job{}
		return s.exists(check, last.Name) && check.UID != last.UID
	}
	before := int64(-1)
	rests := func() bool {
		now := s.reads.Load()
		still := now == before
		before = now
		return still
	}
	for _, end := range []struct {
		pod
		reason string
	}{
		{pod{exitCode: 77, message: denied}, "AccessDenied"},
		{pod{message: storageWorks}, "Writable"},
	} {
		require.Eventually(t, replaced, patience, 20*time.Millisecond)
		last = s.batchJob(last.Name)
		require.Eventually(t, rests, patience, 300*time.Millisecond)
		s.clock.SetTime(time.Now())
		s.ends(last.Name, end.pod)
		s.eventually("StorageReady", end.reason)
	}
}

// Until a check has ended, the result of the previous one counts, unless a pod has reported
// something since.
func TestConditionStaysWhileTheStorageIsCheckedAgain(t *testing.T) {
	t.Parallel()
	t.Run("away", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		s.letPass(90 * time.Second)
		failed := s.batchJob(s.checkName())
		s.ends(failed.Name, pod{exitCode: 69, message: unreachable})
		s.settle()
		message := s.expect("StorageReady", isFalse, "Unreachable")
		s.letPass(11 * time.Second)
		require.NotEqual(t, failed.UID, s.batchJob(s.checkName()).UID)
		require.Equal(t, message, s.expect("StorageReady", isFalse, "Unreachable"), "the merge was before the failure")
	})
	t.Run("back", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.clock.SetTime(s.clock.Now().Add(15 * time.Minute))
		gaveUp := s.podOf(s.batchJob("stencil-cairn-merge-l0"), 0)
		require.NoError(t, s.Create(s.ctx, gaveUp))
		s.containerEnds(gaveUp, pod{exitCode: 69, message: `{"runs":[],"message":"away","storage":{"reason":"Unreachable","message":"no route to host"}}`})
		s.settle()
		s.expect("StorageReady", isFalse, "Unreachable")
		s.clock.SetTime(s.clock.Now().Add(2 * time.Second))
		passed := s.batchJob(s.checkName())
		s.ends(passed.Name, pod{message: storageWorks})
		s.settle()
		s.expect("StorageReady", isTrue, "Writable")
		s.letPass(90 * time.Second)
		require.NotEqual(t, passed.UID, s.batchJob(s.checkName()).UID)
		s.expect("StorageReady", isTrue, "Writable")
	})
}

// A suspended job uses no storage.
func TestSuspendedJobChecksNothing(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Suspend = true })
	s.passStorage()
	passed := s.batchJob(s.checkName())
	s.letPass(time.Hour)
	require.Equal(t, passed.UID, s.batchJob(s.checkName()).UID)
}

// A step that takes more than a minute may be waiting for its storage.
func TestStorageFailsWhileAStepWaits(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	passed := s.batchJob(s.checkName())
	require.LessOrEqual(t, s.after, time.Minute)
	require.NotZero(t, s.after)
	s.letPass(90 * time.Second)
	require.NotEqual(t, passed.UID, s.batchJob(s.checkName()).UID)
	s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
	s.settle()
	require.Contains(t, s.expect("StorageReady", isFalse, "Unreachable"), "http://minio:9000")
	require.Contains(t, s.expect("Ready", isFalse, "Collecting"), "the storage does not work (Unreachable)")

	// What the merge does afterwards shows that it works again.
	s.clock.SetTime(s.clock.Now().Add(5 * time.Second))
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
	s.expect("Ready", isFalse, "Analyzing")
}

// A process that gave up after its own wait is followed by another, and meanwhile reports which
// pods cannot reach what.
func TestPodsReportThatTheStorageIsAway(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.clock.SetTime(s.clock.Now().Add(15 * time.Minute))
	job := s.batchJob("stencil-cairn-merge-l0")
	gaveUp := s.podOf(job, 0)
	require.NoError(t, s.Create(s.ctx, gaveUp))
	s.containerEnds(gaveUp, pod{exitCode: 69, message: `{"runs":[],"message":"away","storage":{"reason":"Unreachable","message":"no route to host"}}`})
	s.settle()
	message := s.expect("StorageReady", isFalse, "Unreachable")
	require.Contains(t, message, "pod "+gaveUp.Name+" (merge): no response from http://minio:9000 for bucket traces in namespace "+s.namespace)
	s.expect("Ready", isFalse, "Collecting")
	require.Nil(t, s.job().Status.CompletionTime)
}

// ShipEnds plays the kubelet: the sidecar of a worker ends with a message.
func (s *stage) shipEnds(worker, message string) {
	s.Helper()
	made := &corev1.Pod{}
	require.NoError(s, s.Get(s.ctx, s.key(worker), made))
	made.Status.InitContainerStatuses = append(made.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: inject.ShipContainer,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Message: message, FinishedAt: metav1.NewTime(s.clock.Now())}},
	})
	require.NoError(s, s.Status().Update(s.ctx, made))
}

// Only the sidecar knows what it could not send, since the storage did not respond.
func TestRanksThatWereNotSentAreNamed(t *testing.T) {
	t.Parallel()
	lost := `{"lost":["stencil-worker-0: world ab, ranks 0-1"],"lost_count":1,"storage":{"reason":"Unreachable","message":"no route to host"}}`
	begin := func(t *testing.T) *stage {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.worker(1, traceable)
		s.settle()
		s.clock.SetTime(s.clock.Now().Add(time.Minute))
		s.shipEnds("stencil-worker-0", lost)
		s.settle()
		require.Contains(t, s.expect("StorageReady", isFalse, "Unreachable"), "the sidecar of pod stencil-worker-0: no response")
		require.Equal(t, []string{"stencil-worker-0: world ab, ranks 0-1"}, s.job().Status.Lost)
		s.shipEnds("stencil-worker-1", `{"lost":["stencil-worker-1: world ab, ranks 2-3"],"lost_count":12}`)
		s.settle()
		worker := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stencil-worker-0", Namespace: s.namespace}}
		require.NoError(t, s.Delete(s.ctx, worker), "the status keeps what the pod said")
		s.finishLauncher(0)
		s.settle()
		return s
	}
	t.Run("all", func(t *testing.T) {
		s := begin(t)
		s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[],"run_count":0}`})
		s.settle()
		message := s.expect("Ready", isFalse, "NoTrace")
		require.Contains(t, message, "stencil-worker-0: world ab, ranks 0-1; stencil-worker-1: world ab, ranks 2-3; pod stencil-worker-1: 11 more worlds")
		require.Empty(t, s.job().Status.Analyses, "there is nothing to compute them from")
	})
	t.Run("some", func(t *testing.T) {
		s := begin(t)
		s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[{"id":"0/0","ranks":8,"missing_ranks":"0-3"}],"run_count":1}`})
		s.settle()
		require.Equal(t, "run 0/0: no trace of ranks 0-3 of 8; not sent: stencil-worker-0: world ab, ranks 0-1; stencil-worker-1: world ab, ranks 2-3; pod stencil-worker-1: 11 more worlds",
			s.expect("TraceCollected", isFalse, "RanksMissing"))
	})
}

// A storage that never worked has no data, so there is nothing to delete.
func TestDeleteWithStorageThatNeverWorked(t *testing.T) {
	t.Parallel()
	withDelete := func(j *v1alpha1.TracedMPIJob) { j.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	gone := func(s *stage) bool { return !s.exists(&v1alpha1.TracedMPIJob{}, "stencil") }
	t.Run("while it waits for it", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.settle()
		s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
		s.settle()
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.True(t, gone(s))
	})
	t.Run("after a start without it", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.settle()
		s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
		s.letPass(3 * time.Minute)
		s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
		s.settle()
		require.NotNil(t, s.job().Status.MPIJobRef)
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.True(t, gone(s))
		s.expectEvents("Normal NothingToDelete")
	})
	t.Run("unless it works now", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.settle()
		s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
		s.letPass(3 * time.Minute)
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.False(t, gone(s))
		s.ends(s.checkName(), pod{message: storageWorks})
		s.settle()
		require.True(t, s.exists(&batchv1.Job{}, "stencil-cairn-delete-0"))
		s.ends("stencil-cairn-delete-0", pod{})
		s.settle()
		require.True(t, gone(s))
	})
}
