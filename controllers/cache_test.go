package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
)

// The cache contains a small part of a cluster, and everything that the operator reads.
func TestCacheKeepsWhatIsRead(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.worker(0, traceable)

	worker := &corev1.Pod{}
	require.NoError(t, s.Get(s.ctx, s.key("stencil-worker-0"), worker))
	whole := worker.Size()
	kept, err := keepPod(worker.DeepCopy())
	require.NoError(t, err)
	lean := kept.(*corev1.Pod)
	require.Less(t, lean.Size(), whole/2, "%d of %d bytes", lean.Size(), whole)
	t.Logf("a pod: %d of %d bytes", lean.Size(), whole)
	require.Equal(t, worker.Status, lean.Status)
	require.Equal(t, worker.OwnerReferences, lean.OwnerReferences)
	require.Equal(t, worker.Labels, lean.Labels)
	require.NotEmpty(t, podstatus.MemoryLimit(lean, "cairn-ship"))
	require.Equal(t, podstatus.MemoryLimit(worker, "cairn-ship"), podstatus.MemoryLimit(lean, "cairn-ship"))
	require.Empty(t, lean.Spec.Containers[0].Image)

	ours := s.batchJob(s.check())
	kept, err = keepJob(ours.DeepCopy())
	require.NoError(t, err)
	require.Equal(t, ours.Spec, kept.(*batchv1.Job).Spec)

	shared := ours.DeepCopy()
	shared.Labels[naming.JobLabel] = ""
	kept, err = keepJob(shared)
	require.NoError(t, err)
	require.Equal(t, ours.Spec, kept.(*batchv1.Job).Spec, "a Job of ours that belongs to no TracedMPIJob")

	launcher := s.launch()
	s.endJob(launcher, true)
	launcher = s.batchJob(launcher.Name)
	kept, err = keepJob(launcher.DeepCopy())
	require.NoError(t, err)
	require.Equal(t, launcher.Status, kept.(*batchv1.Job).Status)
	require.Equal(t, launcher.UID, kept.(*batchv1.Job).UID)
	require.Empty(t, kept.(*batchv1.Job).Spec.Template.Spec.Containers)

	foreign := s.someJob()
	foreign.UID, foreign.Status.Active, foreign.DeletionTimestamp = "uid", 3, &metav1.Time{Time: time.Unix(1, 0)}
	kept, err = keepJob(foreign)
	require.NoError(t, err)
	require.Equal(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "some", Namespace: s.namespace, UID: "uid",
		DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}, kept)

	mpiJob := s.mpiJob()
	kept, err = keepMPIJob(mpiJob.DeepCopy())
	require.NoError(t, err)
	require.Equal(t, mpiJob.Spec.RunPolicy, kept.(*mpiv2beta1.MPIJob).Spec.RunPolicy)
	require.Equal(t, mpiJob.Spec.MPIReplicaSpecs["Worker"].Replicas, kept.(*mpiv2beta1.MPIJob).Spec.MPIReplicaSpecs["Worker"].Replicas)
	require.Empty(t, kept.(*mpiv2beta1.MPIJob).Spec.MPIReplicaSpecs["Worker"].Template.Spec.Containers)
}

// TestChangesThroughTheCache: with the caches of a real manager, which do not contain an MPIJob's
// templates, a change does not affect them.
func TestChangesThroughTheCache(t *testing.T) {
	s := newStage(t)
	stop := s.operator()
	defer func() { stop() }()
	s.apply()
	s.eventually("StorageReady", "Checking")
	s.ends(s.check(), pod{message: storageWorks})
	s.eventually("JobFinished", "Starting")
	before := s.mpiJob()
	job := s.job()
	job.Spec.Suspend = true
	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = new(int32(3))
	require.NoError(t, s.Update(s.ctx, job))
	s.eventually("JobFinished", "Suspended")
	after := s.mpiJob()
	require.True(t, *after.Spec.RunPolicy.Suspend)
	require.EqualValues(t, 3, *after.Spec.MPIReplicaSpecs["Worker"].Replicas)
	require.Equal(t, before.Spec.MPIReplicaSpecs["Worker"].Template, after.Spec.MPIReplicaSpecs["Worker"].Template)
	require.Equal(t, before.Spec.MPIReplicaSpecs["Launcher"], after.Spec.MPIReplicaSpecs["Launcher"])
}

// TestWarningsAreSeenByALiveOperator: no watched object changes if mpi-operator cannot create a
// pod.
func TestWarningsAreSeenByALiveOperator(t *testing.T) {
	s := newStage(t)
	stop := s.operator()
	defer func() { stop() }()
	s.apply()
	s.eventually("StorageReady", "Checking")
	s.ends(s.check(), pod{message: storageWorks})
	s.eventually("JobFinished", "Starting")
	s.quota(corev1.ResourcePods, "0")
	s.refusedWorker(0)
	require.Eventually(t, func() bool {
		return containsAll(s.condition("Ready").Message, "mpi-operator reports: worker pod created failed exceeded quota")
	}, patience, 20*time.Millisecond)
}
