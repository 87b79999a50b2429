package controllers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

const (
	isTrue  = metav1.ConditionTrue
	isFalse = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

// TestFromApplyToReport follows one job from creation to report. Every settle uses a new operator
// that only knows what the API server has.
func TestFromApplyToReport(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.settle()
	require.Contains(t, s.expect("Ready", isFalse, "Checking"), "checking the storage")
	s.expect("StorageReady", unknown, "Checking")
	s.expect("JobFinished", isFalse, "NotCreated")
	require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"), "no MPIJob before the storage works")

	check := s.batchJob(s.checkName())
	uri := "s3://traces/lab/" + s.namespace + "/stencil/" + string(s.job().UID)
	require.Equal(t, []string{"check-storage", "--store", "s3://traces/lab/" + s.namespace}, check.Spec.Template.Spec.Containers[0].Args)
	s.ends(check.Name, pod{message: storageWorks})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
	require.Equal(t, uri, s.job().Status.StorageURI)

	mpiJob := s.mpiJob()
	require.Equal(t, "fast", mpiJob.Labels["queue"])
	require.Len(t, mpiJob.Spec.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers, 3)
	require.Equal(t, mpiJob.UID, s.job().Status.MPIJobRef.UID)
	s.expect("JobFinished", isFalse, "Starting")
	s.expect("Traced", unknown, "Pending")

	s.worker(0, traceable)
	s.worker(1, traceable)
	launcher := s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	s.settle()
	require.Contains(t, s.expect("Traced", isTrue, "Traceable"), "Open MPI 4.1.4")
	s.expect("JobFinished", isFalse, "Running")
	s.expect("Ready", isFalse, "Running")

	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 0)})
	s.endJob(launcher, true)
	s.settle()
	require.Equal(t, "launcher exited with code 0", s.expect("JobFinished", isTrue, "Succeeded"))
	s.expect("Ready", isFalse, "Collecting")

	merge := s.batchJob("stencil-cairn-merge-l0")
	require.EqualValues(t, 1, *merge.Spec.Completions)
	require.Equal(t, batchv1.IndexedCompletion, *merge.Spec.CompletionMode)
	require.Equal(t, []string{"report", "--job", "--store", uri, "--wait", "--analyses", "critical-path,clustering"}, merge.Spec.Template.Spec.Containers[0].Args)
	args := merge.Spec.Template.Spec.InitContainers[0].Args
	require.Equal(t, []string{"merge", "--job", "--store", uri, "--collect-timeout", "300", "--pods", "3", "--fan-in", "0", "--attempts"}, args[:11])
	var attempts []map[string]any
	require.NoError(t, json.Unmarshal([]byte(args[11]), &attempts))
	require.Len(t, attempts, 1)
	require.Contains(t, attempts[0], "pod_uid")
	require.Contains(t, attempts[0], "restart_count")
	require.Contains(t, attempts[0], "started_at")
	s.ends(merge.Name, pod{message: oneRun})
	s.settle()
	s.expect("TraceCollected", isTrue, "AllRanks")
	require.Equal(t, "one run", s.expect("TraceMerged", isTrue, "Merged"))
	s.expect("Ready", isFalse, "Analyzing")

	path := s.batchJob("stencil-cairn-critical-path")
	require.Equal(t, []string{"analyze", "--job", "--store", uri, "--analysis", "critical-path", "--index", "$(JOB_COMPLETION_INDEX)", "--of", "1"},
		path.Spec.Template.Spec.Containers[0].Args)
	s.ends(path.Name, pod{message: `{"ok":true}`})
	s.settle()
	require.Equal(t, []v1alpha1.AnalysisStatus{{Name: "critical-path", State: "Succeeded"}, {Name: "clustering", State: "Running"}}, s.job().Status.Analyses)
	s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
	s.settle()
	s.expect("Analyzed", isTrue, "AllSucceeded")
	s.expect("Ready", isFalse, "Reporting")

	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
	require.Contains(t, s.expect("Ready", isTrue, "ReportReady"), "Rank 3 is slow")
	status := s.job().Status
	require.Equal(t, "Rank 3 is slow", status.Verdict)
	require.NotNil(t, status.CompletionTime)
	require.EqualValues(t, 1, status.RunCount)
	require.Equal(t, v1alpha1.Run{
		ID: "0/0", Ranks: 4, Calls: 1234, TraceBytes: 2345, TraceURI: "s3://traces/t", ReportURI: "s3://traces/r",
		ParallelEfficiencyPercent: ptr.To[int32](88), Clusters: 9, Topology: "2 x 2 grid",
	}, status.Runs[0])

	require.NotContains(t, s.jobNames(), "stencil-cairn-report", "the pod that merged has reported")
	for _, name := range []string{"merge-l0", "critical-path", "clustering"} {
		ttl := s.batchJob("stencil-cairn-" + name).Spec.TTLSecondsAfterFinished
		require.NotNil(t, ttl, name)
		require.EqualValues(t, 3600, *ttl)
	}

	// When the Jobs are gone, the status still has everything, and nothing is redone.
	require.NoError(t, s.DeleteAllOf(s.ctx, &batchv1.Job{}, client.InNamespace(s.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.settle()
	require.Empty(t, s.jobNames())
	s.expect("Ready", isTrue, "ReportReady")
	s.expectEvents("Normal Writable StorageReady", "Normal Succeeded JobFinished", "Normal ReportReady Ready")
}

// TestJobsOnlyExpireOnceTheirResultIsSaved: until the end no Job has a time to live.
func TestJobsOnlyExpireOnceTheirResultIsSaved(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	for _, name := range []string{"stencil-cairn-merge-l0", "stencil-cairn-clustering"} {
		require.Nil(t, s.batchJob(name).Spec.TTLSecondsAfterFinished, name)
	}
}

func TestFailedLauncherStillGetsAReport(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(3)
	require.Equal(t, "launcher exited with code 3", s.expect("JobFinished", isTrue, "Failed"))
	s.finish()
	s.expect("Ready", isTrue, "JobFailedReportReady")
	require.Equal(t, "Rank 3 is slow", s.job().Status.Verdict)
}

func TestTwoAttempts(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Minute).Truncate(time.Second)
	t.Run("restarts in one pod", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		launcher := s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(start)})
		s.settle()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{
			RestartCount: 1, State: running(start.Add(20 * time.Second)), LastTerminationState: exited(start, 3),
		})
		s.settle()
		// The Job gives up and deletes the pod; mpirun ends on the signal.
		doomed := &corev1.Pod{}
		require.NoError(t, s.Get(s.ctx, s.key("stencil-launcher-x"), doomed))
		doomed.Finalizers = []string{"test/keep"}
		require.NoError(t, s.Update(s.ctx, doomed))
		require.NoError(t, s.Delete(s.ctx, doomed, client.GracePeriodSeconds(0)))
		ended := exited(start.Add(20*time.Second), 1)
		ended.Terminated.FinishedAt = metav1.NewTime(time.Now().Add(time.Second))
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{RestartCount: 1, State: ended, LastTerminationState: exited(start, 3)})
		s.settle()
		s.endJob(launcher, false)
		s.settle()
		require.Equal(t, "launcher exited with code 3", s.expect("JobFinished", isTrue, "Failed"))
		require.Equal(t, []string{"0 0 3", "1 1 -"}, s.attempts())
	})
	t.Run("a new pod each", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		launcher := s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(start, 3)})
		s.settle()
		s.launcherPod("stencil-launcher-y", corev1.ContainerStatus{State: exited(start.Add(10*time.Second), 4)})
		s.endJob(launcher, false)
		s.settle()
		require.Equal(t, "launcher exited with code 4", s.expect("JobFinished", isTrue, "Failed"))
		require.Equal(t, []string{"0 0 3", "1 0 4"}, s.attempts())
		var sent []map[string]any
		args := s.batchJob("stencil-cairn-merge-l0").Spec.Template.Spec.InitContainers[0].Args
		require.NoError(t, json.Unmarshal([]byte(args[len(args)-1]), &sent))
		require.Len(t, sent, 2)
	})
}

