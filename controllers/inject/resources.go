package inject

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// All values are explicit, because otherwise a LimitRange or a ResourceQuota of the namespace would
// set them.
func shortResources(pod *corev1.PodSpec) corev1.ResourceRequirements {
	return completed(pod, corev1.ResourceRequirements{}, defaults{
		cpu: "50m", cpuLimit: "500m", guaranteedCPU: "250m", memory: "64Mi", memoryLimit: "128Mi",
	})
}

// shipResources returns the resources of the sidecar of a pod with this many slots. Its request
// adds to the pod's as long as the pod exists, so it is close to the sidecar's real use. It has no
// limit of CPU unless the pod is Guaranteed: it compresses what the ranks record. Its recorders
// need 2 MiB a slot, and take at most 32 MiB a slot and 256 MiB together (decision 0108). What is
// left is enough for the names of call sites in 40 MiB of debug information (decision 0109).
func shipResources(pod *corev1.PodSpec, slots int32, options Options) corev1.ResourceRequirements {
	n := max(slots, 1)
	resources := completed(pod, options.Resources, defaults{
		cpu: fmt.Sprintf("%dm", 10+5*n), guaranteedCPU: "250m",
		memory: fmt.Sprintf("%dMi", 64+2*n), memoryLimit: fmt.Sprintf("%dMi", 256+min(32*n, 256)),
	})
	if resources.Limits != nil && limitsEphemeralStorage(pod) {
		// The spool counts towards the sum of the containers' limits.
		limit := options.SpoolSizeLimit.DeepCopy()
		limit.Add(toolsSize)
		setIfMissing(resources.Limits, corev1.ResourceEphemeralStorage, limit)
		setIfMissing(resources.Requests, corev1.ResourceEphemeralStorage, toolsSize)
	}
	return resources
}

// defaults of a container. In a Guaranteed pod, guaranteedCPU is both request and limit. Without a
// cpuLimit there is none otherwise.
type defaults struct {
	cpu, cpuLimit, guaranteedCPU string
	memory, memoryLimit          string
}

// completed returns asked with defaults for missing values. In a Guaranteed pod requests equal
// limits: one container without them would cost the ranks their pinned CPUs. The CPU is a fraction
// there, so that Cairn's containers use none of the pinned ones. In a pod with pod-level resources,
// containers share those.
func completed(pod *corev1.PodSpec, asked corev1.ResourceRequirements, by defaults) corev1.ResourceRequirements {
	resources := *asked.DeepCopy()
	if pod.Resources != nil {
		return resources
	}
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	if resources.Limits == nil {
		resources.Limits = corev1.ResourceList{}
	}
	if guaranteed(pod) {
		for name, request := range resources.Requests {
			setIfMissing(resources.Limits, name, request)
		}
		setIfMissing(resources.Limits, corev1.ResourceCPU, resource.MustParse(by.guaranteedCPU))
		setIfMissing(resources.Limits, corev1.ResourceMemory, resource.MustParse(by.memoryLimit))
		for name, limit := range resources.Limits {
			resources.Requests[name] = limit
		}
		return resources
	}
	complete := func(name corev1.ResourceName, request, limit resource.Quantity) {
		if asked, ok := resources.Requests[name]; ok && asked.Cmp(limit) > 0 {
			limit = asked
		}
		setIfMissing(resources.Limits, name, limit)
		if limit = resources.Limits[name]; request.Cmp(limit) > 0 {
			request = limit
		}
		setIfMissing(resources.Requests, name, request)
	}
	if by.cpuLimit != "" {
		complete(corev1.ResourceCPU, resource.MustParse(by.cpu), resource.MustParse(by.cpuLimit))
	} else {
		request := resource.MustParse(by.cpu)
		if limit, ok := resources.Limits[corev1.ResourceCPU]; ok && request.Cmp(limit) > 0 {
			request = limit
		}
		setIfMissing(resources.Requests, corev1.ResourceCPU, request)
	}
	complete(corev1.ResourceMemory, resource.MustParse(by.memory), resource.MustParse(by.memoryLimit))
	return resources
}

// guaranteed reports whether the user's containers give the pod the QoS class Guaranteed.
func guaranteed(pod *corev1.PodSpec) bool {
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if slices.Contains(ourContainers, c.Name) {
			continue
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, ok := c.Resources.Limits[name]
			if !ok {
				return false
			}
			if request, ok := c.Resources.Requests[name]; ok && request.Cmp(limit) != 0 {
				return false
			}
		}
	}
	return true
}

func limitsEphemeralStorage(pod *corev1.PodSpec) bool {
	return slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		_, ok := c.Resources.Limits[corev1.ResourceEphemeralStorage]
		return ok
	})
}

func setIfMissing(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if _, ok := list[name]; !ok {
		list[name] = quantity
	}
}
