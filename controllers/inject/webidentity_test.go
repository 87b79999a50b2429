package inject

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
)

// TestOnlyTheSidecarHasTheToken: neither the application nor the probe, which runs in the user's
// image, can exchange it.
func TestOnlyTheSidecarHasTheToken(t *testing.T) {
	o := options()
	o.S3.WebIdentity = &v1alpha1.WebIdentity{Audience: "sts.amazonaws.com"}
	injected, err := MPIJob(read(t, "testdata/own-settings.in.yaml"), o)
	require.NoError(t, err)
	require.NotEmpty(t, injected.MPIReplicaSpecs)
	for role, replica := range injected.MPIReplicaSpecs {
		pod := replica.Template.Spec
		var holders []string
		for _, c := range append(append([]corev1.Container{}, pod.InitContainers...), pod.Containers...) {
			for _, mount := range c.VolumeMounts {
				if mount.Name == container.TokenVolume {
					holders = append(holders, c.Name)
				}
			}
		}
		require.Equal(t, []string{ShipContainer}, holders, role)
		for _, volume := range pod.Volumes {
			require.NotEqual(t, container.CredentialsVolume, volume.Name, role)
		}
	}
}
