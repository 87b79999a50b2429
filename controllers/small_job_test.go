package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// The pod that merged waits for the findings. Its replacement would merge again, and remove the
// findings of the analyses since then: the Job is deleted before it creates one, and a separate Job
// writes the report.
func TestPodOfTheMergeDies(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*stage, *batchv1.Job) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		s.ends("stencil-cairn-critical-path", pod{message: `{"ok":true}`})
		s.settle()
		s.expect("Ready", isFalse, "Analyzing")
		job := s.batchJob("stencil-cairn-merge-l0")
		evicted := s.podOf(job, 0)
		evicted.Status.Phase = corev1.PodFailed
		evicted.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
		require.NoError(t, s.Status().Update(s.ctx, evicted))
		return s, job
	}
	t.Run("and is not replaced", func(t *testing.T) {
		s, job := begin(t)
		s.settle()
		require.NotNil(t, s.batchJob(job.Name).DeletionTimestamp)
		s.collectGarbage()
		s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
		s.settle()
		s.ends("stencil-cairn-report", pod{message: verdict})
		s.settle()
		s.expect("Ready", isTrue, "ReportReady")
		require.Len(t, s.job().Status.Runs, 1)
	})
	t.Run("and is replaced while no operator looks", func(t *testing.T) {
		s, job := begin(t)
		s.later(10 * time.Second) // the Job controller waits at least as long
		require.NoError(t, s.Create(s.ctx, s.podOf(job, 1)))
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Analyzing"), "waiting for the pod of the merge to end")
		require.NotContains(t, s.jobNames(), "stencil-cairn-critical-path-t1")
		s.collectGarbage()
		for _, name := range []string{"critical-path", "clustering"} {
			s.ends("stencil-cairn-"+name+"-t1", pod{message: `{"ok":true}`})
		}
		s.settle()
		s.ends("stencil-cairn-report-t1", pod{message: verdict})
		s.settle()
		s.expect("Ready", isTrue, "ReportReady")
	})
}

// A job that is merged in levels has a separate Job for the report.
func TestLargeJobReportsByItself(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Merge.FanIn = ptr.To[int32](2) })
	s.runToMerge(0)
	merge := s.batchJob("stencil-cairn-merge-l0")
	require.Empty(t, merge.Spec.Template.Spec.InitContainers)
	require.Equal(t, "merge", merge.Spec.Template.Spec.Containers[0].Args[0])
	s.finish()
	s.expect("Ready", isTrue, "ReportReady")
	require.True(t, s.exists(&batchv1.Job{}, "stencil-cairn-report"))
}

// Without analyses the report follows the merge at once.
func TestNoAnalyses(t *testing.T) {
	s := newStage(t)
	s.applyWithoutAnalyses()
	s.runToMerge(0)
	require.Equal(t, []string{"--wait", "--analyses", ""}, s.batchJob("stencil-cairn-merge-l0").Spec.Template.Spec.Containers[0].Args[4:])
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.expect("Analyzed", isTrue, "AllSucceeded")
	s.expect("Ready", isFalse, "Reporting")
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

// A report that was lost with its pod is written again, by a Job of its own.
func TestReportIsLostWithItsPod(t *testing.T) {
	s := newStage(t)
	s.applyWithoutAnalyses()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	job := s.batchJob("stencil-cairn-merge-l0")
	require.NoError(t, s.Delete(s.ctx, s.podOf(job, 0)))
	s.endJob(job, true)
	s.settle()
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

// The list of analyses is fixed when the merge begins: the report that waits in its pod waits for
// these.
func TestAnalysesChangeInTheMiddle(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, first, then []v1alpha1.Analysis) *stage {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Analyses = first })
		s.runToMerge(0)
		args := s.batchJob("stencil-cairn-merge-l0").Spec.Template.Spec.Containers[0].Args
		require.Equal(t, string(first[0].Name), args[len(args)-1])
		job := s.job()
		require.Equal(t, []v1alpha1.AnalysisStatus{{Name: first[0].Name, State: "Pending"}}, job.Status.Analyses)
		job.Spec.Analyses = then
		require.NoError(t, s.Update(s.ctx, job))
		s.settle()
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		return s
	}
	clusters, path := v1alpha1.Analysis{Name: "clustering"}, v1alpha1.Analysis{Name: "critical-path"}
	for name, then := range map[string][]v1alpha1.Analysis{"one is added": {path, clusters}, "another is asked for": {path}} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, []v1alpha1.Analysis{clusters}, then)
			require.NotContains(t, s.jobNames(), "stencil-cairn-critical-path")
			s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
			s.settle()
			s.expect("Analyzed", isTrue, "AllSucceeded")
			s.ends("stencil-cairn-report", pod{message: verdict})
			s.settle()
			s.expect("Ready", isTrue, "ReportReady")
		})
	}
	t.Run("a retry of the merge takes those that are asked for now", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Analyses = []v1alpha1.Analysis{clusters} })
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{exitCode: 65, message: "checksum mismatch"})
		s.settle()
		job := s.job()
		job.Spec.Analyses = []v1alpha1.Analysis{path}
		require.NoError(t, s.Update(s.ctx, job))
		s.annotate("1")
		args := s.batchJob("stencil-cairn-merge-l0-t1").Spec.Template.Spec.Containers[0].Args
		require.Equal(t, "critical-path", args[len(args)-1])
		s.ends("stencil-cairn-merge-l0-t1", pod{message: oneRun})
		s.settle()
		require.Contains(t, s.jobNames(), "stencil-cairn-critical-path-t1")
		require.NotContains(t, s.jobNames(), "stencil-cairn-clustering-t1")
	})
}

