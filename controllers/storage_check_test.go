package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/storage"
)

const (
	unreachable = `{"ok":false,"reason":"Unreachable","message":"dial tcp: no route to host"}`
	denied      = `{"ok":false,"reason":"AccessDenied","message":"403"}`
)

// letPass lets time pass for the operator, which then looks again.
func (s *stage) letPass(d time.Duration) {
	s.Helper()
	s.clock.SetTime(s.clock.Now().Add(d))
	s.settle()
}

// A check that fails is repeated with pauses that double, and one that passes ends them.
func TestFailedChecksBackOff(t *testing.T) {
	s := newStage(t)
	s.apply(failurePolicyFail)
	s.settle()
	for _, pause := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		pause *= time.Second
		failed := s.batchJob(s.checkName())
		s.ends(failed.Name, pod{exitCode: 69, message: unreachable})
		s.settle()
		require.InDelta(t, pause, s.after, float64(2*time.Second))
		s.letPass(pause - 3*time.Second)
		require.Equal(t, failed.UID, s.batchJob(s.checkName()).UID, "the pause is not over")
		s.letPass(4 * time.Second)
		require.NotEqual(t, failed.UID, s.batchJob(s.checkName()).UID)
	}
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
	require.True(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
}

// intruded makes something else happen right after each deletion.
type intruded struct {
	client.Client
	then func()
}

func (c intruded) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	err := c.Client.Delete(ctx, o, options...)
	c.then()
	return err
}

// Another job may find no check between the deletion of one and the creation of the next. It then
// creates one without the previous results, which must not be lost.
func TestCheckThatAnotherJobCreatesKnowsTheLastAnswer(t *testing.T) {
	s := newStage(t)
	s.apply(failurePolicyFail)
	s.apply(failurePolicyFail, func(j *v1alpha1.TracedMPIJob) { j.Name = "other" })
	s.settle()
	s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
	s.settle()
	s.later(11 * time.Second)
	intruders := 0
	s.settleAs(intruded{s.Client, func() {
		r := &Reconciler{Client: s.Client, Live: s.Client, Events: s.events, Clock: s.clock, Settings: s.settings}
		for range 3 { // the finalizer, then the check
			_, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("other")})
			require.NoError(t, err)
		}
		intruders++
		require.NotContains(t, s.batchJob(s.checkName()).Annotations, storage.LastAnswerAnnotation)
	}})
	require.Equal(t, 1, intruders)
	check := s.batchJob(s.checkName())
	require.Equal(t, "1", check.Annotations[storage.FailuresAnnotation])
	require.Contains(t, check.Annotations[storage.LastAnswerAnnotation], "Unreachable")
	require.NotEmpty(t, check.Annotations[storage.LastEndedAnnotation])
	s.expect("StorageReady", isFalse, "Unreachable")
}

// Jobs that wait for one storage share its checks. After a passed check the next job starts without
// waiting.
func TestManyJobsShareOneCheck(t *testing.T) {
	jobs := 200
	if testing.Short() {
		jobs = 20
	}
	s := newStage(t)
	s.settings.Retry, s.settings.StorageWait = time.Second, time.Hour
	defer s.operator()()
	for i := range jobs {
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Name = fmt.Sprintf("job-%d", i) })
	}
	reached := func(n int, kind, reason string) func() bool {
		return func() bool {
			var list v1alpha1.TracedMPIJobList
			require.NoError(t, s.List(s.ctx, &list, client.InNamespace(s.namespace)))
			count := 0
			for _, job := range list.Items {
				for _, c := range job.Status.Conditions {
					if c.Type == kind && c.Reason == reason {
						count++
					}
				}
			}
			return count >= n
		}
	}
	require.Eventually(t, reached(jobs, "StorageReady", "Checking"), patience, 100*time.Millisecond)
	first := s.batchJob(s.checkName())
	s.clock.SetTime(time.Now())
	s.ends(first.Name, pod{exitCode: 69, message: unreachable})
	require.Eventually(t, reached(jobs, "StorageReady", "Unreachable"), patience, 100*time.Millisecond)
	again := func() bool { // for a moment there is no Job
		job := &batchv1.Job{}
		return s.exists(job, first.Name) && job.UID != first.UID
	}
	require.Eventually(t, again, patience, 100*time.Millisecond)
	s.clock.SetTime(time.Now())
	s.ends(first.Name, pod{message: storageWorks})
	require.Eventually(t, reached(jobs, "JobFinished", "Starting"), patience, 100*time.Millisecond)
	require.EqualValues(t, 2, s.started.Load(), "one Job for each check, however many wait")

	s.apply()
	s.eventually("JobFinished", "Starting")
	require.EqualValues(t, 2, s.started.Load(), "the last check still holds")
}

