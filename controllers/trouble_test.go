package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

func TestMissingSecretThenMended(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.settle()
	s.ends(s.checkName(), pod{exitCode: 69, message: `{"ok":false,"reason":"CredentialsMissing","message":"no file accessKey"}`})
	s.settle()
	message := s.expect("StorageReady", isFalse, "CredentialsMissing")
	require.Contains(t, message, "kubectl -n "+s.namespace+" create secret generic cairn-storage --from-literal=accessKey=… --from-literal=secretKey=…")
	s.expect("Ready", isFalse, "StorageNotReady")
	s.expect("JobFinished", isFalse, "NotCreated")
	require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
	require.InDelta(t, 10*time.Second, s.after, float64(2*time.Second))

	// Ten seconds later another check follows, and says what it finds.
	s.clock.SetTime(s.clock.Now().Add(11 * time.Second))
	s.settle()
	require.Equal(t, []string{s.checkName()}, s.jobNames(), "one check at a time")
	s.expect("StorageReady", isFalse, "CredentialsMissing")
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")
	require.True(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
	s.expectEvents("Warning CredentialsMissing")
}

func TestStorageTroubles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		end          pod
		want         string
	}{
		{"access denied", "AccessDenied", pod{exitCode: 69, message: `{"reason":"AccessDenied","message":"403"}`}, "--dry-run=client -o yaml | kubectl apply -f -"},
		{"no bucket", "BucketMissing", pod{exitCode: 69, message: `{"reason":"BucketMissing","message":"404"}`}, "cairn make-bucket --store s3://traces"},
		{"unreachable", "Unreachable", pod{exitCode: 69, message: `{"reason":"Unreachable","message":"dial tcp"}`}, "http://minio:9000"},
		{"answer in a successful pod", "Unreachable", pod{message: `{"reason":"Unreachable","message":"dial tcp"}`}, "dial tcp"},
		{"unknown reason", "CheckFailed", pod{exitCode: 69, message: `{"reason":"Other","message":"418 teapot"}`}, "418 teapot"},
		{"no answer", "CheckFailed", pod{exitCode: 2, message: "panic"}, "panic"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			s.apply()
			s.settle()
			s.ends(s.checkName(), test.end)
			s.settle()
			require.Contains(t, s.expect("StorageReady", isFalse, test.reason), test.want)
			s.expect("Ready", isFalse, "StorageNotReady")
		})
	}
	t.Run("the check never ran", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.settle()
		s.endJob(s.batchJob(s.checkName()), false)
		s.settle()
		require.Contains(t, s.expect("StorageReady", isFalse, "CheckFailed"), "backoff limit")
	})
	t.Run("not configured", func(t *testing.T) {
		s := newStage(t)
		s.settings.Storage = nil
		s.apply()
		s.settle()
		require.Contains(t, s.expect("StorageReady", isFalse, "NotConfigured"), "spec.storage.s3")
		require.Empty(t, s.jobNames())
	})
	t.Run("own storage", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) {
			j.Spec.Storage.S3 = &v1alpha1.S3Storage{Bucket: "mine", CredentialsSecretName: "key"}
		})
		s.settle()
		require.Equal(t, "key", s.batchJob(s.checkName()).Spec.Template.Spec.Volumes[0].Secret.SecretName)
		s.passStorage()
		require.Equal(t, "s3://mine/"+s.namespace+"/stencil/"+string(s.job().UID), s.job().Status.StorageURI)
	})
	t.Run("another default later moves nothing", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		uri := s.job().Status.StorageURI
		s.settings.Storage = &v1alpha1.S3Storage{Bucket: "elsewhere"}
		s.settings.Image = "cairn:newer"
		job := s.job()
		job.Spec.Storage.S3 = &v1alpha1.S3Storage{Endpoint: "http://other:9000", Bucket: "other"}
		require.NoError(t, s.Update(s.ctx, job))
		s.finishLauncher(0)
		s.settle()
		require.Equal(t, uri, s.job().Status.StorageURI)
		for _, name := range []string{"merge-l0", "clustering"} {
			container := s.batchJob("stencil-cairn-" + name).Spec.Template.Spec.Containers[0]
			require.Contains(t, container.Args, uri)
			require.Equal(t, "cairn:test", container.Image)
			require.Contains(t, container.Env, corev1.EnvVar{Name: "CAIRN_S3_ENDPOINT", Value: "http://minio:9000"})
			if name == "merge-l0" {
				s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
				s.settle()
			}
		}
	})
	t.Run("the check's image cannot be pulled", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.settle()
		check := s.batchJob(s.checkName())
		made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: s.namespace, Labels: check.Spec.Template.Labels,
			OwnerReferences: controlledByJob(check)}, Spec: check.Spec.Template.Spec}
		require.NoError(t, s.Create(s.ctx, made))
		made.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "cairn", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "cairn:test"}}}}
		require.NoError(t, s.Status().Update(s.ctx, made))
		s.settle()
		require.Contains(t, s.expect("StorageReady", unknown, "Checking"), "ImagePullBackOff")
	})
}

