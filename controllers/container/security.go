package container

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// DefaultUser is the numeric USER of Cairn's image, and the user and group of Cairn's containers if the installation
// says nothing else.
const DefaultUser int64 = 65532

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

// RestrictedAs is Restricted as a user, with a group of the same number; nil leaves both to the cluster.
func RestrictedAs(user *int64) *corev1.SecurityContext {
	context := Restricted()
	if user != nil {
		context.RunAsUser, context.RunAsGroup = ptr.To(*user), ptr.To(*user)
	}
	return context
}