// A storage that is not ready delays a start, and no more than that, unless failurePolicy is Fail.
func TestStartWithoutStorage(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]pod{
		"no answer":        {exitCode: 69, message: unreachable},
		"refused":          {exitCode: 77, message: denied},
		"no credentials":   {exitCode: 77, message: `{"reason":"CredentialsMissing","message":"no file accessKey"}`},
		"the check fails":  {exitCode: 2, message: "panic"},
		"no check started": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.apply()
			s.settle()
			if end.exitCode != 0 {
				s.ends(s.checkName(), end)
			}
			s.letPass(time.Minute)
			require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
			s.letPass(61 * time.Second)
			require.NotEqual(t, isTrue, s.condition("StorageReady").Status)
			require.Len(t, s.mpiJob().Spec.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers, 3, "traced all the same")
			status := s.job().Status
			require.Equal(t, "traces", status.Storage.Bucket)
			require.Equal(t, "cairn:test", status.Image)
			require.Nil(t, status.StorageReadyTime)
			s.expect("JobFinished", isFalse, "Starting")
			s.expect("Ready", isFalse, "Starting")

			// The storage is still checked, and as soon as it works the condition says so.
			s.letPass(6 * time.Minute)
			s.ends(s.checkName(), pod{message: storageWorks})
			s.settle()
			s.expect("StorageReady", isTrue, "Writable")
			require.NotNil(t, s.job().Status.StorageReadyTime)
		})
	}
	t.Run("not configured: untraced", func(t *testing.T) {
		s := newStage(t)
		s.settings.Storage = nil
		s.apply()
		s.settle()
		s.expect("StorageReady", isFalse, "NotConfigured")
		require.InDelta(t, 2*time.Minute, s.after, float64(5*time.Second))
		s.letPass(121 * time.Second)
		require.Empty(t, s.mpiJob().Spec.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers)
		require.Contains(t, s.expect("Traced", isFalse, "NotConfigured"), "spec.storage.s3")
		s.finishLauncher(0)
		s.settle()
		s.expect("JobFinished", isTrue, "Succeeded")
		require.Contains(t, s.expect("Ready", isFalse, "NotTraced"), "no storage")
		require.Empty(t, s.job().Status.StorageURI)
	})
	t.Run("the check's Job is refused", func(t *testing.T) {
		s := newStage(t)
		s.quota("count/jobs.batch", "0")
		s.apply()
		s.settle()
		require.Contains(t, s.expect("StorageReady", unknown, "Refused"), "exceeded quota")
		s.letPass(150 * time.Second)
		require.True(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
	})
	t.Run("Fail waits", func(t *testing.T) {
		s := newStage(t)
		s.apply(failurePolicyFail)
		s.settle()
		s.ends(s.checkName(), pod{exitCode: 69, message: unreachable})
		s.letPass(24 * time.Hour)
		require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
		s.ends(s.checkName(), pod{message: storageWorks})
		s.settle()
		require.True(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
	})
}

// A queue that suspends Jobs without its label is named while the check waits.
func TestSuspendedCheckIsNamed(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.Merge.PodTemplate.Metadata.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "small"}
	})
	s.settle()
	check := s.batchJob(s.checkName())
	require.Equal(t, "small", check.Labels["kueue.x-k8s.io/queue-name"])
	suspended := true
	check.Spec.Suspend = &suspended
	require.NoError(t, s.Update(s.ctx, check))
	s.settle()
	require.Contains(t, s.expect("StorageReady", unknown, "Checking"), "spec.merge.podTemplate.metadata.labels")
}

// The node of a check may be drained: the next pod reports the state of the storage.
func TestCheckOnADrainedNode(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.settle()
	check := s.batchJob(s.checkName())
	drained := s.podOf(check, 0)
	require.NoError(t, s.Create(s.ctx, drained))
	s.containerEnds(drained, pod{exitCode: 143, reason: "Error"})
	drained.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"}}
	require.NoError(t, s.Status().Update(s.ctx, drained))
	s.settle()
	s.expect("StorageReady", unknown, "Checking")
	second := s.podOf(check, 1)
	require.NoError(t, s.Create(s.ctx, second))
	s.containerEnds(second, pod{message: storageWorks})
	s.endJob(check, true)
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
}
