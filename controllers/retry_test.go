package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

const refusedMessage = `{"runs":[],"message":"refused","storage":{"reason":"AccessDenied","message":"403 InvalidAccessKeyId"}}`

// annotate requests a retry, as a user does.
func (s *stage) annotate(nonce string) {
	s.Helper()
	s.writeNonce(nonce)
	s.settle()
}

func (s *stage) writeNonce(nonce string) {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.RetryAnnotation, nonce)
	require.NoError(s, s.Patch(s.ctx, s.job(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

// noJobs is a client that cannot list Jobs.
type noJobs struct{ client.Client }

func (c noJobs) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*batchv1.JobList); is {
		return errors.New("the API server is away")
	}
	return c.Client.List(ctx, list, options...)
}

// mend repairs the storage a minute later, as a user does: the checks before that fail, the next
// one passes.
func (s *stage) mend() {
	s.Helper()
	s.later(time.Second)
	s.settle()
	s.ends(s.checkName(), pod{exitCode: 77, message: denied})
	s.settle()
	s.expect("Ready", isFalse, "StorageNotReady")
	s.letPass(time.Minute)
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
}

// refused is the end of a step whose access the storage refused.
var refused = pod{exitCode: 77, message: refusedMessage}

// waitsForAPerson checks that the status reports that the step waits, for what, and what to do.
func (s *stage) waitsForAPerson(step string) {
	s.Helper()
	message := s.expect("StorageReady", isFalse, "AccessDenied")
	for _, want := range []string{"cairn-storage", s.namespace, "bucket traces", "http://minio:9000", "403 InvalidAccessKeyId", "kubectl apply -f -"} {
		require.Contains(s, message, want)
	}
	require.Contains(s, s.expect("Ready", isFalse, "StorageNotReady"), "the step "+step+" waits")
	require.Nil(s, s.job().Status.CompletionTime)
}

// A step whose access the storage refuses waits for a user. It starts again by itself when the
// storage has been repaired.
func TestRefusedMerge(t *testing.T) {
	t.Parallel()
	waiting := func(t *testing.T) *stage {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.later(time.Second)
		s.ends("stencil-cairn-merge-l0", refused)
		s.settle()
		s.waitsForAPerson("merge")
		return s
	}
	t.Run("until the storage is mended", func(t *testing.T) {
		s := waiting(t)
		s.expect("TraceMerged", unknown, "Collecting")
		s.settings.Image = "cairn:newer"
		s.mend()
		s.expect("Ready", isFalse, "Collecting")
		require.Equal(t, v1alpha1.RetryStatus{Count: 1}, *s.job().Status.Retry)
		again := s.batchJob("stencil-cairn-merge-l0-t1")
		require.Equal(t, "cairn:test", again.Spec.Template.Spec.Containers[0].Image, "only a person asks for another image")

		// Refused again although the check passes: the delays grow.
		s.later(time.Second)
		s.ends(again.Name, refused)
		s.settle()
		s.later(time.Second)
		s.ends(s.checkName(), pod{message: storageWorks})
		s.settle()
		require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0-t2")
		s.letPass(21 * time.Second)
		s.ends("stencil-cairn-merge-l0-t2", pod{message: oneRun})
		s.settle()
		s.expect("TraceMerged", isTrue, "Merged")
	})
	t.Run("nobody comes", func(t *testing.T) {
		s := waiting(t)
		s.letPass(8 * 24 * time.Hour)
		require.Contains(t, s.expect("Ready", isFalse, "MergeFailed"), "are refused for bucket traces")
		require.NotNil(t, s.job().Status.CompletionTime)
	})
	t.Run("the checks pass, and it is refused all the same", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		name, starts := "stencil-cairn-merge-l0", 0
		for s.job().Status.CompletionTime == nil {
			require.Less(t, starts, 9, "after a week nobody comes")
			s.later(time.Second)
			s.ends(name, refused)
			s.settle()
			if s.job().Status.CompletionTime != nil {
				break
			}
			s.later(time.Second)
			s.ends(s.checkName(), pod{message: storageWorks})
			s.settle()
			s.letPass(refusal.MaxRetryPause)
			require.NotNil(t, s.batchJob(name).Spec.TTLSecondsAfterFinished, "nobody reads it any more")
			starts++
			name = fmt.Sprintf("stencil-cairn-merge-l0-t%d", starts)
			s.later(24 * time.Hour)
		}
		require.Equal(t, 7, starts)
		require.Contains(t, s.expect("Ready", isFalse, "MergeFailed"), "are refused for bucket traces")

		s.annotate("mended")
		s.later(time.Second)
		s.ends("stencil-cairn-merge-l0-t8", refused)
		s.settle()
		s.expect("Ready", isFalse, "StorageNotReady")
		require.Nil(t, s.job().Status.CompletionTime, "who asks for another try has another week")
	})
}

