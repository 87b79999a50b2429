package inject

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/controllers/container"
)

// ourUser returns the user of Cairn's containers in a pod: one that none of the pod's own
// containers has, since processes of the same user may signal the sidecar and inspect it. It is nil
// where the cluster assigns a user to each namespace, except in a pod that runs as root: Cairn's
// containers never do.
func ourUser(pod *corev1.PodSpec, options Options) *int64 {
	if options.RunAsUser == nil {
		if pod.SecurityContext != nil && ptr.Deref(pod.SecurityContext.RunAsUser, -1) == 0 {
			return ptr.To(container.DefaultUser)
		}
		return nil
	}
	user := *options.RunAsUser
	for slices.Contains(usersOf(pod), user) {
		user++
	}
	return ptr.To(user)
}

// usersOf returns the users that a pod names.
func usersOf(pod *corev1.PodSpec) []int64 {
	var users []int64
	if pod.SecurityContext != nil && pod.SecurityContext.RunAsUser != nil {
		users = append(users, *pod.SecurityContext.RunAsUser)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil {
			users = append(users, *c.SecurityContext.RunAsUser)
		}
	}
	return users
}

// exposed returns an error for a pod with containers that see each other's processes and that have,
// or can take, the sidecar's user. Through /proc they could read its files, including the storage's
// key.
func exposed(pod *corev1.PodSpec, options Options, path *field.Path) field.ErrorList {
	switch {
	case ptr.Deref(pod.ShareProcessNamespace, false):
		path = path.Child("shareProcessNamespace")
	case pod.HostPID:
		path = path.Child("hostPID")
	default:
		return nil
	}
	ours := ourUser(pod, options)
	var errs field.ErrorList
	for _, c := range concurrentContainers(pod) {
		if why := howToTakeUser(pod, &c, ours); why != "" {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("container %s could read the storage's key from Cairn's sidecar: %s", c.Name, why)))
		}
	}
	return errs
}

// concurrentContainers returns the containers that run at the same time as the sidecar.
func concurrentContainers(pod *corev1.PodSpec) []corev1.Container {
	sidecars := slices.DeleteFunc(slices.Clone(pod.InitContainers), func(c corev1.Container) bool {
		return ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways
	})
	return slices.Concat(sidecars, pod.Containers)
}

// howToTakeUser returns why a container has the sidecar's user, or can take it. It
// is "" if neither.
func howToTakeUser(pod *corev1.PodSpec, c *corev1.Container, ours *int64) string {
	if ours == nil {
		return "both may have the user that the cluster assigns to the namespace; the operator's --run-as-user is unset"
	}
	var user *int64
	if pod.SecurityContext != nil {
		user = pod.SecurityContext.RunAsUser
	}
	if of := c.SecurityContext; of != nil {
		if of.RunAsUser != nil {
			user = of.RunAsUser
		}
		if ptr.Deref(of.Privileged, false) {
			return "it is privileged"
		}
	}
	switch {
	case user == nil:
		return "its user is that of its image, and may be root; set securityContext.runAsUser"
	case *user == 0:
		return "root may become any user; set securityContext.runAsUser"
	}
	return ""
}
