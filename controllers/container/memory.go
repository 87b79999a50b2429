package container

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// MemoryEnv makes the Go runtime stay below the container's memory limit: it collects garbage more
// often instead of being killed.
func MemoryEnv(resources corev1.ResourceRequirements) []corev1.EnvVar {
	limit, ok := resources.Limits[corev1.ResourceMemory]
	if !ok {
		return nil
	}
	return []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: strconv.FormatInt(limit.Value()/10*9, 10)}}
}
