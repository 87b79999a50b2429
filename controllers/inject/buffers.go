package inject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// rankBytes is how much a rank puts there: record buffers that it uses again, and what is
	// observed of it (tracer/shim/spool/tmpfs.c).
	rankBytes = 8<<20 + 128<<10
	// limitParts: all these files of a pod have at most this part of a memory limit. Ranks have the
	// same rule.
	limitParts = 50
	// roomFactor: ranks leave half of a tmpfs free.
	roomFactor = 2
)

// injectBuffers adds a tmpfs for what the ranks have mapped all the time, unless that takes much of
// the memory that the ranks' container may have: pages of a tmpfs are charged to the container that
// writes them, and cannot be reclaimed. The kubelet evicts a pod that exceeds the size, but the
// tmpfs cannot grow beyond it, and ranks use half of it at most.
func injectBuffers(pod *corev1.PodSpec, target *corev1.Container, slots int32) {
	bytes := int64(max(slots, 1)) * rankBytes
	if bytes > memoryLimit(pod, target)/limitParts {
		return
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: buffersVolume,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: resource.NewQuantity(roomFactor*bytes, resource.BinarySI),
		}},
	})
	mount := corev1.VolumeMount{Name: buffersVolume, MountPath: buffersPath}
	target.VolumeMounts = append(target.VolumeMounts, mount)
	for i := range pod.InitContainers {
		c := &pod.InitContainers[i]
		switch c.Name {
		case InstallContainer:
			c.Args = append(c.Args, "--buffers", buffersPath)
		case ShipContainer:
		default:
			continue
		}
		c.VolumeMounts = append(slices.Clip(c.VolumeMounts), mount)
	}
}

// memoryLimit returns the lower one of the limits of a container and its pod.
func memoryLimit(pod *corev1.PodSpec, target *corev1.Container) int64 {
	limit := int64(1) << 62 // none: the shim looks for that of the namespace
	for _, resources := range []*corev1.ResourceRequirements{&target.Resources, pod.Resources} {
		if resources == nil {
			continue
		}
		if q, ok := resources.Limits[corev1.ResourceMemory]; ok {
			limit = min(limit, q.Value())
		}
	}
	return limit
}