func TestMissingRanksAreNamed(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[{"id":"0/0","ranks":4,"missing_ranks":"2-3","calls":7}],"run_count":1,"lost":"pod stencil-worker-1"}`})
	s.settle()
	require.Equal(t, "run 0/0: no trace of ranks 2-3 of 4; lost: pod stencil-worker-1", s.expect("TraceCollected", isFalse, "RanksMissing"))
	s.expect("TraceMerged", isTrue, "Merged")
	require.Equal(t, "2-3", s.job().Status.Runs[0].MissingRanks)
}

func TestRanksThatEndedEarlyAreNamed(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[{"id":"0/0","ranks":4,"ended_early":"1,3","calls":7}],"run_count":1}`})
	s.settle()
	require.Equal(t, "the traces of all ranks arrived; run 0/0: ranks 1,3 ended before MPI_Finalize", s.expect("TraceCollected", isTrue, "AllRanks"))
}

// A job with more shards than the fan-in is merged in levels: each Job follows the one before, and
// the last answers.
func TestMergeInLevels(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Merge.FanIn = ptr.To[int32](2) })
	s.runToMerge(0)
	require.Contains(t, s.batchJob("stencil-cairn-merge-l0").Spec.Template.Spec.Containers[0].Args, "2")
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[],"run_count":0,"levels":[3,2,1],"message":""}`})
	s.settle()
	require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l2")
	for level, parts := range []int32{3, 2, 1} {
		name := fmt.Sprintf("stencil-cairn-merge-l%d", level+1)
		job := s.batchJob(name)
		require.Equal(t, parts, *job.Spec.Completions)
		require.Equal(t, parts, *job.Spec.Parallelism)
		require.Equal(t, batchv1.IndexedCompletion, *job.Spec.CompletionMode)
		require.Equal(t, []string{"merge", "--job", "--store", s.job().Status.StorageURI, "--level", fmt.Sprint(level + 1),
			"--index", "$(JOB_COMPLETION_INDEX)"}, job.Spec.Template.Spec.Containers[0].Args)
		s.expect("TraceMerged", metav1.ConditionUnknown, "Collecting")
		if level < 2 {
			var pods []pod
			for i := range parts {
				pods = append(pods, pod{index: int(i)})
			}
			s.ends(name, pods...)
		}
		s.settle()
	}
	s.ends("stencil-cairn-merge-l3", pod{message: oneRun})
	s.settle()
	s.expect("TraceMerged", isTrue, "Merged")
	s.expect("TraceCollected", isTrue, "AllRanks")
	require.Len(t, s.job().Status.Runs, 1)
}

// A level that fails permanently ends the merge, with a reason.
func TestALevelOfTheMergeFails(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[],"levels":[2,1]}`})
	s.settle()
	s.ends("stencil-cairn-merge-l1", pod{index: 0}, pod{index: 1, exitCode: 70, message: "no space left"})
	s.settle()
	require.Contains(t, s.expect("Ready", isFalse, "MergeFailed"), "no space left")
	require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l2")
}

