package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// The installation's image, pull secrets and user apply to Jobs and to the job's pods. So do the
// pull secrets that a job names for Cairn's image.
func TestInstallationReachesPodsAndJobs(t *testing.T) {
	storage := &v1alpha1.S3Storage{Bucket: "b", CredentialsSecretName: "s"}
	settings := Settings{Storage: storage, Installation: task.Installation{
		Image: "i", RunAsUser: ptr.To[int64](7777), PullSecrets: []corev1.LocalObjectReference{{Name: "ours"}}}}
	pods := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "app"}}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pods"}}}}
	job := &v1alpha1.TracedMPIJob{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "n"}}
	job.Spec.Merge.PodTemplate.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "merge"}}
	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs = map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{
		mpiv2beta1.MPIReplicaTypeLauncher: {Template: pods}, mpiv2beta1.MPIReplicaTypeWorker: {Template: *pods.DeepCopy()}}

	made := task.NewJob(job, settings.Installation, storage, task.Task{Name: "x", Template: job.Spec.Merge.PodTemplate}).Spec.Template.Spec
	require.ElementsMatch(t, []corev1.LocalObjectReference{{Name: "merge"}, {Name: "ours"}, {Name: "pods"}}, made.ImagePullSecrets)
	require.EqualValues(t, 7777, *made.Containers[0].SecurityContext.RunAsUser)

	job.Status.Storage = storage
	p := &pass{Reconciler: &Reconciler{Settings: settings}, job: job, persisted: job.DeepCopy()}
	injected, err := p.injected()
	require.NoError(t, err)
	for role, replica := range injected.MPIReplicaSpecs {
		pod := replica.Template.Spec
		require.Equal(t, []corev1.LocalObjectReference{{Name: "pods"}, {Name: "ours"}, {Name: "merge"}}, pod.ImagePullSecrets, role)
		for _, c := range pod.InitContainers {
			if c.Name != inject.ProbeContainer {
				require.EqualValues(t, 7777, *c.SecurityContext.RunAsUser, c.Name)
			}
		}
	}
}
