package controllers

import (
	"testing"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/mpi"
)

// What spec.tracing leaves out reaches the probe, which writes it into the tracer's configuration.
func TestTracingControlReachesTheProbe(t *testing.T) {
	flags := probeFlags(&v1alpha1.Tracing{
		InitialState: v1alpha1.InitialStateOff, Exclude: []v1alpha1.FunctionGroup{"io", "query"},
	})
	require.Equal(t, []string{"--exclude", "io", "--exclude", "query", "--start-off"}, flags)
	require.Empty(t, probeFlags(&v1alpha1.Tracing{InitialState: v1alpha1.InitialStateOn}))

	container := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}}}
	spec, err := inject.MPIJob(&mpiv2beta1.MPIJobSpec{MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{
		mpiv2beta1.MPIReplicaTypeLauncher: {Template: container}, mpiv2beta1.MPIReplicaTypeWorker: {Template: container},
	}}, inject.Options{Image: "cairn", StoreURL: "s3://b/p", S3: &v1alpha1.S3Storage{Bucket: "b"}, SpoolSizeLimit: resource.MustParse("1Gi"), ProbeFlags: flags})
	require.NoError(t, err)
	for role, replica := range spec.MPIReplicaSpecs {
		found := false
		for _, c := range replica.Template.Spec.InitContainers {
			if c.Name == inject.ProbeContainer {
				found = true
				require.Subset(t, c.Command, flags, role)
			}
		}
		require.True(t, found, role)
	}
}

// The resource and the tracer have the same groups.
func TestGroupsOfTheResource(t *testing.T) {
	want := []mpi.Group{"p2p", "collective", "comm", "rma", "io", "datatype", "query", "tool", "environment"}
	require.Equal(t, want, mpi.Groups, "change the enumeration of v1alpha1.FunctionGroup as well")
}
