package container

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// imageUser is the numeric USER of Cairn's image.
const imageUser = 65532

// Restricted is what the Pod Security level "restricted" asks of a container. It
// names no user: clusters such as OpenShift give each namespace its own.
func Restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		RunAsNonRoot:             ptr.To(true),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// RestrictedIn is Restricted for a container in a pod that others made. If that
// pod runs as root, the container must say that it does not.
func RestrictedIn(pod *corev1.PodSecurityContext) *corev1.SecurityContext {
	context := Restricted()
	if pod != nil && pod.RunAsUser != nil && *pod.RunAsUser == 0 {
		context.RunAsUser = ptr.To[int64](imageUser)
		context.RunAsGroup = ptr.To[int64](imageUser)
	}
	return context
}