// A job that nothing can repair is complete: its time to live begins, and everything that waits for
// it is notified.
func TestInvalidTemplate(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.MPIJobTemplate.Spec.RunPolicy.BackoffLimit = ptr.To[int32](-1)
		j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	})
	s.settle()
	require.Contains(t, s.expect("Ready", isFalse, "InvalidTemplate"), "spec.mpiJobTemplate.spec.runPolicy.backoffLimit")
	require.Contains(t, s.expect("JobFinished", isTrue, "NeverStarted"), "backoffLimit")
	require.Empty(t, s.jobNames())
	require.NotNil(t, s.job().Status.CompletionTime)
	s.expectEvents("Warning InvalidTemplate", "Warning NeverStarted")
	s.clock.SetTime(s.clock.Now().Add(61 * time.Second))
	s.settle()
	require.False(t, s.exists(&v1alpha1.TracedMPIJob{}, "stencil"))
}

// The number of workers may change, so a job that was stored with an invalid number, before its
// schema refused that, is not complete.
func TestInvalidReplicasAreMendable(t *testing.T) {
	job := &v1alpha1.TracedMPIJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(stencil), job))
	job.Name = "stencil"
	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = ptr.To[int32](0)
	p := &pass{Reconciler: &Reconciler{Clock: clocktesting.NewFakePassiveClock(time.Now())}, job: job}
	step, err := p.validateTemplate(t.Context())
	require.NoError(t, err)
	require.False(t, step.goOn)
	require.Contains(t, p.condition("Ready").Message, "spec.mpiJobTemplate.spec.mpiReplicaSpecs[Worker].replicas")
	require.Equal(t, "NotCreated", p.condition("JobFinished").Reason)
	require.False(t, p.completed())

	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = ptr.To[int32](2)
	step, err = p.validateTemplate(t.Context())
	require.NoError(t, err)
	require.True(t, step.goOn)
}

func TestNameConflict(t *testing.T) {
	t.Parallel()
	t.Run("MPIJob", func(t *testing.T) {
		s := newStage(t)
		other := &mpiv2beta1.MPIJob{ObjectMeta: metav1.ObjectMeta{Name: "stencil", Namespace: s.namespace},
			Spec: mpiv2beta1.MPIJobSpec{MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{}}}
		require.NoError(t, s.Create(s.ctx, other))
		s.apply()
		s.passStorage()
		require.Contains(t, s.expect("Ready", isFalse, "NameConflict"), `MPIJob "stencil" exists`)
		require.Nil(t, s.job().Status.MPIJobRef)
		require.NotZero(t, s.after)
		require.NoError(t, s.Delete(s.ctx, other))
		s.settle()
		s.expect("Ready", isFalse, "Starting")
	})
	t.Run("Job", func(t *testing.T) {
		s := newStage(t)
		other := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "stencil-cairn-merge-l0", Namespace: s.namespace},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
		require.NoError(t, s.Create(s.ctx, other))
		s.apply()
		s.runToMerge(0)
		require.Contains(t, s.expect("Ready", isFalse, "NameConflict"), `Job "stencil-cairn-merge-l0" exists`)
	})
}

