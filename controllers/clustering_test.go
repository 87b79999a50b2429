package controllers

import (
	"testing"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Clustering reaches the probe where all ranks run in one image, and nowhere else.
func TestClusteringReachesTheProbe(t *testing.T) {
	job := func(launcher, worker string) *mpiv2beta1.MPIJobSpec {
		replica := func(image string) *mpiv2beta1.ReplicaSpec {
			return &mpiv2beta1.ReplicaSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "helper", Image: "helper"}, {Name: "app", Image: image}}}}}
		}
		return &mpiv2beta1.MPIJobSpec{MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{
			mpiv2beta1.MPIReplicaTypeLauncher: replica(launcher), mpiv2beta1.MPIReplicaTypeWorker: replica(worker),
		}}
	}
	clustered := v1alpha1.Tracing{Mode: v1alpha1.TracingClustered, ContainerName: ptr.To("app"), Clustering: &v1alpha1.Clustering{
		Arguments: v1alpha1.ClusteringArgumentsIgnored, Frames: ptr.To(int32(2)), WaitSeconds: ptr.To(int32(30))}}

	flags, why := clusteringFlags(&clustered, job("app:1", "app:1"))
	require.Empty(t, why)
	require.Equal(t, []string{"--mode", "clustered", "--clustering", "arguments=ignored", "--clustering", "frames=2", "--clustering", "wait=30"}, flags)

	flags, why = clusteringFlags(&clustered, job("app:1", "app:2"))
	require.Empty(t, flags)
	require.Contains(t, why, "app:1, app:2")

	clustered.Clustering = nil
	flags, _ = clusteringFlags(&clustered, job("app:1", "app:1"))
	require.Equal(t, []string{"--mode", "clustered"}, flags)

	flags, why = clusteringFlags(&v1alpha1.Tracing{Mode: v1alpha1.TracingEnabled}, job("app:1", "app:2"))
	require.Empty(t, flags)
	require.Empty(t, why)
}