// If a quota or a queue has room for only one of Cairn's pods, the one that merged and waits is
// stopped.
func TestWaitingReportMakesRoom(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *stage {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		return s
	}
	// start acts as Job controller and kubelet: a pod of an analysis exists, in a phase.
	start := func(s *stage, name string, phase corev1.PodPhase) {
		s.Helper()
		made := s.podOf(s.batchJob(name), 0)
		require.NoError(s, s.Create(s.ctx, made))
		made.Status.Phase = phase
		require.NoError(s, s.Status().Update(s.ctx, made))
	}
	t.Run("no pod", func(t *testing.T) {
		s := begin(t)
		s.letPass(time.Minute)
		require.Nil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
		require.True(t, 0 < s.after && s.after <= maxRoomWait, "nothing else starts a pass: %v", s.after)
		s.letPass(2 * time.Minute)
		require.NotNil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
		s.collectGarbage()
		for _, name := range []string{"critical-path", "clustering"} {
			s.ends("stencil-cairn-"+name, pod{message: `{"ok":true}`})
		}
		s.settle()
		require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0")
		s.ends("stencil-cairn-report", pod{message: verdict})
		s.settle()
		s.expect("Ready", isTrue, "ReportReady")
	})
	t.Run("suspended by a queue", func(t *testing.T) {
		s := begin(t)
		start(s, "stencil-cairn-clustering", corev1.PodRunning)
		job := s.batchJob("stencil-cairn-critical-path")
		job.Spec.Suspend = ptr.To(true)
		require.NoError(t, s.Update(s.ctx, job))
		s.settle()
		require.True(t, 0 < s.after && s.after <= maxRoomWait, "nothing else starts a pass: %v", s.after)
		s.letPass(3 * time.Minute)
		require.NotNil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
	})
	t.Run("a pod that is not scheduled", func(t *testing.T) {
		s := begin(t)
		start(s, "stencil-cairn-clustering", corev1.PodRunning)
		start(s, "stencil-cairn-critical-path", corev1.PodPending)
		s.letPass(3 * time.Minute)
		require.NotNil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
	})
	t.Run("an analysis whose Job is refused", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.quota("count/jobs.batch", "0")
		s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
		s.settle()
		s.expect("Ready", isFalse, "Refused")
		require.Nil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
		s.letPass(3 * time.Minute)
		require.NotNil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
	})
	t.Run("there is room", func(t *testing.T) {
		s := begin(t)
		start(s, "stencil-cairn-clustering", corev1.PodRunning)
		start(s, "stencil-cairn-critical-path", corev1.PodFailed)
		s.letPass(time.Hour)
		require.Nil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
	})
}

// A pod with the labels of the merge's Job, created by somebody else, is not its replacement.
func TestForgedSuccessorOfTheMerge(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	merge := s.batchJob("stencil-cairn-merge-l0")
	s.later(time.Second)
	for name, owner := range s.strangers() {
		s.forge("merge-"+name, map[string]string{batchv1.ControllerUidLabel: string(merge.UID)}, corev1.PodStatus{Phase: corev1.PodRunning}, owner...)
	}
	s.settle()
	require.Nil(t, s.job().Status.Retry, "the analyses go on")
	require.Nil(t, s.batchJob("stencil-cairn-merge-l0").DeletionTimestamp)
	for _, name := range []string{"critical-path", "clustering"} {
		s.ends("stencil-cairn-"+name, pod{message: `{"ok":true}`})
	}
	s.settle()
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}
