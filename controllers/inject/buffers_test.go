package inject

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// 8.125 MiB a rank are at most 2 % of the memory that the container or its pod may have.
func TestTmpfsOnlyWhereMemoryAllows(t *testing.T) {
	limited := func(memory string) *corev1.ResourceRequirements {
		if memory == "" {
			return &corev1.ResourceRequirements{}
		}
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for _, c := range []struct {
		slots          int32
		container, pod string
		size           string // "": no tmpfs
	}{
		{0, "", "", "16640Ki"},
		{4, "", "", "65Mi"},
		{1, "407Mi", "", "16640Ki"},
		{1, "406Mi", "", ""},
		{8, "4Gi", "", "130Mi"},
		{11, "4Gi", "", ""},
		{8, "64Gi", "4Gi", "130Mi"},
		{8, "64Gi", "3Gi", ""},
		{8, "", "3Gi", ""},
	} {
		pod := &corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "mpi", Resources: *limited(c.container)}},
			InitContainers: []corev1.Container{{Name: InstallContainer}, {Name: ProbeContainer}, {Name: ShipContainer}},
			Resources:      limited(c.pod),
		}
		injectBuffers(pod, &pod.Containers[0], c.slots)
		mounted := 0
		for _, container := range append(pod.InitContainers, pod.Containers...) {
			mounted += len(container.VolumeMounts)
		}
		if c.size == "" {
			require.Empty(t, pod.Volumes, c)
			require.Zero(t, mounted, c)
			require.Empty(t, pod.InitContainers[0].Args)
			continue
		}
		require.Len(t, pod.Volumes, 1, c)
		require.Equal(t, corev1.StorageMediumMemory, pod.Volumes[0].EmptyDir.Medium)
		require.Equal(t, c.size, pod.Volumes[0].EmptyDir.SizeLimit.String(), c)
		require.Equal(t, 3, mounted, "the application, the sidecar and the installer")
	}
}