// noRoom is a template that has a volume with Cairn's name.
func noRoom(j *v1alpha1.TracedMPIJob) {
	pod := &j.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Template.Spec
	pod.Volumes = []corev1.Volume{{Name: "cairn", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
}

func failurePolicyFail(j *v1alpha1.TracedMPIJob) {
	j.Spec.Tracing.FailurePolicy = v1alpha1.FailurePolicyFail
}

func TestInjectionFails(t *testing.T) {
	t.Parallel()
	t.Run("Ignore", func(t *testing.T) {
		s := newStage(t)
		s.apply(noRoom)
		s.passStorage()
		require.Contains(t, s.expect("Traced", isFalse, "InjectionFailed"), "mpiReplicaSpecs[Worker].template.spec.volumes[0].name")
		require.Empty(t, s.mpiJob().Spec.MPIReplicaSpecs["Launcher"].Template.Spec.InitContainers, "all or nothing")
		s.finishLauncher(0)
		s.settle()
		s.expect("JobFinished", isTrue, "Succeeded")
		require.Contains(t, s.expect("Ready", isFalse, "NotTraced"), "volumes[0].name")
		require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0")
	})
	t.Run("Fail", func(t *testing.T) {
		s := newStage(t)
		s.apply(noRoom, failurePolicyFail)
		s.passStorage()
		s.expect("Traced", isFalse, "InjectionFailed")
		s.expect("Ready", isFalse, "InjectionFailed")
		require.Contains(t, s.expect("JobFinished", isTrue, "NeverStarted"), "because failurePolicy is Fail")
		require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
		require.NotNil(t, s.job().Status.CompletionTime)
	})
}

// Without the tracer there is no trace to re-execute, whatever failurePolicy says.
func TestReplayThatCannotBeInjected(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.Replay = &v1alpha1.Replay{Trace: "s3://traces/default/a/trace.cairn"}
		j.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Launcher"].Template.Spec.Containers[0].Command = []string{"sh", "-c"}
		j.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Launcher"].Template.Spec.Containers[0].Args = []string{"mpirun"}
	})
	s.passStorage()
	require.Contains(t, s.expect("JobFinished", isTrue, "NeverStarted"), "without the trace in spec.replay there is no program to run")
	require.Contains(t, s.expect("Traced", isFalse, "InjectionFailed"), "without a shell")
	require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
}

func TestUntraceableImage(t *testing.T) {
	t.Parallel()
	t.Run("Ignore", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.worker(1, untraceable)
		s.settle()
		require.Equal(t, "pod stencil-worker-1: musl is not supported", s.expect("Traced", isFalse, "UnsupportedLibc"))
		s.finishLauncher(0)
		s.settle()
		s.expect("JobFinished", isTrue, "Succeeded")
		s.ends("stencil-cairn-merge-l0", pod{message: `{"runs":[],"run_count":0}`})
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "NotTraced"), "musl is not supported")
		s.expectEvents("Warning UnsupportedLibc")
	})
	t.Run("Fail", func(t *testing.T) {
		s := newStage(t)
		s.apply(failurePolicyFail)
		s.passStorage()
		s.worker(0, untraceable)
		s.settle()
		require.Contains(t, s.expect("JobFinished", isTrue, "Failed"), "musl is not supported")
		s.expect("Ready", isFalse, "NotTraced")
		require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"), "the job was stopped")
	})
	t.Run("probe without an answer", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, "")
		s.settle()
		s.expect("Traced", isFalse, "ProbeFailed")
	})
	t.Run("launcher as the only pod", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { delete(j.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs, "Worker") })
		s.passStorage()
		s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
		launcher := &corev1.Pod{}
		require.NoError(t, s.Get(s.ctx, s.key("stencil-launcher-x"), launcher))
		launcher.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "cairn-probe",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: traceable}}}}
		require.NoError(t, s.Status().Update(s.ctx, launcher))
		s.settle()
		s.expect("Traced", isTrue, "Traceable")
	})
}

func TestDisabled(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Tracing.Mode = v1alpha1.TracingDisabled })
	s.settle()
	require.Empty(t, s.mpiJob().Spec.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers)
	require.Empty(t, s.jobNames(), "no storage is needed")
	s.expect("Traced", isFalse, "TracingDisabled")
	s.finishLauncher(3)
	s.settle()
	require.Equal(t, "launcher exited with code 3", s.expect("JobFinished", isTrue, "Failed"))
	s.expect("Ready", isFalse, "TracingDisabled")
	require.NotNil(t, s.job().Status.CompletionTime)
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	setSuspend := func(s *stage, to bool) {
		job := s.job()
		job.Spec.Suspend = to
		require.NoError(s, s.Update(s.ctx, job))
		s.settle()
	}
	t.Run("from the start, then resumed, then suspended", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Suspend = true })
		s.passStorage()
		require.True(t, *s.mpiJob().Spec.RunPolicy.Suspend)
		s.expect("Ready", isFalse, "Suspended")
		setSuspend(s, false)
		require.False(t, *s.mpiJob().Spec.RunPolicy.Suspend)
		s.expect("Ready", isFalse, "Starting")
		setSuspend(s, true)
		require.True(t, *s.mpiJob().Spec.RunPolicy.Suspend)
		s.expect("JobFinished", isFalse, "Suspended")
	})
	t.Run("a queue's suspension is left alone", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		mpiJob := s.mpiJob()
		mpiJob.Spec.RunPolicy.Suspend = ptr.To(true)
		require.NoError(t, s.Update(s.ctx, mpiJob))
		s.settle()
		require.True(t, *s.mpiJob().Spec.RunPolicy.Suspend)
		s.expect("JobFinished", isFalse, "Suspended")
	})
}