func TestNoTrace(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[],"run_count":0}`})
	s.settle()
	require.Contains(t, s.expect("Ready", isFalse, "NoTrace"), "no MPI rank left a trace")
	s.expect("TraceMerged", isFalse, "NoTrace")
	s.expect("Analyzed", isFalse, "NoTrace")
	require.NotNil(t, s.job().Status.CompletionTime)
}

func TestMergeFails(t *testing.T) {
	t.Parallel()
	t.Run("bad data", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{exitCode: 65, message: "shard x: checksum mismatch"})
		s.settle()
		message := s.expect("Ready", isFalse, "MergeFailed")
		require.Contains(t, message, "checksum mismatch")
		require.Contains(t, message, "/shards")
		require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0-r1")
	})
	t.Run("out of memory, then it works", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{exitCode: 137, reason: "OOMKilled"})
		s.settle()
		s.expect("Ready", isFalse, "Collecting")
		first, second := s.batchJob("stencil-cairn-merge-l0"), s.batchJob("stencil-cairn-merge-l0-r1")
		memory := func(j *batchv1.Job) int64 {
			return j.Spec.Template.Spec.Containers[0].Resources.Limits.Memory().Value()
		}
		require.Equal(t, 2*memory(first), memory(second))
		s.ends(second.Name, pod{message: oneRun})
		s.settle()
		s.expect("TraceMerged", isTrue, "Merged")
	})
	t.Run("always out of memory", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		for _, name := range []string{"merge-l0", "merge-l0-r1", "merge-l0-r2"} {
			s.ends("stencil-cairn-"+name, pod{exitCode: 137, reason: "OOMKilled"})
			s.settle()
		}
		require.Contains(t, s.expect("Ready", isFalse, "MergeFailed"), "out of memory")
	})
	t.Run("the answer is lost with its pod", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.endJob(s.batchJob("stencil-cairn-merge-l0"), true)
		s.settle()
		s.ends("stencil-cairn-merge-l0-r1", pod{message: oneRun})
		s.settle()
		s.expect("TraceMerged", isTrue, "Merged")
	})
}

func TestOneAnalysisFails(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *stage {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[{"id":"0/0","ranks":4},{"id":"0/1","ranks":4}],"run_count":2}`})
		s.settle()
		require.EqualValues(t, 2, *s.batchJob("stencil-cairn-clustering").Spec.Completions)
		s.ends("stencil-cairn-clustering", pod{index: 0}, pod{index: 1})
		return s
	}
	t.Run("and says so to the report", func(t *testing.T) {
		s := begin(t)
		s.ends("stencil-cairn-critical-path", pod{index: 0, message: `{"ok":true}`},
			pod{index: 1, exitCode: 65, message: `{"analysis":"critical-path","index":1,"failed":"0/1: no times","message":"no times"}`})
		s.settle()
		require.Contains(t, s.expect("Analyzed", isFalse, "AnalysisFailed"), "no times")
		s.expect("Ready", isFalse, "Reporting")
		require.True(t, s.exists(&batchv1.Job{}, "stencil-cairn-merge-l0"))
		s.ends("stencil-cairn-report", pod{message: verdict})
		s.settle()
		s.expect("Ready", isTrue, "ReportReady")
		require.NotContains(t, s.jobNames(), "stencil-cairn-report")
	})
	t.Run("and leaves nothing that the report could wait for", func(t *testing.T) {
		s := begin(t)
		for _, name := range []string{"critical-path", "critical-path-r1", "critical-path-r2"} {
			s.ends("stencil-cairn-"+name, pod{index: 0}, pod{index: 1, exitCode: 137, reason: "OOMKilled"})
			s.settle()
		}
		require.Contains(t, s.expect("Analyzed", isFalse, "AnalysisFailed"), "critical-path: out of memory")
		s.expect("Ready", isFalse, "Reporting")
		waiting := s.batchJob("stencil-cairn-merge-l0")
		require.NotNil(t, waiting.DeletionTimestamp, "nobody waits for what will not come")
		require.Equal(t, []string{metav1.FinalizerDeleteDependents}, waiting.Finalizers)
		require.NotContains(t, s.jobNames(), "stencil-cairn-report", "one of them writes at a time")
		waiting.Finalizers = nil
		require.NoError(t, s.Update(s.ctx, waiting))
		s.settle()
		require.Equal(t, []string{"report", "--job", "--store", s.job().Status.StorageURI},
			s.batchJob("stencil-cairn-report").Spec.Template.Spec.Containers[0].Args)
		s.ends("stencil-cairn-report", pod{message: verdict})
		s.settle()
		s.expect("Ready", isTrue, "ReportReady")
	})
}

