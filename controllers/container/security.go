package container

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// DefaultUser is the numeric USER of Cairn's image. It is the user and group of Cairn's containers
// unless the installation sets another one.
const DefaultUser int64 = 65532

// Restricted returns the security context that the Pod Security level "restricted" requires. It
// sets no user: clusters such as OpenShift assign one to each namespace.
func Restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		RunAsNonRoot:             ptr.To(true),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// RestrictedAs returns Restricted with a user, and a group of the same number. nil leaves both to
// the cluster.
func RestrictedAs(user *int64) *corev1.SecurityContext {
	context := Restricted()
	if user != nil {
		context.RunAsUser, context.RunAsGroup = ptr.To(*user), ptr.To(*user)
	}
	return context
}