func TestRefusedAnalysis(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
	s.later(time.Second)
	s.ends("stencil-cairn-critical-path", refused)
	s.settle()
	s.waitsForAPerson("analysis")
	s.mend()
	require.NotContains(t, s.jobNames(), "stencil-cairn-critical-path-t1", "the pod of the merge has not ended")
	s.collectGarbage()
	require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0", "its report waited for the old Jobs")
	s.ends("stencil-cairn-critical-path-t1", pod{message: `{"ok":true}`})
	if s.exists(&batchv1.Job{}, "stencil-cairn-clustering-t1") {
		s.ends("stencil-cairn-clustering-t1", pod{message: `{"ok":true}`})
	}
	s.settle()
	s.expect("Analyzed", isTrue, "AllSucceeded")
	s.ends("stencil-cairn-report-t1", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

func TestRefusedReport(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
	s.ends("stencil-cairn-critical-path", pod{message: `{"ok":true}`})
	s.settle()
	s.later(time.Second)
	s.ends("stencil-cairn-report", refused)
	s.settle()
	s.waitsForAPerson("report")
	s.mend()
	s.ends("stencil-cairn-report-t1", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

// failedMerge is a job whose merge has failed.
func failedMerge(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{exitCode: 65, message: "checksum mismatch"})
	s.settle()
	s.expect("Ready", isFalse, "MergeFailed")
	return s
}

// The annotation restarts the first failed step, with new names and the current image of the
// operator.
func TestRetriedMerge(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Annotations = map[string]string{v1alpha1.RetryAnnotation: "copied"}
		j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600)
	})
	s.runToMerge(0)
	require.Equal(t, v1alpha1.RetryStatus{Nonce: "copied"}, *s.job().Status.Retry, "one that was there at first asks for nothing")
	s.ends("stencil-cairn-merge-l0", pod{exitCode: 65, message: "checksum mismatch"})
	s.settle()
	s.expect("Ready", isFalse, "MergeFailed")
	require.NotNil(t, s.job().Status.CompletionTime)
	s.letPass(5 * time.Minute)

	s.settings.Image = "cairn:newer"
	s.annotate("once more")
	require.Equal(t, v1alpha1.RetryStatus{Nonce: "once more", Count: 1}, *s.job().Status.Retry)
	require.Nil(t, s.job().Status.CompletionTime)
	require.Equal(t, "cairn:newer", s.job().Status.Image)
	s.expect("TraceMerged", unknown, "Collecting")
	s.expect("Analyzed", unknown, "Pending")
	s.expect("Ready", isFalse, "Collecting")
	s.expectEvents("Normal Retried")
	require.Equal(t, "cairn:newer", s.batchJob("stencil-cairn-merge-l0-t1").Spec.Template.Spec.InitContainers[0].Image)
	s.settle()
	require.EqualValues(t, 1, s.job().Status.Retry.Count, "once")

	s.ends("stencil-cairn-merge-l0-t1", pod{message: oneRun})
	s.settle()
	s.ends("stencil-cairn-critical-path-t1", pod{})
	s.ends("stencil-cairn-clustering-t1", pod{})
	s.settle()
	merge := s.batchJob("stencil-cairn-merge-l0-t1")
	s.containerEnds(s.podOf(merge, 0), pod{message: verdict})
	s.endJob(merge, true)
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
	require.InDelta(t, 10*time.Minute, s.after, float64(5*time.Second), "the time to live begins anew")
	require.NotNil(t, merge)
}