func TestReportFails(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *stage {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Analyses = []v1alpha1.Analysis{{Name: "clustering"}} })
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		require.NotContains(t, s.jobNames(), "stencil-cairn-critical-path")
		s.ends("stencil-cairn-clustering", pod{})
		s.settle()
		return s
	}
	t.Run("storage away for a day", func(t *testing.T) {
		s := begin(t)
		s.ends("stencil-cairn-report", pod{exitCode: 69, message: `{"runs":[],"message":"x","storage":{"reason":"Unreachable","message":"no route to host"}}`})
		s.settle()
		message := s.expect("Ready", isFalse, "ReportFailed")
		require.Contains(t, message, "no route to host")
		require.Contains(t, message, "http://minio:9000")
		require.NotContains(t, message, "{")
		require.Contains(t, s.expect("StorageReady", isFalse, "Unreachable"), "pod stencil-cairn-merge-l0-")
	})
	t.Run("in the pod that merged, then in one of its own", func(t *testing.T) {
		s := begin(t)
		s.ends("stencil-cairn-report", pod{exitCode: 137, reason: "OOMKilled"})
		s.settle()
		s.ends("stencil-cairn-report", pod{exitCode: 70, message: "no space left"})
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "ReportFailed"), "no space left")
	})
}

func TestTTL(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) })
	s.runToMerge(0)
	s.finish()
	require.InDelta(t, time.Minute, s.after, float64(2*time.Second))
	s.clock.SetTime(s.clock.Now().Add(61 * time.Second))
	s.settle()
	require.False(t, s.exists(&v1alpha1.TracedMPIJob{}, "stencil"))
}

// expectEvents asserts that events with these beginnings were sent.
func (s *stage) expectEvents(wanted ...string) {
	s.Helper()
	var got []string
	for len(s.events.Events) > 0 {
		got = append(got, <-s.events.Events)
	}
	for _, want := range wanted {
		found := false
		for _, event := range got {
			found = found || len(event) >= len(want) && event[:len(want)] == want || containsAll(event, want)
		}
		require.True(s, found, "%q is not among %q", want, got)
	}
}