func TestWorkerReplicasArePassedOn(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	job := s.job()
	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = ptr.To[int32](5)
	require.NoError(t, s.Update(s.ctx, job))
	s.settle()
	require.EqualValues(t, 5, *s.mpiJob().Spec.MPIReplicaSpecs["Worker"].Replicas)
	require.Len(t, s.mpiJob().Spec.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers, 3)
}

func TestMPIJobVanishes(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.worker(0, traceable)
	s.settle()
	require.NoError(t, s.Delete(s.ctx, s.mpiJob()))
	s.settle()
	require.Contains(t, s.expect("JobFinished", isTrue, "Failed"), "deleted")
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	s.expect("TraceMerged", isTrue, "Merged")
	require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"), "it is not created again")
}

// TestMPIJobConditionsMislead: Failed without a completion time is not an end.
func TestMPIJobConditionsMislead(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	launcher := s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
	mpiJob := s.mpiJob()
	mpiJob.Status.Conditions = []mpiv2beta1.JobCondition{{Type: mpiv2beta1.JobFailed, Status: corev1.ConditionTrue, Message: "1/2 workers are evicted"}}
	require.NoError(t, s.Status().Update(s.ctx, mpiJob))
	s.settle()
	require.Contains(t, s.expect("JobFinished", isFalse, "Running"), "workers are evicted")
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 0)})
	s.endJob(launcher, true)
	s.settle()
	s.expect("JobFinished", isTrue, "Succeeded")
}

// TestLauncherExpired: the launcher's Job ended and was deleted while no operator was running.
func TestLauncherExpired(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	mpiJob := s.mpiJob()
	now := metav1.Now()
	mpiJob.Status.CompletionTime = &now
	mpiJob.Status.Conditions = []mpiv2beta1.JobCondition{{Type: mpiv2beta1.JobSucceeded, Status: corev1.ConditionTrue}}
	require.NoError(t, s.Status().Update(s.ctx, mpiJob))
	s.settle()
	s.expect("JobFinished", isTrue, "Succeeded")
}

func TestDeletionPolicy(t *testing.T) {
	t.Parallel()
	withDelete := func(j *v1alpha1.TracedMPIJob) { j.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	gone := func(s *stage) bool { return !s.exists(&v1alpha1.TracedMPIJob{}, "stencil") }

	t.Run("Retain has no finalizer", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.settle()
		require.Empty(t, s.job().Finalizers)
		require.NoError(t, s.Delete(s.ctx, s.job()))
		require.True(t, gone(s))
	})
	t.Run("Delete", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.runToMerge(0)
		s.finish()
		require.Equal(t, []string{Finalizer}, s.job().Finalizers)
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "DeletingTrace"), "waiting for 3 pods")
		require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
		require.NoError(t, s.DeleteAllOf(s.ctx, &corev1.Pod{}, client.InNamespace(s.namespace), client.GracePeriodSeconds(0)))
		s.settle()
		deletion := s.batchJob("stencil-cairn-delete-0")
		require.Equal(t, []string{"delete-prefix", "--store", s.job().Status.StorageURI}, deletion.Spec.Template.Spec.Containers[0].Args)

		s.ends(deletion.Name, pod{exitCode: 69, message: "connection refused"})
		s.settle()
		message := s.expect("Ready", isFalse, "DeleteFailed")
		require.Contains(t, message, "connection refused")
		require.Contains(t, message, `"deletionPolicy":"Retain"`)
		s.clock.SetTime(s.clock.Now().Add(11 * time.Second))
		s.settle()
		s.ends("stencil-cairn-delete-1", pod{})
		s.settle()
		require.True(t, gone(s))
	})
	t.Run("Delete, then Retain after all", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.passStorage()
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.False(t, gone(s))
		job := s.job()
		job.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyRetain
		require.NoError(t, s.Update(s.ctx, job))
		s.settle()
		require.True(t, gone(s))
	})
	t.Run("before anything was written", func(t *testing.T) {
		s := newStage(t)
		s.settings.Storage = nil
		s.apply(withDelete)
		s.settle()
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.True(t, gone(s))
	})
	t.Run("with its namespace", func(t *testing.T) {
		s := newStage(t)
		s.apply(withDelete)
		s.passStorage()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
		require.NoError(t, s.Delete(s.ctx, namespace))
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		require.True(t, gone(s), "the namespace waits for the job")
	})
}