// Each value of the annotation requests a single retry.
func TestRetryOnce(t *testing.T) {
	t.Parallel()
	t.Run("long value", func(t *testing.T) {
		s := failedMerge(t)
		s.annotate(strings.Repeat("x", 300))
		require.EqualValues(t, 1, s.job().Status.Retry.Count)
		s.ends("stencil-cairn-merge-l0-t1", pod{exitCode: 65, message: "checksum mismatch"})
		s.settle()
		s.expect("Ready", isFalse, "MergeFailed")
		require.EqualValues(t, 1, s.job().Status.Retry.Count, "once")
		s.annotate(strings.Repeat("y", 300))
		require.EqualValues(t, 2, s.job().Status.Retry.Count)
	})
	t.Run("the API server is away for a moment", func(t *testing.T) {
		s := failedMerge(t)
		s.settings.Image = "cairn:newer"
		s.writeNonce("1")
		r := &Reconciler{Client: noJobs{s.Client}, Live: s.Client, Events: s.events, Clock: s.clock, Settings: s.settings}
		_, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
		require.ErrorContains(t, err, "the API server is away")
		require.Equal(t, "cairn:test", s.job().Status.Image)
		s.settle()
		require.Equal(t, v1alpha1.RetryStatus{Nonce: "1", Count: 1}, *s.job().Status.Retry)
		require.Equal(t, "cairn:newer", s.job().Status.Image)
	})
}

func TestRetryWithoutATrace(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[]}`})
	s.settle()
	s.expect("Ready", isFalse, "NoTrace")
	s.annotate("1")
	s.ends("stencil-cairn-merge-l0-t1", pod{message: oneRun})
	s.settle()
	s.expect("TraceMerged", isTrue, "Merged")
}

func TestRetriedAnalysis(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.ends("stencil-cairn-critical-path", pod{exitCode: 65, message: `{"failed":"0/0: no times","message":"no times"}`})
	s.ends("stencil-cairn-clustering", pod{})
	s.settle()
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
	s.annotate("1")
	s.expect("Analyzed", unknown, "Analyzing")
	s.expect("TraceMerged", isTrue, "Merged")
	require.NotContains(t, s.jobNames(), "stencil-cairn-clustering-t1", "what succeeded is not done again")
	require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0-t1")
	s.ends("stencil-cairn-critical-path-t1", pod{})
	s.settle()
	s.expect("Analyzed", isTrue, "AllSucceeded")
	s.ends("stencil-cairn-report-t1", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

func TestRetriedReport(t *testing.T) {
	s := newStage(t)
	s.applyWithoutAnalyses()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.ends("stencil-cairn-report", pod{exitCode: 69, message: `{"storage":{"reason":"Unreachable","message":"x"}}`})
	s.settle()
	s.expect("Ready", isFalse, "ReportFailed")
	s.annotate("1")
	s.expect("Ready", isFalse, "Reporting")
	s.ends("stencil-cairn-report-t1", pod{exitCode: 70, message: "no space left"})
	s.settle()
	s.expect("Ready", isFalse, "ReportFailed")
	s.annotate("2")
	s.ends("stencil-cairn-report-t2", pod{message: verdict})
	s.settle()
	s.expect("Ready", isTrue, "ReportReady")
}

func TestNothingToRetry(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.annotate("early")
	s.expectEvents("Normal NotRetried")
	s.expect("Ready", isFalse, "Collecting")
	s.finish()
	completed := s.job().Status.CompletionTime
	s.annotate("late")
	s.expectEvents("Normal NotRetried")
	s.expect("Ready", isTrue, "ReportReady")
	require.Equal(t, completed, s.job().Status.CompletionTime)
	require.Equal(t, v1alpha1.RetryStatus{Nonce: "late"}, *s.job().Status.Retry)
}
