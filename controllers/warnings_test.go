package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// warn records a warning event about an object, as another controller does.
func (s *stage) warn(about client.Object, reason, message string, at time.Time) {
	s.Helper()
	gvk, err := apiutil.GVKForObject(about, s.Scheme())
	require.NoError(s, err)
	require.NoError(s, s.Create(s.ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.GetName() + "-", Namespace: s.namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind,
			Namespace: s.namespace, Name: about.GetName(), UID: about.GetUID()},
		Type: corev1.EventTypeWarning, Reason: reason, Message: message, Count: 1,
		Source:         corev1.EventSource{Component: "some-controller"},
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at),
	}))
}

// later advances the operator's clock.
func (s *stage) later(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

// refusedWorker acts as mpi-operator: it cannot create a worker, and the API server's message is in
// an event.
func (s *stage) refusedWorker(index int) string {
	s.Helper()
	mpiJob := s.mpiJob()
	template := mpiJob.Spec.MPIReplicaSpecs["Worker"].Template
	err := s.Create(s.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stencil-worker-%d", index), Namespace: s.namespace, Labels: template.Labels}, Spec: template.Spec})
	require.Error(s, err)
	s.warn(mpiJob, "MPIJobFailed", fmt.Sprintf("worker pod created failed: %v", err), s.clock.Now())
	return err.Error()
}

// Only events of mpi-operator report that it is not allowed to create a pod.
func TestRefusedWorkers(t *testing.T) {
	t.Parallel()
	t.Run("Pod Security", func(t *testing.T) {
		s := newStage(t)
		namespace := &corev1.Namespace{}
		require.NoError(t, s.Get(s.ctx, client.ObjectKey{Name: s.namespace}, namespace))
		namespace.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
		require.NoError(t, s.Update(s.ctx, namespace))
		s.apply()
		s.passStorage()
		words := s.refusedWorker(0)
		require.Contains(t, words, `violates PodSecurity "restricted:latest"`)
		s.later(3 * time.Second)
		s.settle()
		message := s.expect("JobFinished", isFalse, "Starting")
		require.Contains(t, message, `waiting for the launcher to start; mpi-operator reports: worker pod created failed: pods "stencil-worker-0" is forbidden: violates PodSecurity "restricted:latest"`)
		require.Equal(t, message, s.expect("Ready", isFalse, "Starting"))
	})
	t.Run("quota, until there is room", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		require.LessOrEqual(t, s.after, eventDelay, "events start no pass")
		require.NotZero(t, s.after)
		s.worker(0, traceable)
		s.quota(corev1.ResourcePods, "0")
		s.refusedWorker(1)
		s.later(3 * time.Second)
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Starting"), "exceeded quota: few, requested: pods=1")
		s.later(time.Hour)
		s.settle()
		require.Equal(t, maxEventInterval, s.after, "a job that waits for hours is looked at now and then")
		s.noQuota()
		s.worker(1, traceable)
		s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}})
		s.settle()
		require.NotContains(t, s.expect("Ready", isFalse, "Starting"), "quota", "all pods are there")
	})
	t.Run("worker of a running job", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.worker(1, traceable)
		s.launch()
		s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
		s.settle()
		require.Equal(t, "the launcher is running", s.expect("Ready", isFalse, "Running"))
		require.False(t, 0 < s.after && s.after <= maxEventInterval, "nothing is missing: %v", s.after)
		job := s.job()
		job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = ptr.To[int32](3)
		require.NoError(t, s.Update(s.ctx, job))
		s.quota(corev1.ResourcePods, "0")
		s.refusedWorker(2)
		s.later(3 * time.Second)
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Running"), "exceeded quota: few")
	})
}

func TestOldWarning(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.warn(s.mpiJob(), "MPIJobFailed", "worker pod created failed: the webhook was away", s.clock.Now().Add(-time.Minute))
	s.warn(s.mpiJob(), "SetPodTemplateRestartPolicy", "Restart policy in pod template overridden", s.clock.Now())
	s.later(3 * time.Second)
	s.settle()
	// The event itself is new, even if some of its times are old: the newest of them counts.
	require.Contains(t, s.expect("Ready", isFalse, "Starting"), "the webhook was away")
	s.later(clockSlack + time.Second)
	s.worker(0, traceable)
	s.settle()
	require.NotContains(t, s.expect("Ready", isFalse, "Starting"), "the webhook was away", "a worker was made after it")
}

func TestRefusedLauncher(t *testing.T) {
	t.Parallel()
	t.Run("traced job", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.worker(1, traceable)
		s.warn(s.launch(), "FailedCreate", `Error creating: pods "stencil-launcher-" is forbidden: maximum memory usage per Container is 1Gi`, s.clock.Now())
		s.later(3 * time.Second)
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Starting"), "Job stencil-launcher: Error creating: pods")
	})
	t.Run("job that is not traced", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Tracing.Mode = v1alpha1.TracingDisabled })
		s.settle()
		s.warn(s.mpiJob(), "MPIJobFailed", "launcher pod created failed: no", s.clock.Now())
		s.later(3 * time.Second)
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Starting"), "mpi-operator reports: launcher pod created failed: no")
	})
}

func TestRefusedJobsOfOurOwn(t *testing.T) {
	t.Parallel()
	t.Run("quota", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		s.warn(s.batchJob("stencil-cairn-merge-l0"), "FailedCreate", `Error creating: pods "stencil-cairn-merge-l0-0-x" is forbidden: exceeded quota: few`, s.clock.Now())
		s.later(30 * time.Second)
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Collecting"), "Job stencil-cairn-merge-l0: Error creating: pods")
		require.NotZero(t, s.after)
	})
	t.Run("in a queue", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.runToMerge(0)
		merge := s.batchJob("stencil-cairn-merge-l0")
		merge.Spec.Suspend = ptr.To(true)
		merge.Labels["kueue.x-k8s.io/queue-name"] = "team-a"
		require.NoError(t, s.Update(s.ctx, merge))
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Collecting"),
			"Job stencil-cairn-merge-l0: it is suspended, by a queue for example (kueue.x-k8s.io/queue-name is team-a)")
	})
}
